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
    /// The store did not answer, or answered nonsense; another try may succeed.
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
