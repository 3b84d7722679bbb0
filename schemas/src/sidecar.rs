//! The job sidecar, `kernrec.json`: whose recordings these are and how the job ended.
//!
//! Written by set-up code of many ages, so reading is lenient about absence and strict about meaning: a
//! field that is absent or empty is `None`, one of the wrong kind is `None` and named in `faults`.

mod document;
mod read;

pub use document::{Provenance, SidecarDocument};

use crate::id::{Backend, Commit, JobId, StepKey, Variant};
use crate::json::DocumentError;

pub(crate) const DOCUMENT: &str = "sidecar";

/// What the sidecar of one job says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sidecar {
    /// The pipeline step.
    pub step_key: Option<StepKey>,
    /// The step's label, any text.
    pub label: Option<String>,
    /// The job; `local` outside CI.
    pub job_id: Option<JobId>,
    /// The build's number, as text.
    pub build: Option<String>,
    /// The commit that was tested.
    pub commit: Option<Commit>,
    /// The shard's index from 0, for parallel steps.
    pub shard: Option<u64>,
    /// How many shards the step has.
    pub shard_count: Option<u64>,
    /// The step's exit status; `None` until the job's last command ran.
    pub exit_status: Option<i64>,
    /// The node's name.
    pub host: Option<String>,
    /// The backend recording was set up for.
    pub backend: Option<Backend>,
    /// The recorder's name.
    pub recorder: Option<String>,
    /// Whether the injection was really in place; `None` in sidecars older than the field.
    pub collection_available: Option<bool>,
    /// Why it was not.
    pub collection_error: Option<String>,
    /// Which attempt of the job this is, from 0.
    pub retry_count: Option<u64>,
    /// The image variant the job ran in.
    pub variant: Variant,
    /// Processes known to have run without a recorder.
    pub unrecorded_processes: u64,
    /// Fields of the wrong kind, each as `field: problem`. Such a sidecar proves nothing.
    pub faults: Vec<String>,
}

impl Sidecar {
    /// Reads a sidecar. An error means that the whole is no JSON object and says nothing.
    pub fn parse(bytes: &[u8]) -> Result<Self, DocumentError> {
        read::parse(bytes)
    }
}
