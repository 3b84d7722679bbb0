//! Why the records of a build could not be used.

use crate::input::{Fault, Reason};
use std::io;
use std::path::Path;

/// A record of the build that cannot be used: the whole map is in doubt.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// A file or folder cannot be read.
    #[error("read build record `{path}`")]
    Read {
        /// What was read.
        path: String,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// A record is not what its format says.
    #[error("read build record `{path}` at offset {offset:#x}: {reason}: expected {expected}")]
    Content {
        /// The record.
        path: String,
        /// Where in it.
        offset: u64,
        /// The stable word.
        reason: Reason,
        /// What should have been there.
        expected: String,
    },
    /// Two records name different sources for one object.
    #[error("map `{object}` to its source: `{first}` and `{second}` both claim it")]
    ConflictingSources {
        /// The object.
        object: String,
        /// One source.
        first: String,
        /// The other.
        second: String,
    },
    /// No object file lies below the build root.
    #[error("find objects below `{root}`: there are none")]
    NoObjects {
        /// The build root.
        root: String,
    },
}

impl BuildError {
    pub(crate) fn content(path: &Path, fault: Fault) -> Self {
        let Fault {
            reason,
            offset,
            expected,
        } = fault;
        Self::Content {
            path: path.display().to_string(),
            offset,
            reason,
            expected,
        }
    }

    pub(crate) fn read(path: &Path, source: io::Error) -> Self {
        Self::Read {
            path: path.display().to_string(),
            source,
        }
    }

    /// The stable word, for a map's `reason`.
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::Read { .. } => "unreadable-build-record",
            Self::Content { .. } => "malformed-build-record",
            Self::ConflictingSources { .. } => "conflicting-sources",
            Self::NoObjects { .. } => "no-objects",
        }
    }
}
