//! The sidecar as it is written.

use super::{DOCUMENT, Sidecar};
use crate::id::Backend;
use crate::json::{self, DocumentError, is_zero};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// What set-up and finish write. Numbers of the CI system are text, as its environment gives them; the
/// empty text means that there is none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(title = "kernrec job sidecar")]
pub struct SidecarDocument {
    /// The pipeline step.
    #[serde(default)]
    pub step_key: String,
    /// The step's label, any text.
    #[serde(default)]
    pub label: String,
    /// The job; `local` outside CI.
    #[serde(default)]
    pub job_id: String,
    /// The build's number.
    #[serde(default)]
    pub build: String,
    /// The commit under test.
    #[serde(default)]
    pub commit: String,
    /// The shard's index from 0.
    #[serde(default)]
    #[schemars(regex(pattern = "^[0-9]*$"))]
    pub parallel_job: String,
    /// How many shards the step has.
    #[serde(default)]
    #[schemars(regex(pattern = "^[0-9]*$"))]
    pub parallel_job_count: String,
    /// The step's exit status; null until finish ran.
    pub exit_status: Option<i64>,
    /// The node's name.
    #[serde(default)]
    pub host: String,
    /// What set-up was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backend: Option<Backend>,
    /// The recorder that serves the backend.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorder: Option<String>,
    /// Whether the injection was really in place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collection_available: Option<bool>,
    /// Why it was not.
    #[serde(default)]
    pub collection_error: Option<String>,
    /// Which attempt of the job this is, from 0.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(regex(pattern = "^[0-9]*$"))]
    pub retry_count: String,
    /// The image variant the job ran in.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub variant: String,
    /// Processes known to have run without a recorder.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unrecorded_processes: u64,
    /// What the job ran with; informative.
    #[serde(default)]
    pub provenance: Provenance,
}

/// What a job ran with. No reader decides by it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(default)]
pub struct Provenance {
    /// The branch the set-up code came from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ci_infra_branch: Option<String>,
    /// Versions of the GPU stack's packages by name.
    pub versions: BTreeMap<String, String>,
    /// The only SDK version the ROCm recorder runs with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected_rocprofiler_sdk: Option<String>,
    /// Allow-listed environment variables.
    pub environment: BTreeMap<String, String>,
    /// What set-up did otherwise than usual, or found: each a stable word, a colon and a sentence.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl SidecarDocument {
    /// The bytes written: indented, since people read sidecars among a job's artifacts.
    ///
    /// Refused when a reader would not understand every field: a sidecar of which one proves nothing.
    pub fn to_bytes(&self) -> Result<Vec<u8>, DocumentError> {
        let bytes = json::pretty(self);
        let faults = Sidecar::parse(&bytes)?.faults;
        match faults.first() {
            Some(fault) => Err(DocumentError::rule(DOCUMENT, "fields", fault.as_str())),
            None => Ok(bytes),
        }
    }
}
