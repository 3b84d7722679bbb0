//! Questions to a git repository, asked of the `git` program and never guessed.
//!
//! Ordering a publish, dating a record, choosing the record of an ancestor, what a pull request changes: whoever needs
//! git asks here, so that a failure has one word wherever it is met.
#![warn(missing_docs)]

mod blobs;
mod diff;
mod error;
mod lines;
mod program;
mod range;
mod repo;

pub use blobs::{Blobs, MAX_BLOB_BYTES};
pub use diff::{BlobId, Diff, Entry, EntryKind, FileChange};
pub use error::GitError;
pub use lines::{Hunk, changed_lines};
pub use range::{DiffRange, RangeError};
pub use repo::{ObjectId, Repo};
