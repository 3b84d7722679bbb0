//! One step's row.

use super::attempts;
use super::filing::Filed;
use super::judge::faults;
use super::{Filing, FoldOptions};
use crate::collect::Collected;
use kernrec_schemas::recording::ProcessCounts;
use kernrec_schemas::table::{Row, RowReason, Shards};
use kernrec_schemas::{Backend, RowBackend, StepKey, Variant};
use std::collections::BTreeSet;

/// The jobs that speak for the step, see [`attempts`].
pub(crate) fn deciding<'a>(jobs: &[Filed<'a>], options: &FoldOptions) -> Vec<Filed<'a>> {
    attempts::deciding(jobs, options)
}

/// Folds the jobs of one step.
pub(super) fn row(
    collected: &Collected,
    filing: &Filing<'_>,
    step: &StepKey,
    jobs: &[Filed<'_>],
    options: &FoldOptions,
) -> Row {
    let deciding = deciding(jobs, options);
    let shards = shards(jobs);
    let complete = is_complete(jobs, shards);
    let reasons = reasons(filing, step, jobs, &deciding, options);
    let mut health = ProcessCounts::default();
    let mut dropped: u64 = 0;
    for process in deciding.iter().flat_map(|filed| &filed.job.processes) {
        health.add(process.state);
        dropped = dropped.saturating_add(process.dropped);
    }
    Row {
        jobs: jobs.len() as u64,
        passed: !reasons.contains(&RowReason::NotPassed),
        complete,
        processes: jobs
            .iter()
            .map(|filed| filed.job.processes.len() as u64)
            .sum(),
        dropped,
        shards,
        kernels: names(collected.names().len(), jobs),
        backend: backend(jobs, options.backend),
        trace_complete: is_trace_complete(&reasons),
        recording_available: jobs.iter().all(left_a_recording),
        health: Some(health),
        reasons,
        variants: variants(jobs),
    }
}

/// Why the row is not usable, by its jobs.
pub(super) fn reasons(
    filing: &Filing<'_>,
    step: &StepKey,
    jobs: &[Filed<'_>],
    deciding: &[Filed<'_>],
    options: &FoldOptions,
) -> BTreeSet<RowReason> {
    let mut reasons: BTreeSet<RowReason> = jobs
        .iter()
        .flat_map(|filed| filed.lasting_faults(options))
        .collect();
    reasons.extend(deciding.iter().flat_map(faults).map(|fault| fault.reason));
    if !filing.missing(step).is_empty() {
        reasons.insert(RowReason::JobMissing);
    }
    if !is_complete(jobs, shards(jobs)) {
        reasons.insert(RowReason::ShardsIncomplete);
    }
    reasons
}

/// Readers that know no reasons decide by `passed`, `complete`, `dropped`, `backend` and this: every reason
/// that the first two do not show must show here.
fn is_trace_complete(reasons: &BTreeSet<RowReason>) -> bool {
    reasons
        .iter()
        .all(|reason| matches!(reason, RowReason::NotPassed | RowReason::ShardsIncomplete))
}

pub(super) fn shards(jobs: &[Filed<'_>]) -> Shards {
    Shards {
        expected: jobs
            .iter()
            .filter_map(|filed| filed.job.sidecar()?.shard_count)
            .max(),
        seen: seen(jobs).len() as u64,
    }
}

fn seen(jobs: &[Filed<'_>]) -> BTreeSet<u64> {
    jobs.iter()
        .filter_map(|filed| filed.job.sidecar()?.shard)
        .collect()
}

/// Every declared shard was seen, and none beyond. An index without a count leaves the number open, and so do
/// jobs that count differently: 1 of 1 and 2 of 2 are not both shards of two.
pub(super) fn is_complete(jobs: &[Filed<'_>], shards: Shards) -> bool {
    let mut counts = jobs
        .iter()
        .filter_map(|filed| filed.job.sidecar()?.shard_count);
    if counts.any(|count| Some(count) != shards.expected) {
        return false;
    }
    let last = seen(jobs).last().copied();
    match (shards.expected, last) {
        (None, None) => true,
        (Some(expected), Some(last)) => shards.seen == expected && last < expected,
        (Some(expected), None) => expected == 0,
        (None, Some(_)) => false,
    }
}

fn backend(jobs: &[Filed<'_>], backend: Backend) -> RowBackend {
    let known = RowBackend::Known(backend);
    if jobs.iter().all(|filed| filed.job.backend == known) {
        known
    } else {
        RowBackend::Unknown
    }
}

fn left_a_recording(filed: &Filed<'_>) -> bool {
    let unavailable = filed
        .job
        .sidecar()
        .is_some_and(|sidecar| sidecar.collection_available == Some(false));
    !filed.job.processes.is_empty() && !unavailable
}

fn variants(jobs: &[Filed<'_>]) -> BTreeSet<Variant> {
    jobs.iter()
        .map(|filed| filed.job.variant())
        .filter(|variant| !variant.is_default())
        .collect()
}

/// What any process of any job launched or entered, superseded attempts included. One bit per name: the recordings of
/// a step repeat the same names.
pub(super) fn names(total: usize, jobs: &[Filed<'_>]) -> Vec<u32> {
    let mut launched = vec![0_u64; total.div_ceil(64)];
    for kernel in jobs
        .iter()
        .flat_map(|filed| &filed.job.processes)
        .flat_map(|process| &process.names)
    {
        launched[*kernel as usize / 64] |= 1 << (kernel % 64);
    }
    let mut kernels = Vec::new();
    for (word, start) in launched.into_iter().zip((0_u32..).step_by(64)) {
        let mut rest = word;
        while rest != 0 {
            kernels.push(start + rest.trailing_zeros());
            rest &= rest - 1;
        }
    }
    kernels
}
