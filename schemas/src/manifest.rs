//! The record manifest, `kernrec.record/1`: one published record, file by file.
//!
//! Immutable and stored as an object itself, so its digest names the whole record. It holds no wall-clock
//! time: the same inputs give the same manifest.

use crate::id::{Backend, BuildNumber, Commit, Digest, Pipeline, Variant};
use crate::json::{self, DocumentError, MAX_RECORD_BYTES, MAX_SMALL_BYTES, is_zero};
use crate::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

const DOCUMENT: &str = "record manifest";

/// The role of the kernel table in [`RecordManifest::files`].
pub const ROLE_TABLE: &str = "table";
/// The role of the function table, which records of Python have instead of a kernel table and symbol maps.
pub const ROLE_FUNCTION_TABLE: &str = "function_table";
/// The role of the unnamed variant's symbol map; a named variant's follows after a dot.
pub const ROLE_SYMBOL_MAP: &str = "symbol_map";
/// The role of the jobs list the table was folded with, when one was given.
pub const ROLE_JOBS: &str = "jobs";
/// The media type of the JSON documents of a record.
pub const MEDIA_JSON: &str = "application/json";

/// The role of one variant's symbol map.
pub fn symbol_map_role(variant: &Variant) -> String {
    if variant.is_default() {
        return ROLE_SYMBOL_MAP.to_owned();
    }
    format!("{ROLE_SYMBOL_MAP}.{variant}")
}

/// The variant a role is the symbol map of; `None` for any other role.
pub fn variant_of_role(role: &str) -> Option<Variant> {
    match role.strip_prefix(ROLE_SYMBOL_MAP)? {
        "" => Some(Variant::default()),
        rest => Variant::new(rest.strip_prefix('.')?)
            .ok()
            .filter(|variant| !variant.is_default()),
    }
}

/// What is wrong with the files of a record of this backend: kernels need a kernel table and a symbol map, functions
/// a function table, and neither has the other's.
pub(crate) fn roles_problem<'a>(
    backend: Backend,
    roles: &(impl Iterator<Item = &'a str> + Clone),
) -> Option<String> {
    let has = |wanted: &str| roles.clone().any(|role| role == wanted);
    let map = roles.clone().find(|role| variant_of_role(role).is_some());
    if backend.has_kernels() {
        return match (has(ROLE_TABLE), map, has(ROLE_FUNCTION_TABLE)) {
            (false, ..) => Some("no `table`".to_owned()),
            (_, None, _) => Some("no `symbol_map`".to_owned()),
            (.., true) => Some(format!(
                "`{ROLE_FUNCTION_TABLE}` in a record of `{backend}`"
            )),
            (true, Some(_), false) => None,
        };
    }
    let kernels = has(ROLE_TABLE).then_some(ROLE_TABLE).or(map);
    match (has(ROLE_FUNCTION_TABLE), kernels) {
        (false, _) => Some(format!("no `{ROLE_FUNCTION_TABLE}`")),
        (_, Some(role)) => Some(format!("`{role}` in a record of `{backend}`")),
        (true, None) => None,
    }
}

/// The most bytes that are read of a file in this role; `None` for one that this version never reads.
fn size_limit(role: &str) -> Option<u64> {
    match role {
        ROLE_TABLE | ROLE_FUNCTION_TABLE => Some(MAX_RECORD_BYTES),
        ROLE_JOBS => Some(MAX_SMALL_BYTES),
        other => variant_of_role(other).map(|_| MAX_RECORD_BYTES),
    }
}

/// One file of a record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileRef {
    /// The digest of its uncompressed bytes.
    pub digest: Digest,
    /// Its uncompressed size in bytes: the bound on decompression.
    pub size: u64,
    /// What it is.
    pub media_type: String,
}

/// A bundle that was folded into the record.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct BundleRef {
    /// The digest of its uncompressed tar.
    pub digest: Digest,
    /// Its uncompressed size in bytes.
    pub size: u64,
}

