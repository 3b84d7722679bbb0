//! What fails a publish. The pointer was not moved when one of these is returned.

use crate::recorded_at::RecordedAtError;
use kernrec_git::GitError;
use kernrec_schemas::agreement::Disagreement;
use kernrec_schemas::{Backend, DocumentError};
use kernrec_store::StoreError;
use kernrec_store::bundle::BundleError;
use kernrec_store::fsio::FsError;
use std::path::PathBuf;

/// Why a publish failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PublishError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The repository did not say whether the commit is an ancestor.
    #[error("compare with the current record: {0}")]
    Repo(#[from] GitError),
    /// The time of the record could not be told.
    #[error(transparent)]
    RecordedAt(#[from] RecordedAtError),
    /// A job folder could not be packed into a bundle to be stored.
    #[error("pack a bundle to store: {0}")]
    Pack(#[from] BundleError),
    /// A file operation failed.
    #[error(transparent)]
    Fs(#[from] FsError),
    /// Recordings changed between folding and storing, so that the table would not be theirs.
    #[error("`{}` changed after it was folded", path.display())]
    RecordingsChanged {
        /// The job folder or bundle.
        path: PathBuf,
    },
    /// A document made here is not accepted by its own loader.
    #[error("the record would not be accepted by its readers: {0}")]
    NotAcceptable(#[source] DocumentError),
    /// The documents made here are no record to whoever fetches it.
    #[error("the record would not be accepted by its readers: {0}")]
    Disagreement(#[from] Disagreement),
    /// The existing system's layout holds one symbol map per commit.
    #[error("{found} symbol maps, of which the upstream layout holds one")]
    OneMap {
        /// How many there are.
        found: usize,
    },
    /// The existing system's layout has no place for such a record.
    #[error("a record of `{backend}` has no place in the upstream layout")]
    NotInLayout {
        /// The record's backend.
        backend: Backend,
    },
    /// The pointer's generation cannot grow any more.
    #[error("the pointer has no next generation")]
    GenerationsExhausted,
    /// Other publishers kept moving the pointer.
    #[error("other publishers moved the pointer {tries} times in a row")]
    Contended {
        /// How often this one tried.
        tries: u32,
    },
}

impl PublishError {
    /// The stable word.
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::Store(source) => source.reason(),
            Self::Repo(source) => source.reason(),
            Self::RecordedAt(source) => source.reason(),
            Self::Pack(source) => source.reason(),
            Self::Fs(_) => "file-error",
            Self::RecordingsChanged { .. } => "recordings-changed",
            Self::NotAcceptable(source) => source.reason(),
            Self::Disagreement(source) => source.reason(),
            Self::OneMap { .. } => "variant-not-representable",
            Self::NotInLayout { .. } => "backend-not-representable",
            Self::GenerationsExhausted => "generations-exhausted",
            Self::Contended { .. } => "contended",
        }
    }
}
