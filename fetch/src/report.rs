//! What a fetch did: plain data with stable field names and words, for text and JSON alike.

use crate::FetchError;
use kernrec_schemas::exit::Exit;
use kernrec_schemas::installed::InstalledRecord;
use kernrec_schemas::manifest::Counts;
use kernrec_schemas::{
    Backend, BuildNumber, Commit, Digest, Generation, KeyId, Pipeline, Timestamp, Variant,
};
use serde::{Serialize, Serializer};
use std::path::{Path, PathBuf};

/// The whole of one run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FetchReport {
    /// The store; `None` offline.
    pub url: Option<String>,
    /// The local folder.
    #[serde(serialize_with = "lossy")]
    pub out: PathBuf,
    /// One report per backend asked for, in the order of [`Backend::ALL`].
    pub backends: Vec<BackendReport>,
    /// How the run ended, worst of all backends.
    #[serde(skip)]
    pub exit: Exit,
}

/// How it went for one backend. Backends do not depend on each other.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BackendReport {
    /// The backend.
    pub backend: Backend,
    /// How it ended.
    #[serde(rename = "outcome")]
    pub status: Status,
    /// Why nothing new was installed; `None` unless the status is one of a failure.
    pub failure: Option<Failure>,
    /// What the folder holds now, whether new or kept; `None` when nothing that can be used is there.
    pub pair: Option<PairSummary>,
    /// Why what was there before could not be used, when that was so.
    pub damage: Option<Failure>,
    /// Compressed bytes of record files received; 0 when nothing had to be downloaded.
    pub bytes_received: u64,
}

/// How a fetch of one backend ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Status {
    /// Another record is in place now.
    Installed,
    /// The record in place was damaged and is whole again.
    Healed,
    /// The record in place is the right one.
    Unchanged,
    /// Nothing was asked for; what is in place was checked.
    Offline,
    /// Nothing was ever published for this backend.
    NotPublished,
    /// Offline, and nothing was ever installed for this backend.
    NotInstalled,
    /// There is a record, and it is refused; what was in place stays.
    Refused,
    /// It did not work; what was in place stays.
    Failed,
}

impl Status {
    /// The word, as in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Installed => "installed",
            Self::Healed => "healed",
            Self::Unchanged => "unchanged",
            Self::Offline => "offline",
            Self::NotPublished => "not-published",
            Self::NotInstalled => "not-installed",
            Self::Refused => "refused",
            Self::Failed => "failed",
        }
    }

    /// The exit status of this backend alone.
    pub const fn exit(self) -> Exit {
        match self {
            Self::Installed | Self::Healed | Self::Unchanged | Self::Offline => Exit::Done,
            Self::NotPublished | Self::Refused => Exit::Refused,
            Self::NotInstalled | Self::Failed => Exit::Failed,
        }
    }
}

/// A reason for machines and a message for people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// The stable word.
    pub reason: &'static str,
    /// The message with all its causes.
    pub message: String,
}

impl Failure {
    pub(crate) fn new(reason: &'static str, message: impl Into<String>) -> Self {
        Self {
            reason,
            message: message.into(),
        }
    }
}

impl From<&FetchError> for Failure {
    fn from(error: &FetchError) -> Self {
        Self::new(error.reason(), error.to_string())
    }
}

/// An installed pair, as far as a report needs it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PairSummary {
    /// The pipeline.
    pub pipeline: Pipeline,
    /// The commit.
    pub commit: Commit,
    /// The build.
    pub build: BuildNumber,
    /// The digest of its manifest.
    pub manifest: Digest,
    /// The folder that holds it.
    #[serde(serialize_with = "lossy")]
    pub folder: PathBuf,
    /// The variants it has symbol maps for; `""` is the unnamed one.
    pub variants: Vec<Variant>,
    /// What it holds.
    pub counts: Counts,
    /// The time it speaks of.
    pub recorded_at: Timestamp,
    /// When it was first published; `None` is as good as stale.
    pub published_at: Option<Timestamp>,
    /// Seconds since it was published; 0 for a time in the future.
    pub age_seconds: Option<u64>,
    /// The store it came from.
    pub url: String,
    /// The generation of the pointer that named it.
    pub generation: Generation,
    /// The key whose signature of that pointer was required and verified.
    pub signed_by: Option<KeyId>,
    /// When it was fetched.
    pub fetched_at: Timestamp,
    /// When a rollback revoked it, if a fetch saw that. Such a record may only add steps.
    pub revoked: Option<Timestamp>,
}

impl PairSummary {
    pub(crate) fn new(record: &InstalledRecord, folder: PathBuf, now: Timestamp) -> Self {
        let published_at = record.origin.published_at;
        Self {
            pipeline: record.pipeline.clone(),
            commit: record.commit.clone(),
            build: record.build,
            manifest: record.manifest,
            folder,
            variants: record.variants(),
            counts: record.counts,
            recorded_at: record.recorded_at,
            published_at,
            age_seconds: published_at.map(|published| age(published, now)),
            url: record.origin.url.clone(),
            generation: record.origin.generation,
            signed_by: record.origin.signed_by.clone(),
            fetched_at: record.origin.fetched_at,
            revoked: record.revoked,
        }
    }
}

/// A path as text, whatever its bytes: a report that cannot be written helps nobody.
fn lossy<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(&path.display())
}

/// Seconds from one moment to the present; a moment in the future has the age 0.
pub(crate) fn age(moment: Timestamp, now: Timestamp) -> u64 {
    u64::try_from(now.seconds_since(moment)).unwrap_or(0)
}

/// An age in seconds, written in the largest unit that fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Age(pub u64);

impl std::fmt::Display for Age {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (count, unit) = match self.0 {
            1 => (1, "second"),
            seconds @ 0..120 => (seconds, "seconds"),
            seconds @ 120..7_200 => (seconds / 60, "minutes"),
            seconds @ 7_200..172_800 => (seconds / 3_600, "hours"),
            seconds => (seconds / 86_400, "days"),
        };
        write!(f, "{count} {unit}")
    }
}