/// What the record holds, for people and for the gates of the next publish.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Counts {
    /// Steps with a row.
    pub rows: u64,
    /// Rows that may let their step be skipped.
    pub usable_rows: u64,
    /// Distinct kernels launched.
    pub kernels: u64,
    /// Distinct Python functions entered.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub functions: u64,
    /// Objects in the symbol maps.
    pub objects: u64,
    /// Distinct symbols in the symbol maps.
    pub symbols: u64,
    /// Distinct symbols of the maps that some usable row launched.
    pub joined: u64,
}

/// The program that made the record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Producer {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// The manifest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "kernrec record manifest, version 1")]
pub struct RecordManifest {
    #[schemars(extend("const" = "kernrec.record/1"))]
    schema: String,
    /// The pipeline.
    pub pipeline: Pipeline,
    /// The backend.
    pub backend: Backend,
    /// The commit.
    pub commit: Commit,
    /// The build.
    pub build: BuildNumber,
    /// The time the record speaks of.
    pub recorded_at: Timestamp,
    /// Its files by role.
    pub files: BTreeMap<String, FileRef>,
    /// What it holds.
    pub counts: Counts,
    /// The bundles folded, sorted; empty when the table was given ready-made.
    pub bundles: Vec<BundleRef>,
    /// What made it.
    pub producer: Producer,
}

/// The parts of a manifest that is about to be made.
#[derive(Debug, Clone)]
pub struct ManifestParts {
    /// See [`RecordManifest`]; the other fields likewise.
    pub pipeline: Pipeline,
    /// The backend.
    pub backend: Backend,
    /// The commit.
    pub commit: Commit,
    /// The build.
    pub build: BuildNumber,
    /// The time the record speaks of.
    pub recorded_at: Timestamp,
    /// Its files by role.
    pub files: BTreeMap<String, FileRef>,
    /// What it holds.
    pub counts: Counts,
    /// The bundles folded, in any order.
    pub bundles: Vec<BundleRef>,
    /// What made it.
    pub producer: Producer,
}

impl RecordManifest {
    /// The schema word written.
    pub const SCHEMA: &str = "kernrec.record/1";

    /// Makes a manifest.
    pub fn new(mut parts: ManifestParts) -> Self {
        parts.bundles.sort_unstable();
        parts.bundles.dedup();
        Self {
            schema: Self::SCHEMA.to_owned(),
            pipeline: parts.pipeline,
            backend: parts.backend,
            commit: parts.commit,
            build: parts.build,
            recorded_at: parts.recorded_at,
            files: parts.files,
            counts: parts.counts,
            bundles: parts.bundles,
            producer: parts.producer,
        }
    }

    /// Reads a manifest and checks that it names the files its backend's records have, and none too large to read.
    pub fn parse(bytes: &[u8]) -> Result<Self, DocumentError> {
        let mut manifest: Self = json::read_schema(DOCUMENT, bytes, Self::SCHEMA)?;
        let roles = manifest.files.keys().map(String::as_str);
        if let Some(problem) = roles_problem(manifest.backend, &roles) {
            return Err(DocumentError::rule(DOCUMENT, "files", problem));
        }
        for (role, file) in &manifest.files {
            if let Some(limit) = size_limit(role).filter(|limit| file.size > *limit) {
                let place = format!("files.{role}.size");
                let problem = format!("{} bytes, at most {limit} are read", file.size);
                return Err(DocumentError::rule(DOCUMENT, place, problem));
            }
        }
        manifest.bundles.sort_unstable();
        manifest.bundles.dedup();
        Ok(manifest)
    }

    /// The canonical bytes, whose digest names the record.
    pub fn to_canonical(&self) -> Vec<u8> {
        json::canonical(self)
    }

    /// The kernel table.
    pub fn table(&self) -> Option<&FileRef> {
        self.files.get(ROLE_TABLE)
    }

    /// The function table.
    pub fn function_table(&self) -> Option<&FileRef> {
        self.files.get(ROLE_FUNCTION_TABLE)
    }

    /// The symbol maps, one per variant.
    pub fn symbol_maps(&self) -> impl Iterator<Item = (Variant, &FileRef)> {
        self.files
            .iter()
            .filter_map(|(role, file)| variant_of_role(role).map(|variant| (variant, file)))
    }
}
