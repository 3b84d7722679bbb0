//! The existing system's pointer, `latest.json` or `latest.rocm.json`, with our additive fields.

use super::PointerSignature;
use crate::id::{Backend, BuildNumber, Commit, Digest, Generation, Nonce, Pipeline};
use crate::json::{self, DocumentError, MAX_SMALL_BYTES};
use crate::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

const DOCUMENT: &str = "upstream pointer";

/// The pointer of the upstream layout. Readers of the existing system use `commit` and show `build`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "upstream pointer")]
pub struct UpstreamPointer {
    /// Absent in the CUDA pointers of the existing collector.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backend: Option<Backend>,
    /// The commit folder it points at.
    pub commit: Commit,
    /// The build; written as a number or, by hand publishers, as a string.
    #[serde(
        default,
        deserialize_with = "build",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(schema_with = "build_schema")]
    pub build: Option<BuildNumber>,
    /// The pipeline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pipeline: Option<Pipeline>,
    /// When it was published.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published_at: Option<Timestamp>,
    /// File names in the commit folder, sorted.
    #[serde(default)]
    pub files: Vec<String>,
    /// Ours: how often the pointer moved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generation: Option<Generation>,
    /// Ours: the writer's mark.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nonce: Option<Nonce>,
    /// Ours: digests of the uncompressed files by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub digests: BTreeMap<String, Digest>,
    /// Ours: who vouches for all of this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<PointerSignature>,
}

impl UpstreamPointer {
    /// Reads a pointer of any writer.
    pub fn parse(bytes: &[u8]) -> Result<Self, DocumentError> {
        json::read(DOCUMENT, bytes, MAX_SMALL_BYTES)
    }

    /// The bytes written.
    pub fn to_bytes(&self) -> Vec<u8> {
        json::canonical(self)
    }
}

fn build<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<BuildNumber>, D::Error> {
    struct Build;
    impl serde::de::Visitor<'_> for Build {
        type Value = Option<BuildNumber>;
        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("a build number")
        }
        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            Ok(None)
        }
        fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
            Ok(Some(BuildNumber(number)))
        }
        fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Self::Value, E> {
            if text.is_empty() {
                return Ok(None);
            }
            text.parse().map(Some).map_err(E::custom)
        }
    }
    from.deserialize_any(Build)
}

fn build_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({
        "type": ["integer", "string", "null"],
        "minimum": 0,
        "pattern": "^[0-9]*$"
    })
}
