//! Why a fetch of one backend installed nothing.

use crate::backend::AncestryError;
use crate::installed::InstalledError;
use crate::report::{Age, Status};
use kernrec_schemas::agreement::Disagreement;
use kernrec_schemas::{
    Backend, Commit, Digest, DocumentError, Generation, KeyId, Pipeline, Timestamp, Variant,
};
use kernrec_store::fsio::{FsError, LockError};
use kernrec_store::signing::SignatureProblem;
use kernrec_store::{OpenError, Store, StoreError};
use std::io;
use std::path::{Path, PathBuf};

/// A fetch that installed nothing; what was in place before still is.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// The store could not be opened.
    #[error("open the store: {message}")]
    Open {
        /// The stable word.
        reason: &'static str,
        /// What the store's side said.
        message: String,
    },
    /// The store failed, or holds something damaged.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Nothing was ever published.
    #[error("nothing has been published for `{backend}` of pipeline `{pipeline}` in `{url}`")]
    NotPublished {
        /// The store.
        url: String,
        /// The pipeline.
        pipeline: Pipeline,
        /// The backend.
        backend: Backend,
    },
    /// The pointer is older than the one by which the installed record was fetched from the same store.
    #[error(
        "the pointer in `{url}` went back: generation {found}, after {installed} was seen there"
    )]
    PointerWentBack {
        /// The store.
        url: String,
        /// The generation seen before.
        installed: Generation,
        /// The generation seen now.
        found: Generation,
    },
    /// No key that is asked for vouches for the pointer.
    #[error("{what}: {problem}")]
    Signature {
        /// Which pointer.
        what: String,
        /// What is wrong.
        problem: SignatureProblem,
    },
    /// The existing system's layout signs the pointer's commit and no other.
    #[error("nobody vouches for commit `{commit}` in `{url}`: the signed pointer names `{signed}`")]
    CommitNotSigned {
        /// The store.
        url: String,
        /// The commit asked for.
        commit: Commit,
        /// The commit that the pointer names.
        signed: Commit,
    },
    /// Offline, and the installed record was not verified by a key that is asked for.
    #[error("offline: the record of commit `{commit}` was installed {}, and one by {wanted} is required", verified_by(signed_by.as_ref()))]
    NotVerified {
        /// Its commit.
        commit: Commit,
        /// The key by which it was verified.
        signed_by: Option<KeyId>,
        /// The keys that would do.
        wanted: String,
    },
    /// Every record that would do is revoked.
    #[error("{what} in `{url}` is revoked")]
    Revoked {
        /// The store, or the local folder.
        url: String,
        /// Which record.
        what: String,
    },
    /// No record of the commit asked for.
    #[error("no record of commit `{commit}` in `{url}`, which remembers {known}")]
    CommitNotPublished {
        /// The store.
        url: String,
        /// The commit.
        commit: Commit,
        /// How many records the pointer names.
        known: usize,
    },
    /// The record that would be chosen is older than allowed.
    #[error(
        "the record of commit `{commit}` was published {} ago, more than {}",
        Age(*age_seconds), Age(*limit_seconds)
    )]
    TooOld {
        /// Its commit.
        commit: Commit,
        /// Its age in seconds.
        age_seconds: u64,
        /// The limit in seconds.
        limit_seconds: u64,
    },
    /// Nothing says when the record was published, so it cannot be young enough.
    #[error("nothing says when the record of commit `{commit}` was published")]
    AgeUnknown {
        /// Its commit.
        commit: Commit,
    },
    /// The question which record is an ancestor has no answer.
    #[error(transparent)]
    Ancestry(#[from] AncestryError),
    /// The record itself is not acceptable.
    #[error("manifest {manifest} in `{url}`: {problem}")]
    Record {
        /// The store.
        url: String,
        /// The manifest.
        manifest: Box<Digest>,
        /// What is wrong with it.
        problem: Box<RecordProblem>,
    },
    /// The upstream names have no place for a named variant.
    #[error(
        "the record has a symbol map of variant `{variant}`, for which there is no upstream name"
    )]
    VariantNotRepresentable {
        /// The variant.
        variant: Variant,
    },
    /// Something in the local folder was not made by this program and stands in the way.
    #[error("`{}` is {found}, not {expected}: it was not made by this program and is left alone", path.display())]
    NotOurs {
        /// The path.
        path: PathBuf,
        /// What is there.
        found: &'static str,
        /// What would be there.
        expected: &'static str,
    },
    /// The local folder cannot be written.
    #[error("{source} (`{}` belongs to user {owner})", folder.display())]
    NotWritable {
        /// The nearest folder that exists.
        folder: PathBuf,
        /// The user id it belongs to.
        owner: u32,
        /// What failed.
        source: FsError,
    },
    /// A file operation failed.
    #[error(transparent)]
    Fs(FsError),
    /// Another fetcher works in the same folder and does not end.
    #[error(transparent)]
    Lock(LockError),
    /// Offline, and nothing usable is installed.
    #[error("{0}")]
    Installed(#[from] InstalledError),
    /// Offline, and a record of another pipeline is installed.
    #[error("offline: a record of pipeline `{installed}` is installed, not of `{wanted}`")]
    PipelineNotInstalled {
        /// The pipeline asked for.
        wanted: Pipeline,
        /// The pipeline in place.
        installed: Pipeline,
    },
    /// Offline, and another record is installed than the one asked for.
    #[error("offline: commit `{installed}` is installed, not `{wanted}`")]
    CommitNotInstalled {
        /// The commit asked for.
        wanted: Commit,
        /// The commit in place.
        installed: Commit,
    },
}

