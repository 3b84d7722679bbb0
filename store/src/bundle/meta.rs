//! `bundle.json`: whose bundle this is.

use kernrec_schemas::json::{self, DocumentError};
use kernrec_schemas::{JobId, StepKey};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const DOCUMENT: &str = "bundle description";
const SCHEMA: &str = "kernrec.bundle/1";
/// Twice what the longest job id and step key need with every byte escaped.
const MAX_BYTES: u64 = 16 * 1024;

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
#[serde(try_from = "Wire", into = "Wire")]
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
    /// The canonical bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        json::canonical(self)
    }

    /// Reads a description; anything but the canonical bytes is refused.
    pub fn parse(bytes: &[u8]) -> Result<Self, DocumentError> {
        let meta: Self = json::read(DOCUMENT, bytes, MAX_BYTES)?;
        if meta.to_bytes() == bytes {
            return Ok(meta);
        }
        Err(DocumentError::Rule {
            document: DOCUMENT,
            place: "the whole".to_owned(),
            problem: "not in canonical form".to_owned(),
        })
    }
}

/// The description as it is written, with the word that names its version.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "kernrec bundle description, version 1")]
struct Wire {
    /// `kernrec.bundle/1`.
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
            schema: SCHEMA.to_owned(),
            job_id: meta.job_id,
            step_key: meta.step_key,
            layout: meta.layout,
        }
    }
}

impl TryFrom<Wire> for BundleMeta {
    type Error = String;
    fn try_from(wire: Wire) -> Result<Self, String> {
        if wire.schema != SCHEMA {
            let found: String = wire
                .schema
                .chars()
                .take(80)
                .flat_map(char::escape_debug)
                .collect();
            return Err(format!("schema `{found}`, expected `{SCHEMA}`"));
        }
        Ok(Self {
            job_id: wire.job_id,
            step_key: wire.step_key,
            layout: wire.layout,
        })
    }
}
