//! The symbol map: which kernels each object file holds, and which files it was compiled from.
//!
//! `read` loads versions 1 (CUDA) and 2 (both backends) as they are; [`SymbolMap::accept`] is the rule that
//! decides whether a map may be used at all; `write` stores a map canonicalised in its own version.

mod paths;
mod read;
mod write;

pub(crate) use write::Document;

use crate::id::{Backend, Commit, KernelName, Variant};
use crate::json::DocumentError;
use crate::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

pub(crate) const DOCUMENT: &str = "symbol map";

/// A symbol map in memory.
#[derive(Debug, Clone, PartialEq)]
pub struct SymbolMap {
    /// The document's version, 1 or 2.
    pub version: MapVersion,
    /// The backend; CUDA in version 1.
    pub backend: Backend,
    /// The commit it was built from; `None` when the document has the empty text.
    pub commit: Option<Commit>,
    /// The image variant it belongs to.
    pub variant: Variant,
    /// The CUDA compiler's release, for example `13.0`.
    pub cuda: Option<String>,
    /// When it was made.
    pub generated_at: Option<Timestamp>,
    /// Something is missing: no file of this map may let a step be skipped.
    pub incomplete: bool,
    /// What could not be read.
    pub errors: Vec<MapError>,
    /// Build folders, as paths.
    pub build_dirs: Vec<String>,
    /// Object files, sorted when written by us.
    pub objects: Vec<MapObject>,
    /// Why the map is unusable; `None` in a usable one.
    pub reason: Option<String>,
    /// Informative totals.
    pub stats: Option<serde_json::Map<String, serde_json::Value>>,
    /// The tools that made it, with their first version line.
    pub tools: BTreeMap<String, String>,
    /// Provenance manifests read.
    pub hipify_manifests: Vec<String>,
    /// The union of the objects' offload targets.
    pub offload_targets: Vec<String>,
}

/// A version of the map's format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MapVersion {
    /// CUDA only.
    V1,
    /// Either backend, named.
    V2,
}

/// One object file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct MapObject {
    /// The source it was compiled from: relative to the source root when inside it. Before `HIPify`.
    pub source: String,
    /// The path that was really compiled, when it is another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compiled_source: Option<String>,
    /// The build target, or the empty text.
    #[serde(default)]
    pub target: String,
    /// The object's path, relative to its build folder.
    #[serde(default)]
    pub object: String,
    /// Whether it was compiled for a GPU.
    #[serde(default)]
    pub device: bool,
    /// Its kernel entry symbols, sorted.
    #[serde(default)]
    pub symbols: Vec<KernelName>,
    /// Every file the compiler read, the source included, sorted. Shared: a map names each header in
    /// hundreds of objects.
    #[serde(default, serialize_with = "paths::serialize")]
    #[schemars(with = "Vec<String>")]
    pub deps: Vec<Arc<str>>,
    /// GPU targets inside.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub offload_targets: Vec<String>,
    /// Why it could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// One thing a map's producer could not read.
#[derive(
    Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub struct MapError {
    /// The object file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<String>,
    /// Its source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// What went wrong.
    pub error: String,
}

impl SymbolMap {
    /// Reads version 1 or 2 whatever it says; [`SymbolMap::accept`] decides whether it may be used.
    pub fn parse(bytes: &[u8]) -> Result<Self, DocumentError> {
        read::parse(bytes)
    }

    /// Reads a map and refuses one that may not be used.
    pub fn load(bytes: &[u8]) -> Result<Self, DocumentError> {
        let map = Self::parse(bytes)?;
        map.accept()?;
        Ok(map)
    }

    /// The loaders' rule: no `reason`, at least one object, each with a source.
    pub fn accept(&self) -> Result<(), DocumentError> {
        if let Some(reason) = &self.reason {
            let problem = format!("its producer declared it unusable: {reason}");
            return Err(DocumentError::rule(DOCUMENT, "reason", problem));
        }
        if self.objects.is_empty() {
            return Err(DocumentError::rule(DOCUMENT, "objects", "no object"));
        }
        match self
            .objects
            .iter()
            .position(|object| object.source.is_empty())
        {
            Some(index) => Err(DocumentError::rule(
                DOCUMENT,
                format!("objects[{index}].source"),
                "empty",
            )),
            None => Ok(()),
        }
    }

    /// The canonical bytes, in the map's own version.
    pub fn to_canonical(&self) -> Vec<u8> {
        write::canonical(self)
    }

    /// How many distinct symbols the objects hold together.
    pub fn distinct_symbols(&self) -> u64 {
        let hasher = foldhash::fast::RandomState::default();
        let mut seen = std::collections::HashSet::with_hasher(hasher);
        seen.extend(
            self.objects
                .iter()
                .flat_map(|object| &object.symbols)
                .map(KernelName::as_str),
        );
        seen.len() as u64
    }
}
