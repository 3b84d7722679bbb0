//! The bundle description, `bundle.json`: whose trace bundle it stands in.
//!
//! The bundle itself is read and written by the store; its digest covers these bytes too, so they have one
//! form only.

use crate::id::{JobId, StepKey};
use crate::json::{self, DocumentError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const DOCUMENT: &str = "bundle description";

/// How the job's folder stood among others.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum OriginLayout {
    /// `<dir>/<job>/`, as a build leaves it.
    InBuild,
    /// `<dir>/<step>/<job>/`, as a collector sorts it.
    StepJob,
}

/// What a bundle says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "Wire", into = "Wire")]
#[schemars(with = "Wire")]
pub struct BundleMeta {
    /// The job.
    pub job_id: JobId,
    /// Its step, as far as sidecar or folder name it.
    pub step_key: Option<StepKey>,
    /// How its folder stood among others.
    pub layout: OriginLayout,
}

impl BundleMeta {
    /// The schema word written.
    pub const SCHEMA: &str = "kernrec.bundle/1";

    /// The canonical bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        json::canonical(self)
    }

    /// Reads a description; anything but the canonical bytes is refused.
    pub fn parse(bytes: &[u8]) -> Result<Self, DocumentError> {
        let meta: Self = json::read_schema(DOCUMENT, bytes, Self::SCHEMA)?;
        if meta.to_bytes() == bytes {
            return Ok(meta);
        }
        let problem = "not in canonical form";
        Err(DocumentError::rule(DOCUMENT, "the whole", problem))
    }
}

/// The description as it is written, with the word that names its version.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "kernrec bundle description, version 1")]
struct Wire {
    #[schemars(extend("const" = "kernrec.bundle/1"))]
    schema: String,
    /// The job.
    job_id: JobId,
    /// Its step; null when neither sidecar nor folder name it.
    step_key: Option<StepKey>,
    /// How its folder stood among others.
    layout: OriginLayout,
}

impl From<BundleMeta> for Wire {
    fn from(meta: BundleMeta) -> Self {
        Self {
            schema: BundleMeta::SCHEMA.to_owned(),
            job_id: meta.job_id,
            step_key: meta.step_key,
            layout: meta.layout,
        }
    }
}

impl From<Wire> for BundleMeta {
    fn from(wire: Wire) -> Self {
        Self {
            job_id: wire.job_id,
            step_key: wire.step_key,
            layout: wire.layout,
        }
    }
}
