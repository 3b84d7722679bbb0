//! `record.json`, `kernrec.installed/1`: what a fetcher installed in a local folder, from where, and how good
//! it is known to be.
//!
//! A local document of one program version: every change of its fields is a new version, and it is read only
//! exactly as it was written. The seal makes a damaged byte anywhere in it detectable.

use crate::id::{Backend, BuildNumber, Commit, Digest, Generation, KeyId, Pipeline, Variant};
use crate::json::{self, DocumentError};
use crate::manifest::{
    Counts, ROLE_FUNCTION_TABLE, ROLE_TABLE, roles_problem, symbol_map_role, variant_of_role,
};
use crate::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

const DOCUMENT: &str = "installed record";

/// Size and time of a stored file, for the quick check that nobody touched it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stamp {
    /// The file's size in bytes, as stored.
    pub size: u64,
    /// When it was last written, in nanoseconds since 1970-01-01T00:00:00Z.
    pub modified_ns: i64,
}

/// One installed file; its name follows from its role, see [`file_name`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InstalledFile {
    /// The digest of its uncompressed bytes.
    pub digest: Digest,
    /// Its uncompressed size in bytes.
    pub size: u64,
    /// The stored file as it was when last verified.
    pub stored: Stamp,
}

/// How a store is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum StoreLayout {
    /// Ours.
    #[default]
    Native,
    /// The existing system's.
    Upstream,
}

impl StoreLayout {
    #[expect(
        clippy::trivially_copy_pass_by_ref,
        reason = "serde asks with a reference"
    )]
    fn is_native(&self) -> bool {
        *self == Self::Native
    }
}

/// Where a record was last seen, and when its files were fetched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Origin {
    /// The store; in the upstream layout the folder of the pointer.
    pub url: String,
    /// How it is laid out.
    #[serde(default, skip_serializing_if = "StoreLayout::is_native")]
    pub layout: StoreLayout,
    /// The store's mark of the pointer version by which the record was last seen.
    pub version: String,
    /// That pointer's generation; 0 when it has none.
    pub generation: Generation,
    /// Whether that pointer's current record was this one, rather than one of its history.
    pub current: bool,
    /// The key whose signature of that pointer was required and verified; absent where none was required.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signed_by: Option<KeyId>,
    /// When it was first published, by the publisher's wall clock. Unknown means stale.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published_at: Option<Timestamp>,
    /// When its files were downloaded, by this machine's wall clock.
    pub fetched_at: Timestamp,
}

/// One thing that was proved before the record was installed.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Verification {
    /// Every file has the digest and size of the manifest, and the manifest the pointer's digest.
    Digests,
    /// Every document was accepted by its loader.
    Loaders,
    /// Table, maps, manifest and pointer agree: commit, backend, counts.
    Agreement,
}

/// The document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "kernrec installed record, version 1")]
pub struct InstalledRecord {
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
    /// The digest of its manifest.
    pub manifest: Digest,
    /// What it holds.
    pub counts: Counts,
    /// Its files by role: the table and one symbol map per variant, or the function table.
    pub files: BTreeMap<String, InstalledFile>,
    /// The gzip twins written beside them for readers of the existing system, by file name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub twins: BTreeMap<String, Stamp>,
    /// Where it came from.
    pub origin: Origin,
    /// What was proved.
    pub verified: BTreeSet<Verification>,
    /// When a rollback revoked it, if a later fetch saw that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked: Option<Timestamp>,
    seal: Digest,
}

/// The parts of a document that is about to be made; see [`InstalledRecord`].
#[derive(Debug, Clone)]
pub struct InstalledParts {
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
    /// The digest of its manifest.
    pub manifest: Digest,
    /// What it holds.
    pub counts: Counts,
    /// Its files by role.
    pub files: BTreeMap<String, InstalledFile>,
    /// The gzip twins by file name.
    pub twins: BTreeMap<String, Stamp>,
    /// Where it came from.
    pub origin: Origin,
    /// What was proved.
    pub verified: BTreeSet<Verification>,
}

/// The name of the local file of a role; `None` for a role that is not installed.
pub fn file_name(role: &str) -> Option<String> {
    if role == ROLE_TABLE {
        return Some("kernel_table.json.zst".to_owned());
    }
    if role == ROLE_FUNCTION_TABLE {
        return Some("function_table.json.zst".to_owned());
    }
    let variant = variant_of_role(role)?;
    Some(format!("kernel_{}.json.zst", symbol_map_role(&variant)))
}

impl InstalledRecord {
    /// The schema word written.
    pub const SCHEMA: &str = "kernrec.installed/1";

    /// Makes a document.
    pub fn new(parts: InstalledParts) -> Self {
        Self {
            schema: Self::SCHEMA.to_owned(),
            pipeline: parts.pipeline,
            backend: parts.backend,
            commit: parts.commit,
            build: parts.build,
            recorded_at: parts.recorded_at,
            manifest: parts.manifest,
            counts: parts.counts,
            files: parts.files,
            twins: parts.twins,
            origin: parts.origin,
            verified: parts.verified,
            revoked: None,
            seal: Digest::of(&[]),
        }
    }

    /// Reads a document that was written by [`InstalledRecord::to_bytes`] of this version, byte for byte.
    pub fn parse(bytes: &[u8]) -> Result<Self, DocumentError> {
        let record: Self = json::read_schema(DOCUMENT, bytes, Self::SCHEMA)?;
        if record.to_bytes() != bytes {
            let problem = "not as it was written: the file was changed or damaged";
            return Err(DocumentError::rule(DOCUMENT, "seal", problem));
        }
        record.check()?;
        Ok(record)
    }

    /// The bytes written: indented for people, sealed.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut sealed = self.clone();
        sealed.seal = Digest::of(&[]);
        sealed.seal = Digest::of(&json::canonical(&sealed));
        json::pretty(&sealed)
    }

    /// The variants it has symbol maps for.
    pub fn variants(&self) -> Vec<Variant> {
        let roles = self.files.keys();
        roles.filter_map(|role| variant_of_role(role)).collect()
    }

    /// The kernel table's entry.
    pub fn table(&self) -> Option<&InstalledFile> {
        self.files.get(ROLE_TABLE)
    }

    /// The function table's entry.
    pub fn function_table(&self) -> Option<&InstalledFile> {
        self.files.get(ROLE_FUNCTION_TABLE)
    }

    fn check(&self) -> Result<(), DocumentError> {
        if let Some(role) = self.files.keys().find(|role| file_name(role).is_none()) {
            let place = format!("files.{role}");
            return Err(DocumentError::rule(DOCUMENT, place, "unknown role"));
        }
        let roles = self.files.keys().map(String::as_str);
        match roles_problem(self.backend, &roles) {
            Some(problem) => Err(DocumentError::rule(DOCUMENT, "files", problem)),
            None => Ok(()),
        }
    }
}
