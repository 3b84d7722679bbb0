//! Why an object could not be read.

use crate::input::{Fault, Reason};
use std::io;

/// An object whose device code is not known. A map that has one says so.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ObjectError {
    /// The file cannot be opened or read.
    #[error("read object `{object}`")]
    Read {
        /// The object's path, as it was given.
        object: String,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The file's content is not what the format says.
    #[error("read object `{object}` at offset {offset:#x}: {reason}: expected {expected}")]
    Content {
        /// The object's path, as it was given; `path(member)` in an archive.
        object: String,
        /// File offset of the defect, or of the compressed entry that holds it.
        offset: u64,
        /// The stable word.
        reason: Reason,
        /// What should have been there.
        expected: String,
    },
}

impl ObjectError {
    pub(crate) fn of(object: &str, fault: Fault) -> Self {
        let Fault {
            reason,
            offset,
            expected,
        } = fault;
        Self::Content {
            object: object.to_owned(),
            offset,
            reason,
            expected,
        }
    }

    /// The stable word: `unreadable-file`, or one of [`Reason`].
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::Read { .. } => "unreadable-file",
            Self::Content { reason, .. } => reason.word(),
        }
    }
}
