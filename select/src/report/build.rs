//! Evidence and decision become a report.

use super::functions::record_report;
use super::{
    AttributionReport, Counts, EnteredReport, FileReport, FileSeen, FunctionsSeen, KeptStep,
    LaunchReport, LimitProblem, MAX_EXAMPLES, RecordReport, RecordState, Report, SelectedStep,
    SkippedStep, StepCount, StepFileReport, VerdictReport,
};
use crate::change::Change;
use crate::decision::{Decision, Fate, Policy, Reason, StepDecision, Verdict, record_limits};
use crate::evidence::{FileEvidence, PairEvidence};
use crate::functions::FunctionEvidence;
use crate::lineage::Lineage;
use crate::note::{Note, NoteReason};
use crate::pair::{Pair, Unavailable};
use crate::select::Answer;
use crate::steps::Plan;
use kernrec_schemas::shown::printable;
use kernrec_schemas::{KernelName, StepKey};
use std::collections::BTreeSet;

impl Report {
    /// Writes down what was seen and decided.
    pub(crate) fn new(answer: &Answer<'_>) -> Self {
        let Answer {
            pairs,
            functions,
            unavailable,
            decision,
            plan,
            question,
        } = *answer;
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
        let (step_file, notes) = plan
            .map(|plan| step_file(plan, pairs, functions))
            .map_or_else(Default::default, |(report, notes)| (Some(report), notes));
        Self {
            schema: Self::SCHEMA.to_owned(),
            assumes: question.assumes(),
            change: question.change.range().cloned(),
            decided_at: question.policy.now,
            max_age_seconds: question.policy.max_age.as_secs(),
            stopped: None,
            everything_must_run: skipped.is_empty(),
            counts: Counts {
                files: question.change.files().count() as u64,
                steps: decision.steps.len() as u64,
                selected: selected.len() as u64,
                kept: kept.len() as u64,
                skipped: skipped.len() as u64,
            },
            notes,
            step_file,
            records: record_reports(pairs, functions, unavailable, &question.policy),
            files: file_reports(pairs, functions, question.change),
            selected,
            kept,
            skipped,
        }
    }
}

fn step_file(
    plan: &Plan<'_>,
    pairs: &[PairEvidence<'_>],
    functions: Option<&FunctionEvidence<'_>>,
) -> (StepFileReport, Vec<Note>) {
    let mut notes = plan.notes.clone();
    let rows = pairs.iter().flat_map(|pair| pair.index.rows());
    let rows = rows.map(|row| row.step);
    let of_functions = functions.into_iter().flat_map(|it| it.index.rows());
    let strangers: BTreeSet<&StepKey> = rows
        .chain(of_functions.map(|row| row.step))
        .filter(|step| !plan.steps.contains_key(*step))
        .collect();
    for step in &strangers {
        let message = format!(
            "{}: no step of the step file has this key",
            printable(step.as_str())
        );
        notes.add(NoteReason::RowsWithoutStep, message);
    }
    let keyed: usize = plan.steps.values().map(|step| step.numbers.len()).sum();
    let report = StepFileReport {
        steps: (keyed + plan.unkeyed.len()) as u64,
        without_key: plan
            .unkeyed
            .iter()
            .map(|(_, name)| (*name).to_owned())
            .collect(),
        rows_without_step: strangers.len() as u64,
    };
    (report, notes.list())
}

fn record_reports(
    pairs: &[PairEvidence<'_>],
    functions: Option<&FunctionEvidence<'_>>,
    unavailable: &[Unavailable],
    policy: &Policy,
) -> Vec<RecordReport> {
    let functions = functions.map(|evidence| record_report(evidence, policy));
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
    let mut reports: Vec<RecordReport> = ready.chain(functions).chain(gone).collect();
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
        problems: limit_problems(pair),
    }
}

fn limit_problems(pair: &Pair) -> Vec<LimitProblem> {
    let lineage = match &pair.lineage {
        Lineage::Broken { reason, problem } => Some((reason.clone(), problem.clone())),
        Lineage::Unchecked | Lineage::Ancestor(_) => None,
    };
    let unverified = (pair.unverified.as_ref())
        .map(|problem| (Reason::RecordUnverified.word().to_owned(), problem.clone()));
    let problems = lineage.into_iter().chain(unverified);
    problems
        .map(|(reason, problem)| LimitProblem { reason, problem })
        .collect()
}

fn file_reports(
    pairs: &[PairEvidence<'_>],
    functions: Option<&FunctionEvidence<'_>>,
    change: &Change,
) -> Vec<FileReport> {
    let mut reports: Vec<FileReport> = change
        .files()
        .map(|file| FileReport {
            path: file.path.to_string(),
            status: file.status,
            seen: Vec::with_capacity(pairs.len()),
            functions: None,
        })
        .collect();
    for pair in pairs {
        // `PairEvidence::gather` keeps the order of the change's files.
        for (report, file) in reports.iter_mut().zip(&pair.files) {
            report.seen.push(file_seen(pair, file));
        }
    }
    if let Some(evidence) = functions {
        for (report, file) in reports.iter_mut().zip(&evidence.files) {
            report.functions = file.as_ref().map(|file| FunctionsSeen::of(evidence, file));
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
        moved: file.moved,
        objects: file.objects as u64,
        attribution: file.attribution.as_ref().map(AttributionReport::of),
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
        entered: EnteredReport::of(said, decision.functions),
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
        .filter(|verdict| {
            matches!(
                verdict.reason,
                Reason::RowLaunchedNoneOfItsKernels | Reason::RowEnteredNoneOfItsFunctions
            )
        })
        .map(|verdict| verdict.backend);
    SkippedStep {
        step: step.clone(),
        reason: said.reason,
        backends: backends.collect(),
    }
}

pub(super) fn first(texts: &[&str]) -> Vec<String> {
    texts
        .iter()
        .take(MAX_EXAMPLES)
        .map(|&text| text.to_owned())
        .collect()
}
