//! What can go wrong between a program and its store.

use crate::Key;
use crate::fsio::{FsError, LockError};
use kernrec_schemas::{Digest, DocumentError};

type Cause = Box<dyn std::error::Error + Send + Sync>;

/// A store that could not do what was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The store itself is not there.
    #[error("there is no store at `{url}`")]
    NoStore {
        /// The store.
        url: String,
    },
    /// Nothing stands under the key.
    #[error("`{key}` is not in the store `{url}`")]
    NotFound {
        /// The store.
        url: String,
        /// The key.
        key: Key,
    },
    /// The store refused the credentials, or asks for some.
    #[error("{action} `{key}` in `{url}`: access denied: {source}")]
    Denied {
        /// The store.
        url: String,
        /// The key.
        key: String,
        /// What was tried.
        action: &'static str,
        /// What the store said.
        source: Cause,
    },
    /// The store did not answer, or said that it cannot now; another try may succeed.
    #[error("{action} `{key}` in `{url}`: {source}")]
    Unavailable {
        /// The store.
        url: String,
        /// The key.
        key: String,
        /// What was tried.
        action: &'static str,
        /// What the store said.
        source: Cause,
    },
    /// The store took longer than it may. What was asked of it may still happen.
    #[error("{action} `{key}` in `{url}`: {source}")]
    TimedOut {
        /// The store.
        url: String,
        /// The key.
        key: String,
        /// What was tried.
        action: &'static str,
        /// Which limit was reached.
        source: Cause,
    },
    /// Who answered for the store could not prove to be it: a certificate that does not hold.
    #[error("{action} `{key}` in `{url}`: {source}")]
    Untrusted {
        /// The store.
        url: String,
        /// The key.
        key: String,
        /// What was tried.
        action: &'static str,
        /// What is wrong with the certificate.
        source: Cause,
    },
    /// The answer is not one of a store: a login page, a redirect to elsewhere, a re-encoded file.
    #[error("{action} `{key}` in `{url}`: {problem}")]
    WrongAnswer {
        /// The store.
        url: String,
        /// The key.
        key: String,
        /// What was tried.
        action: &'static str,
        /// What was answered.
        problem: String,
    },
    /// The store takes a conditional write for a plain one, or takes none: two publishers could undo each other's
    /// work unseen.
    #[error("the store `{url}` has no conditional writes: {problem}")]
    NoConditionalWrites {
        /// The store.
        url: String,
        /// How that was seen.
        problem: String,
    },
    /// The store cannot do this at all.
    #[error("the store `{url}` cannot {action}")]
    Unsupported {
        /// The store.
        url: String,
        /// What was asked.
        action: &'static str,
    },
    /// Content does not have the digest or size it is stored under.
    #[error("`{key}` in `{url}` is damaged: expected {expected}, found {found}")]
    Damaged {
        /// The store.
        url: String,
        /// The key.
        key: Key,
        /// What it should be.
        expected: String,
        /// What it is.
        found: String,
    },
    /// A document in the store was refused by its loader.
    #[error("`{key}` in `{url}`: {source}")]
    Document {
        /// The store.
        url: String,
        /// The key.
        key: Key,
        /// What the loader said.
        source: DocumentError,
    },
    /// A file operation failed.
    #[error(transparent)]
    Fs(#[from] FsError),
    /// The lock that makes a pointer move safe was not obtained.
    #[error(transparent)]
    Lock(#[from] LockError),
}

impl StoreError {
    /// The stable word for machines.
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::NoStore { .. } => "no-store",
            Self::NotFound { .. } => "not-found",
            Self::Denied { .. } => "access-denied",
            Self::Unavailable { .. } => "store-unavailable",
            Self::TimedOut { .. } => "store-timeout",
            Self::Untrusted { .. } => "store-untrusted",
            Self::WrongAnswer { .. } => "store-wrong-answer",
            Self::NoConditionalWrites { .. } => "no-conditional-writes",
            Self::Unsupported { .. } => "store-unsupported",
            Self::Damaged { .. } => "object-damaged",
            Self::Document { source, .. } => source.reason(),
            Self::Fs(_) => "file-error",
            Self::Lock(_) => "lock-not-obtained",
        }
    }

    pub(crate) fn damaged(
        url: &str,
        key: &Key,
        expected: &Digest,
        found: impl Into<String>,
    ) -> Self {
        Self::Damaged {
            url: url.to_owned(),
            key: key.clone(),
            expected: expected.to_string(),
            found: found.into(),
        }
    }
}
