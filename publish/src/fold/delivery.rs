//! What jobs delivered, counted: for the gates and for people.

use super::{Filing, FoldOptions};
use crate::collect::{Collected, SidecarState, Unreadable};
use crate::shown;
use kernrec_schemas::JobId;
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// What jobs delivered, as one backend's publish sees it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Delivery {
    /// Distinct jobs that left a recording or a sidecar: of every backend of kernels, or of Python.
    pub delivered: u64,
    /// Distinct jobs folded into this backend's table.
    pub folded: u64,
    /// Recordings of the folded jobs.
    pub processes: u64,
    /// Folded jobs whose sidecar names another commit.
    pub foreign: u64,
    /// Jobs that belong to no step, sorted.
    pub unfiled: Vec<JobId>,
    /// Job folders with neither recording nor sidecar.
    #[serde(serialize_with = "shown::paths")]
    pub empty: Vec<PathBuf>,
    /// Links among the recordings, which were not followed.
    #[serde(serialize_with = "shown::paths")]
    pub links: Vec<PathBuf>,
    /// Bundles and jobs of which nobody knows the step, because what would say so cannot be read.
    pub unreadable: Vec<Unreadable>,
    /// Listed jobs that delivered nothing for their step, sorted; empty without a jobs list.
    pub missing: Vec<JobId>,
}

/// Counts what jobs delivered.
pub fn delivery(collected: &Collected, options: &FoldOptions) -> Delivery {
    let filing = Filing::new(collected, options);
    let distinct: BTreeSet<&JobId> = collected
        .jobs_of(options.backend)
        .iter()
        .map(|job| &job.id)
        .collect();
    let mut counts = Delivery {
        delivered: distinct.len() as u64,
        unfiled: filing.unfiled.iter().map(|job| job.id.clone()).collect(),
        empty: collected.empty().to_vec(),
        links: collected.links().to_vec(),
        unreadable: unreadable(collected, &filing),
        missing: filing.all_missing().into_iter().cloned().collect(),
        ..Delivery::default()
    };
    let mut folded = BTreeSet::new();
    let mut foreign = BTreeSet::new();
    for filed in filing.of_backend(options).flat_map(|(_, jobs)| jobs) {
        if folded.insert(&filed.job.id) {
            counts.processes += filed.job.processes.len() as u64;
        }
        if filed.is_foreign(options) {
            foreign.insert(&filed.job.id);
        }
    }
    counts.folded = folded.len() as u64;
    counts.foreign = foreign.len() as u64;
    counts
}

/// A job whose sidecar names no step belongs to a step without a key. One whose sidecar is lost or bad belongs to
/// a step that may have a row.
fn unreadable(collected: &Collected, filing: &Filing<'_>) -> Vec<Unreadable> {
    let mut unreadable = collected.unreadable().to_vec();
    for job in &filing.unfiled {
        let problem = match &job.sidecar {
            SidecarState::Missing => "there is no sidecar".to_owned(),
            SidecarState::Bad { problem } => problem.clone(),
            SidecarState::Read(sidecar) if !sidecar.faults.is_empty() => sidecar.faults.join("; "),
            SidecarState::Read(_) => continue,
        };
        unreadable.extend(job.origins.first().map(|origin| Unreadable {
            path: origin.path().to_path_buf(),
            reason: "no-step",
            message: format!("job `{}`: {problem}", origin.path().display()),
        }));
    }
    unreadable
}
