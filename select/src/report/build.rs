//! Evidence and decision become a report.

use super::{
    Counts, FileReport, FileSeen, KeptStep, LaunchReport, MAX_EXAMPLES, RecordReport, RecordState,
    Report, SelectedStep, SkippedStep, StepCount, VerdictReport,
};
use crate::change::Change;
use crate::decision::{Decision, Fate, Policy, Reason, StepDecision, Verdict, record_limits};
use crate::evidence::{FileEvidence, PairEvidence};
use crate::pair::Unavailable;
use kernrec_schemas::{KernelName, StepKey};

impl Report {
    /// Writes down what was seen and decided.
    pub(crate) fn new(
        pairs: &[PairEvidence<'_>],
        unavailable: &[Unavailable],
        decision: &Decision<'_>,
        change: &Change,
        policy: &Policy,
    ) -> Self {
        let selected: Vec<_> = decision
            .of(Fate::Selected)
            .map(|(step, said)| selected_step(decision, step, said))
            .collect();
        let kept: Vec<_> = decision
            .of(Fate::Kept)
            .map(|(step, said)| kept_step(step, said))
            .collect();
        let skipped: Vec<_> = decision
            .of(Fate::Skipped)
            .map(|(step, said)| skipped_step(step, said))
            .collect();
        Self {
            schema: Self::SCHEMA.to_owned(),
            assumes: change.assumes(),
            decided_at: policy.now,
            max_age_seconds: policy.max_age.as_secs(),
            everything_must_run: skipped.is_empty(),
            counts: Counts {
                files: change.files().count() as u64,
                steps: decision.steps.len() as u64,
                selected: selected.len() as u64,
                kept: kept.len() as u64,
                skipped: skipped.len() as u64,
            },
            records: record_reports(pairs, unavailable, policy),
            files: file_reports(pairs, change),
            selected,
            kept,
            skipped,
        }
    }
}

fn record_reports(
    pairs: &[PairEvidence<'_>],
    unavailable: &[Unavailable],
    policy: &Policy,
) -> Vec<RecordReport> {
    let ready = pairs.iter().map(|evidence| RecordReport {
        backend: evidence.index.backend(),
        state: ready_state(evidence, policy),
    });
    let gone = unavailable.iter().map(|gone| RecordReport {
        backend: gone.backend,
        state: RecordState::Unavailable {
            reason: gone.reason.clone(),
            problem: gone.problem.clone(),
        },
    });
    let mut reports: Vec<RecordReport> = ready.chain(gone).collect();
    reports.sort_by_key(|record| record.backend);
    reports
}

fn ready_state(evidence: &PairEvidence<'_>, policy: &Policy) -> RecordState {
    let pair = evidence.index.pair();
    let source = &pair.table.source;
    let usable = evidence
        .index
        .rows()
        .iter()
        .filter(|row| row.is_usable())
        .count();
    RecordState::Ready {
        pipeline: source.pipeline.clone(),
        build: source.build,
        commit: source.commit.clone(),
        published_at: pair.published_at,
        age_seconds: policy.freshness(pair.published_at).age_seconds(),
        rows: pair.table.rows.len() as u64,
        usable_rows: usable as u64,
        faults: pair
            .table
            .faults
            .iter()
            .map(|fault| format!("{}: {}", fault.key, fault.problem))
            .collect(),
        limits: record_limits(evidence, policy),
    }
}

fn file_reports(pairs: &[PairEvidence<'_>], change: &Change) -> Vec<FileReport> {
    let mut reports: Vec<FileReport> = change
        .files()
        .map(|file| FileReport {
            path: file.path.to_string(),
            seen: Vec::with_capacity(pairs.len()),
        })
        .collect();
    for pair in pairs {
        // `PairEvidence::gather` keeps the order of the change's files.
        for (report, file) in reports.iter_mut().zip(&pair.files) {
            report.seen.push(file_seen(pair, file));
        }
    }
    reports
}

fn file_seen(pair: &PairEvidence<'_>, file: &FileEvidence<'_>) -> FileSeen {
    let steps = file.launches().filter_map(|(row, kernels)| {
        let row = pair.index.rows().get(row as usize)?;
        Some(StepCount {
            step: row.step.clone(),
            kernels: kernels.len() as u64,
        })
    });
    FileSeen {
        backend: pair.index.backend(),
        class: file.class,
        causes: file.causes.iter().copied().collect(),
        objects: file.objects as u64,
        kernels: file.kernels.len() as u64,
        launched_kernels: file.launched_kernels as u64,
        steps: steps.collect(),
    }
}

fn selected_step(decision: &Decision<'_>, step: &StepKey, said: &StepDecision<'_>) -> SelectedStep {
    let launched = said
        .verdicts
        .iter()
        .filter(|verdict| verdict.reason == Reason::RowLaunchedAKernelFromAChangedFile)
        .map(|verdict| launch_report(decision, verdict));
    SelectedStep {
        step: step.clone(),
        reason: said.reason,
        launched: launched.collect(),
    }
}

fn launch_report(decision: &Decision<'_>, verdict: &Verdict<'_>) -> LaunchReport {
    let mut names: Vec<&KernelName> = decision
        .index(verdict.backend)
        .into_iter()
        .flat_map(|index| verdict.kernels.iter().map(|&kernel| index.name(kernel)))
        .collect();
    // Symbols are numbered as the map lists them; only their names give an order that every map shares.
    let kernel_count = names.len() as u64;
    if names.len() > MAX_EXAMPLES {
        names.select_nth_unstable(MAX_EXAMPLES);
        names.truncate(MAX_EXAMPLES);
    }
    names.sort_unstable();
    LaunchReport {
        backend: verdict.backend,
        file_count: verdict.files.len() as u64,
        files: first(&verdict.files),
        kernel_count,
        kernels: names.into_iter().cloned().collect(),
    }
}

fn kept_step(step: &StepKey, said: &StepDecision<'_>) -> KeptStep {
    let verdicts = said.verdicts.iter().map(|verdict| VerdictReport {
        backend: verdict.backend,
        reason: verdict.reason,
        file_count: verdict.files.len() as u64,
        files: first(&verdict.files),
        row_reasons: verdict.doubts.iter().cloned().collect(),
    });
    KeptStep {
        step: step.clone(),
        reason: said.reason,
        verdicts: verdicts.collect(),
    }
}

fn skipped_step(step: &StepKey, said: &StepDecision<'_>) -> SkippedStep {
    let backends = said
        .verdicts
        .iter()
        .filter(|verdict| verdict.reason == Reason::RowLaunchedNoneOfItsKernels)
        .map(|verdict| verdict.backend);
    SkippedStep {
        step: step.clone(),
        reason: said.reason,
        backends: backends.collect(),
    }
}

fn first(texts: &[&str]) -> Vec<String> {
    texts
        .iter()
        .take(MAX_EXAMPLES)
        .map(|&text| text.to_owned())
        .collect()
}
