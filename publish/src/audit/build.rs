//! From rows and jobs to blame.

use super::report::{Audit, Blame, RuleCost};
use crate::collect::{Collected, Process, SidecarState};
use crate::fold::{Filed, Filing, FoldOptions, deciding, faults, fold, fold_functions};
use kernrec_schemas::StepKey;
use kernrec_schemas::function_table::FunctionTable;
use kernrec_schemas::recording::ProcessCounts;
use kernrec_schemas::table::{KernelTable, RowReason};
use std::collections::{BTreeMap, BTreeSet};

/// Audits recordings, down to the process.
pub fn audit(collected: &Collected, options: &FoldOptions) -> Audit {
    let rows = Rows::folded(collected, options);
    let filing = Filing::new(collected, options);
    let mut blame = Vec::new();
    for (step, jobs) in filing.of_backend(options) {
        let first = blame.len();
        for filed in deciding(&jobs, options) {
            blame.extend(faults(&filed).into_iter().map(|fault| {
                let detail = fault.process.is_none().then(|| told(&filed, &fault.reason));
                of_job(step, &filed, fault.reason, fault.process, detail.flatten())
            }));
        }
        for filed in &jobs {
            blame.extend(filed.lasting_faults(options).into_iter().map(|reason| {
                let detail = told(filed, &reason);
                of_job(step, filed, reason, None, detail)
            }));
        }
        for job in filing.missing(step) {
            blame.push(Blame {
                job: Some(job.clone()),
                ..of_step(step, RowReason::JobMissing)
            });
        }
        // What is wrong with all of them together: shards that are missing, nothing that was entered.
        let told: BTreeSet<RowReason> = blame[first..]
            .iter()
            .map(|one| one.reason.clone())
            .collect();
        let reasons = rows.reasons.get(step).into_iter().flatten();
        let untold = reasons.filter(|reason| !told.contains(reason));
        blame.extend(untold.map(|reason| of_step(step, reason.clone())));
    }
    blame.sort();
    blame.dedup();
    Audit {
        blame,
        ..costs(&rows)
    }
}

/// Audits a table alone: which rules cost which steps.
pub fn audit_table(table: &KernelTable) -> Audit {
    audit_rows(&Rows::of_kernels(table))
}

/// The same of a function table.
pub fn audit_function_table(table: &FunctionTable) -> Audit {
    audit_rows(&Rows::of_functions(table))
}

fn audit_rows(rows: &Rows) -> Audit {
    let blame = rows.reasons.iter().flat_map(|(step, reasons)| {
        let reasons = reasons.iter().cloned();
        reasons.map(move |reason| of_step(step, reason))
    });
    Audit {
        blame: blame.collect(),
        ..costs(rows)
    }
}

/// What an audit looks at in the rows of either kind of table.
#[derive(Default)]
struct Rows {
    /// Why each row is not usable; nothing for a usable one.
    reasons: BTreeMap<StepKey, BTreeSet<RowReason>>,
    processes: ProcessCounts,
}

impl Rows {
    fn folded(collected: &Collected, options: &FoldOptions) -> Self {
        if options.backend.has_kernels() {
            Self::of_kernels(&fold(collected, options))
        } else {
            Self::of_functions(&fold_functions(collected, options))
        }
    }

    fn of_kernels(table: &KernelTable) -> Self {
        let mut rows = Self::default();
        for (step, row) in &table.rows {
            rows.add(step, row.unusable_reasons(), row.health.as_ref());
        }
        rows
    }

    fn of_functions(table: &FunctionTable) -> Self {
        let mut rows = Self::default();
        for (step, row) in &table.rows {
            rows.add(step, row.unusable_reasons(), Some(&row.health));
        }
        rows
    }

    fn add(
        &mut self,
        step: &StepKey,
        reasons: BTreeSet<RowReason>,
        health: Option<&ProcessCounts>,
    ) {
        self.reasons.insert(step.clone(), reasons);
        if let Some(health) = health {
            self.processes.merge(health);
        }
    }
}

fn costs(rows: &Rows) -> Audit {
    let mut costs: BTreeMap<RowReason, (u64, u64)> = BTreeMap::new();
    for reasons in rows.reasons.values() {
        let alone = u64::from(reasons.len() == 1);
        for reason in reasons {
            let cost = costs.entry(reason.clone()).or_default();
            cost.0 += 1;
            cost.1 += alone;
        }
    }
    let mut rules: Vec<RuleCost> = costs
        .into_iter()
        .map(|(reason, (rows, alone))| RuleCost {
            reason,
            rows,
            alone,
        })
        .collect();
    rules.sort_by(|a, b| (b.rows, b.alone, &a.reason).cmp(&(a.rows, a.alone, &b.reason)));
    Audit {
        rows: rows.reasons.len() as u64,
        usable_rows: rows.reasons.values().filter(|r| r.is_empty()).count() as u64,
        processes: rows.processes.clone(),
        rules,
        blame: Vec::new(),
    }
}

fn of_step(step: &StepKey, reason: RowReason) -> Blame {
    Blame {
        step: step.clone(),
        reason,
        job: None,
        file: None,
        pid: None,
        exe: None,
        detail: None,
    }
}

fn of_job(
    step: &StepKey,
    filed: &Filed<'_>,
    reason: RowReason,
    process: Option<&Process>,
    detail: Option<String>,
) -> Blame {
    let own = |process: &Process| process.detail.as_deref().map(str::to_owned);
    Blame {
        job: Some(filed.job.id.clone()),
        file: process.map(|process| process.file.clone()),
        pid: process.and_then(|process| process.pid),
        exe: process.and_then(|process| process.exe.as_deref().map(str::to_owned)),
        detail: process.map_or(detail, own),
        ..of_step(step, reason)
    }
}

/// What the sidecar says about a fault of the job as a whole.
fn told(filed: &Filed<'_>, reason: &RowReason) -> Option<String> {
    let sidecar = match &filed.job.sidecar {
        SidecarState::Read(sidecar) => sidecar,
        SidecarState::Bad { problem } => {
            return (*reason == RowReason::BadSidecar).then(|| problem.clone());
        }
        SidecarState::Missing => {
            return (*reason == RowReason::NoProvenance).then(|| "no sidecar".to_owned());
        }
    };
    match reason {
        RowReason::NotPassed => {
            let state = filed.listed.and_then(|listed| listed.state.as_ref());
            state.map(|state| format!("state {state}")).or_else(|| {
                sidecar
                    .exit_status
                    .map(|status| format!("exit status {status}"))
            })
        }
        RowReason::CollectionUnavailable => sidecar.collection_error.clone(),
        RowReason::UnrecordedProcesses => Some(sidecar.unrecorded_processes.to_string()),
        RowReason::BadSidecar if filed.contradicted => {
            let listed = filed.listed.and_then(|listed| listed.step_key.as_ref());
            listed.map(|step| format!("the jobs list says step `{step}`"))
        }
        RowReason::BadSidecar if !sidecar.faults.is_empty() => Some(sidecar.faults.join("; ")),
        RowReason::ForeignCommit => sidecar.commit.as_ref().map(ToString::to_string),
        RowReason::VariantWithoutMap => Some(format!("variant `{}`", sidecar.variant)),
        _ => None,
    }
}