/// Why a record that could be read is refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordProblem {
    /// The manifest says something else than the pointer that names it.
    #[error("it has the {field} `{found}`, the pointer says `{expected}`")]
    Pointer {
        /// What differs.
        field: &'static str,
        /// The pointer's value.
        expected: String,
        /// The manifest's value.
        found: String,
    },
    /// A document was refused by its loader.
    #[error("`{role}`: {source}")]
    Document {
        /// The file's role.
        role: String,
        /// What the loader said.
        source: DocumentError,
    },
    /// More files than any fleet has variants.
    #[error("{found} files, more than {limit}")]
    TooManyFiles {
        /// How many there are.
        found: usize,
        /// The bound.
        limit: usize,
    },
    /// The documents do not belong together.
    #[error(transparent)]
    Disagreement(Disagreement),
}

impl RecordProblem {
    pub(crate) fn document(role: &str, source: DocumentError) -> Self {
        Self::Document {
            role: role.to_owned(),
            source,
        }
    }

    /// The stable word for machines.
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::Pointer { .. } => "manifest-mismatch",
            Self::Document { source, .. } => source.reason(),
            Self::TooManyFiles { .. } => "record-too-large",
            Self::Disagreement(disagreement) => disagreement.reason(),
        }
    }
}

impl FetchError {
    /// The stable word for machines.
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::Open { reason, .. } => reason,
            Self::Store(error) => error.reason(),
            Self::NotPublished { .. } => "not-published",
            Self::PointerWentBack { .. } => "pointer-went-back",
            Self::Signature { problem, .. } => problem.reason(),
            Self::CommitNotSigned { .. } => "commit-not-signed",
            Self::NotVerified {
                signed_by: None, ..
            } => "signature-missing",
            Self::NotVerified {
                signed_by: Some(_), ..
            } => "signature-unknown-key",
            Self::Revoked { .. } => "revoked",
            Self::CommitNotPublished { .. } => "commit-not-published",
            Self::TooOld { .. } => "record-too-old",
            Self::AgeUnknown { .. } => "record-age-unknown",
            Self::Ancestry(error) => error.reason(),
            Self::Record { problem, .. } => problem.reason(),
            Self::VariantNotRepresentable { .. } => "variant-not-representable",
            Self::NotOurs { .. } => "not-ours",
            Self::NotWritable { .. } => "folder-not-writable",
            Self::Fs(_) => "file-error",
            Self::Lock(_) => "lock-not-obtained",
            Self::Installed(error) => error.reason(),
            Self::PipelineNotInstalled { .. } => "pipeline-not-installed",
            Self::CommitNotInstalled { .. } => "commit-not-installed",
        }
    }

    /// How a fetch that ended with this is reported.
    pub const fn status(&self) -> Status {
        match self {
            Self::NotPublished { .. } => Status::NotPublished,
            Self::Installed(InstalledError::NeverInstalled { .. }) => Status::NotInstalled,
            Self::PointerWentBack { .. }
            | Self::Signature { .. }
            | Self::CommitNotSigned { .. }
            | Self::NotVerified { .. }
            | Self::Revoked { .. }
            | Self::CommitNotPublished { .. }
            | Self::TooOld { .. }
            | Self::AgeUnknown { .. }
            | Self::Ancestry(AncestryError::NoAncestor { .. })
            | Self::Record { .. }
            | Self::VariantNotRepresentable { .. } => Status::Refused,
            Self::Open { .. }
            | Self::Store(_)
            | Self::Ancestry(_)
            | Self::NotOurs { .. }
            | Self::NotWritable { .. }
            | Self::Fs(_)
            | Self::Lock(_)
            | Self::Installed(_)
            | Self::PipelineNotInstalled { .. }
            | Self::CommitNotInstalled { .. } => Status::Failed,
        }
    }

    pub(crate) fn record(store: &dyn Store, manifest: &Digest, problem: RecordProblem) -> Self {
        Self::Record {
            url: store.url().to_owned(),
            manifest: Box::new(*manifest),
            problem: Box::new(problem),
        }
    }

    pub(crate) fn open(error: &OpenError) -> Self {
        let reason = match error {
            OpenError::Store(error) => error.reason(),
            _ => "store-url",
        };
        Self::Open {
            reason,
            message: error.to_string(),
        }
    }
}

impl From<FsError> for FetchError {
    /// Tells a folder that may not be written apart from everything else: its cure is another one.
    fn from(source: FsError) -> Self {
        let denied = [
            io::ErrorKind::PermissionDenied,
            io::ErrorKind::ReadOnlyFilesystem,
        ];
        if !denied.contains(&source.source.kind()) {
            return Self::Fs(source);
        }
        match nearest_folder(&source.path) {
            Some((folder, owner)) => Self::NotWritable {
                folder,
                owner,
                source,
            },
            None => Self::Fs(source),
        }
    }
}

impl From<LockError> for FetchError {
    fn from(error: LockError) -> Self {
        match error {
            LockError::Open(error) => error.into(),
            other => Self::Lock(other),
        }
    }
}

fn nearest_folder(path: &Path) -> Option<(PathBuf, u32)> {
    use std::os::unix::fs::MetadataExt;
    path.ancestors().skip(1).find_map(|folder| {
        let folder = if folder.as_os_str().is_empty() {
            Path::new(".")
        } else {
            folder
        };
        let meta = fs_err::metadata(folder).ok()?;
        meta.is_dir().then(|| (folder.to_path_buf(), meta.uid()))
    })
}

fn verified_by(key: Option<&KeyId>) -> String {
    key.map_or_else(
        || "without verifying a signature".to_owned(),
        |key| format!("after verifying a signature by `{key}`"),
    )
}

/// When and that a record was revoked, for the errors above.
pub(crate) fn revoked_record(commit: &Commit, at: Timestamp) -> String {
    format!("the record of commit `{commit}` (since {at})")
}
