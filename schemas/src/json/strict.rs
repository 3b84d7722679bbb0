//! The one way in and the one way out.

use super::duplicates;
use serde::{Deserialize, Serialize};

/// Why a document was refused. `document` is its kind; the caller adds the file or URL.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DocumentError {
    /// More bytes than the document kind may have.
    #[error("{document} has more than {limit} bytes")]
    TooLarge {
        /// The kind of document.
        document: &'static str,
        /// The bound, in bytes.
        limit: u64,
    },
    /// Not JSON, or a field of the wrong type. The message ends with line and column.
    #[error("{document} is malformed: {source}")]
    Malformed {
        /// The kind of document.
        document: &'static str,
        /// What the parser said, with line and column.
        source: serde_json::Error,
    },
    /// A version or schema word this reader does not know.
    #[error("{document} has version `{found}`, expected {expected}")]
    Version {
        /// The kind of document.
        document: &'static str,
        /// What stands in the document.
        found: String,
        /// What would be accepted.
        expected: &'static str,
    },
    /// Well-formed, but a rule between its fields is broken.
    #[error("{document} is not acceptable: {place}: {problem}")]
    Rule {
        /// The kind of document.
        document: &'static str,
        /// The field, as a path such as `objects[3].source`.
        place: String,
        /// What is wrong there.
        problem: String,
    },
}

impl DocumentError {
    pub(crate) fn rule(
        document: &'static str,
        place: impl Into<String>,
        problem: impl Into<String>,
    ) -> Self {
        Self::Rule {
            document,
            place: place.into(),
            problem: problem.into(),
        }
    }

    /// The stable word for machines.
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::TooLarge { .. } => "document-too-large",
            Self::Malformed { .. } => "document-malformed",
            Self::Version { .. } => "document-version",
            Self::Rule { .. } => "document-refused",
        }
    }
}

/// Refuses more bytes than `limit`.
fn check_size(document: &'static str, bytes: &[u8], limit: u64) -> Result<(), DocumentError> {
    if bytes.len() as u64 > limit {
        return Err(DocumentError::TooLarge { document, limit });
    }
    Ok(())
}

/// Reads one document: bounded, no duplicate keys, nothing after it.
pub fn read<'de, T: Deserialize<'de>>(
    document: &'static str,
    bytes: &'de [u8],
    limit: u64,
) -> Result<T, DocumentError> {
    check(document, bytes, limit)?;
    read_unchecked_keys(document, bytes)
}

/// The checks that hold for every document before any field is looked at: size, JSON, unique keys.
pub fn check(document: &'static str, bytes: &[u8], limit: u64) -> Result<(), DocumentError> {
    check_size(document, bytes, limit)?;
    duplicates::refuse(bytes).map_err(|source| DocumentError::Malformed { document, source })
}

/// Reads a part of a document whose size and keys were checked with the whole.
pub fn read_unchecked_keys<'de, T: Deserialize<'de>>(
    document: &'static str,
    bytes: &'de [u8],
) -> Result<T, DocumentError> {
    serde_json::from_slice(bytes).map_err(|source| DocumentError::Malformed { document, source })
}

/// The canonical bytes: compact, no line end.
///
/// # Panics
/// Never for the types of this crate: their maps have string keys and their numbers are finite.
#[expect(
    clippy::expect_used,
    reason = "a failure is a bug in a type of this crate, not in input"
)]
pub fn canonical<T: Serialize>(value: &T) -> Vec<u8> {
    serde_json::to_vec(value).expect("the documents of this crate have string keys")
}

/// The same document for people: indented, one line end.
///
/// # Panics
/// As [`canonical`].
#[expect(
    clippy::expect_used,
    reason = "a failure is a bug in a type of this crate, not in input"
)]
pub fn pretty<T: Serialize>(value: &T) -> Vec<u8> {
    let mut out = serde_json::to_vec_pretty(value).expect("the documents have string keys");
    out.push(b'\n');
    out
}
