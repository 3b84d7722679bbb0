//! The one way in and the one way out.

use super::deserializer::Strict;
use super::{MAX_RECORD_BYTES, MAX_SMALL_BYTES};
use serde::de::Error as _;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::collections::BTreeMap;

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
    #[error("{document} is malformed: {problem}")]
    Malformed {
        /// The kind of document.
        document: &'static str,
        /// What the parser said, with line and column: part of the message, so not a source of its own.
        problem: serde_json::Error,
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

    pub(crate) fn version(document: &'static str, found: &str, expected: &'static str) -> Self {
        let found = found.trim_matches('"');
        let found = found.chars().take(40).flat_map(char::escape_debug);
        Self::Version {
            document,
            found: found.collect(),
            expected,
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

/// Reads one document: bounded, no duplicate keys, nothing after it.
pub fn read<'de, T: Deserialize<'de>>(
    document: &'static str,
    bytes: &'de [u8],
    limit: u64,
) -> Result<T, DocumentError> {
    if bytes.len() as u64 > limit {
        return Err(DocumentError::TooLarge { document, limit });
    }
    // Checked once and whole: the parser then need not check string by string.
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let problem = format!("not UTF-8 after byte {}", error.valid_up_to());
        serde_json::Error::custom(problem)
    });
    text.and_then(part)
        .map_err(|problem| DocumentError::Malformed { document, problem })
}

/// Reads a small document that names its schema. The schema is looked at first, since another one may have
/// any other shape.
pub(crate) fn read_schema<'de, T: Deserialize<'de>>(
    document: &'static str,
    bytes: &'de [u8],
    schema: &'static str,
) -> Result<T, DocumentError> {
    #[derive(Deserialize)]
    struct Named {
        schema: String,
    }
    let named: Named = read(document, bytes, MAX_SMALL_BYTES)?;
    if named.schema != schema {
        return Err(DocumentError::version(document, &named.schema, schema));
    }
    read(document, bytes, MAX_SMALL_BYTES)
}

/// Reads a large document with a numbered version, in one pass; the caller checks the version it read.
///
/// Another version may have any other shape, so when the document does not read as `T` its version decides
/// which of the two errors is the true one.
pub(crate) fn read_versioned<'de, T: Deserialize<'de>>(
    document: &'static str,
    bytes: &'de [u8],
    known: &[&str],
    expected: &'static str,
) -> Result<T, DocumentError> {
    read_marked(document, bytes, "version", known, expected)
}

/// The same for a large document that names its schema.
pub(crate) fn read_large_schema<'de, T: Deserialize<'de>>(
    document: &'static str,
    bytes: &'de [u8],
    schema: &'static str,
) -> Result<T, DocumentError> {
    let known = format!("\"{schema}\"");
    read_marked(document, bytes, "schema", &[&known], schema)
}

/// `mark` is the field that says which kind of document it is, `known` the JSON it may hold.
fn read_marked<'de, T: Deserialize<'de>>(
    document: &'static str,
    bytes: &'de [u8],
    mark: &str,
    known: &[&str],
    expected: &'static str,
) -> Result<T, DocumentError> {
    let malformed = match read::<T>(document, bytes, MAX_RECORD_BYTES) {
        Ok(value) => return Ok(value),
        Err(error @ DocumentError::Malformed { .. }) => error,
        Err(error) => return Err(error),
    };
    let fields: Result<BTreeMap<String, &RawValue>, _> = read(document, bytes, MAX_RECORD_BYTES);
    let found = fields.ok().and_then(|fields| fields.get(mark).copied());
    match found.map(RawValue::get) {
        Some(version) if !known.contains(&version) => {
            Err(DocumentError::version(document, version, expected))
        }
        _ => Err(malformed),
    }
}

/// Reads a part of a document whose size was checked with the whole.
pub(crate) fn part<'de, T: Deserialize<'de>>(text: &'de str) -> Result<T, serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = T::deserialize(Strict(&mut deserializer))?;
    deserializer.end()?;
    Ok(value)
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
