//! The same job met in several places.
//!
//! Identical content counts once. Different content is united, so that no name is lost, and flawed, since
//! nobody knows which is the truth. A job that two steps claim counts, flawed, for each.

use super::content::Parsed;
use super::job::{Job, Origin};
use kernrec_schemas::table::RowReason;
use kernrec_schemas::{JobId, RowBackend, StepKey};
use std::collections::{BTreeMap, BTreeSet};

/// Sorts the jobs and unites those with one id.
pub(crate) fn unite(parsed: Vec<Parsed>) -> Vec<Job> {
    let mut groups: BTreeMap<(JobId, Option<StepKey>), Vec<Parsed>> = BTreeMap::new();
    for one in parsed {
        // Outside CI every job has the same id, which then tells jobs apart only within a step.
        let local = one.job.id.is_local();
        let step = one.steps.first().filter(|_| local).cloned();
        groups
            .entry((one.job.id.clone(), step))
            .or_default()
            .push(one);
    }
    let mut jobs: Vec<Job> = groups.into_values().flat_map(one_job).collect();
    jobs.sort_by(|a, b| (&a.id, &a.step).cmp(&(&b.id, &b.step)));
    jobs
}

/// The one job a group is, once per step that claims it.
fn one_job(mut group: Vec<Parsed>) -> Vec<Job> {
    // The order of the inputs must leave no trace, so the group gets one of its own.
    group.sort_by_cached_key(sort_key);
    let mut steps = BTreeSet::new();
    let mut seen = Vec::new();
    let mut whole: Option<Job> = None;
    for one in group {
        let met = (one.content(), one.steps);
        steps.extend(met.1.iter().cloned());
        match &mut whole {
            None => whole = Some(one.job),
            Some(whole) if seen.contains(&met) => whole.layout = whole.layout.min(one.job.layout),
            Some(whole) => absorb(whole, one.job),
        }
        seen.push(met);
    }
    let Some(mut job) = whole else {
        return Vec::new();
    };
    if steps.len() > 1 && !job.flaws.contains(&RowReason::BadSidecar) {
        job.flaws.insert(RowReason::DuplicateJob);
    }
    if steps.is_empty() {
        return vec![job];
    }
    let for_step = |step| Job {
        step: Some(step),
        ..job.clone()
    };
    steps.into_iter().map(for_step).collect()
}

/// Content first; then what else can differ, so that equal keys mean interchangeable jobs.
fn sort_key(one: &Parsed) -> impl Ord + use<> {
    let content = one.content();
    let place = one.job.origins.first().map(|origin| match origin {
        Origin::Bundle { digest, .. } => (0, digest.to_string()),
        Origin::Folder { folder, .. } => (1, folder.path.display().to_string()),
    });
    (content, one.job.layout, one.steps.clone(), place)
}

/// Adds what another place says to the job.
fn absorb(whole: &mut Job, other: Job) {
    // The in-build layout is the stricter one: it takes nothing as passed without a status.
    whole.layout = whole.layout.min(other.layout);
    let is_known = other.origins.iter().all(|origin| {
        let mut known = whole.origins.iter().map(Origin::content);
        known.any(|content| content == origin.content())
    });
    whole.origins.extend(other.origins);
    if is_known {
        return;
    }
    whole.flaws.insert(RowReason::DuplicateJob);
    whole.flaws.extend(other.flaws);
    if whole.backend != other.backend {
        whole.backend = RowBackend::Unknown;
    }
    whole.facts.merge(&other.facts);
    whole.libraries.extend(other.libraries);
    whole.processes.extend(other.processes);
    whole.processes.sort_unstable();
    // A recording that both hold, byte for byte, was written by one process.
    whole.processes.dedup();
}
