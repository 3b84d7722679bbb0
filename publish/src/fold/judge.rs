//! What is wrong with one job.

use super::FoldOptions;
use super::filing::Filed;
use crate::collect::{Job, Process};
use kernrec_schemas::RowBackend;
use kernrec_schemas::jobs::ListedJob;
use kernrec_schemas::recording::ProcessState;
use kernrec_schemas::table::RowReason;
use kernrec_store::bundle::{OriginLayout, Part};
use std::collections::BTreeSet;

impl Filed<'_> {
    /// Whether the job passed: the jobs list's word if it has one, else the exit status.
    ///
    /// The step/job layout has no status of its own: unless the sidecar has one, the job counts as passed there,
    /// and as one without provenance.
    pub(super) fn passed(&self) -> bool {
        let listed = self.listed.and_then(ListedJob::passed);
        let status = self.job.sidecar().and_then(|sidecar| sidecar.exit_status);
        listed
            .or(status.map(|status| status == 0))
            .unwrap_or(self.job.layout == OriginLayout::StepJob)
    }

    /// Reasons that hold whichever attempt decides.
    pub(crate) fn lasting_faults(&self, options: &FoldOptions) -> BTreeSet<RowReason> {
        let job = self.job;
        let without_map = |variants: &BTreeSet<_>| !variants.contains(&job.variant());
        let mut reasons = job.flaws.clone();
        if self.contradicted {
            reasons.insert(RowReason::BadSidecar);
        }
        if self.is_foreign(options) {
            reasons.insert(RowReason::ForeignCommit);
        }
        if self.is_listed_elsewhere() {
            reasons.insert(RowReason::BadSidecar);
        }
        if options.map_variants.as_ref().is_some_and(without_map) {
            reasons.insert(RowReason::VariantWithoutMap);
        }
        if job.backend == RowBackend::Unknown {
            reasons.insert(RowReason::BackendUnknown);
        }
        reasons
    }

    /// Whether the jobs list gives it to another step than the sidecar: one of them is wrong.
    fn is_listed_elsewhere(&self) -> bool {
        let listed = self.listed.and_then(|listed| listed.step_key.as_ref());
        matches!((&self.job.step, listed), (Some(step), Some(listed)) if step != listed)
    }

    /// Whether its sidecar names another commit.
    pub(super) fn is_foreign(&self, options: &FoldOptions) -> bool {
        self.job
            .commit()
            .is_some_and(|commit| *commit != options.commit)
    }
}

/// Reasons that hold if this job decides for its shard, each with the process to blame where there is one.
pub(crate) fn faults<'a>(filed: &Filed<'a>) -> Vec<ProcessFault<'a>> {
    let job = filed.job;
    let mut faults = Vec::new();
    let mut of_job = |holds: bool, reason| {
        if holds {
            faults.push(ProcessFault {
                reason,
                process: None,
            });
        }
    };
    let sidecar = job.sidecar();
    let idle = |process: &Process| process.state == ProcessState::Idle;
    let status_known = sidecar.is_some_and(|sidecar| sidecar.exit_status.is_some())
        || filed.listed.is_some_and(|listed| listed.state.is_some());
    of_job(!filed.passed(), RowReason::NotPassed);
    of_job(job.processes.is_empty(), RowReason::NoRecording);
    of_job(
        sidecar
            .is_some_and(|s| s.collection_available == Some(false) || s.collection_error.is_some()),
        RowReason::CollectionUnavailable,
    );
    of_job(
        !job.processes.is_empty() && job.processes.iter().all(idle),
        RowReason::IdleOnly,
    );
    of_job(
        sidecar.is_some_and(|sidecar| sidecar.unrecorded_processes > 0),
        RowReason::UnrecordedProcesses,
    );
    of_job(
        !status_known || job.commit().is_none(),
        RowReason::NoProvenance,
    );
    if job.part == Part::Python {
        let of_processes: BTreeSet<_> = job
            .processes
            .iter()
            .filter_map(|p| state_of(job, p))
            .collect();
        for reason in job.facts.faults().difference(&of_processes) {
            of_job(true, reason.clone());
        }
    }
    for process in &job.processes {
        let mut of_process = |reason| {
            faults.push(ProcessFault {
                reason,
                process: Some(process),
            });
        };
        let state = state_of(job, process);
        if process.dropped > 0 && state != Some(RowReason::Dropped) {
            of_process(RowReason::Dropped);
        }
        state.into_iter().for_each(of_process);
    }
    faults
}

/// The reason that the state of a process gives its row.
fn state_of(job: &Job, process: &Process) -> Option<RowReason> {
    match job.part {
        Part::Kernels => RowReason::of_process(process.state),
        Part::Python => RowReason::of_python_process(process.state),
    }
}

/// One reason a job gives its row.
pub(crate) struct ProcessFault<'a> {
    pub(crate) reason: RowReason,
    /// The process to blame; `None` for the job as a whole.
    pub(crate) process: Option<&'a Process>,
}
