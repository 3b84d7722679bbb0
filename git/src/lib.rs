//! Questions to a git repository, asked of the `git` program and never guessed.
//!
//! Ordering a publish, dating a record, choosing the record of an ancestor: whoever needs git asks here, so that a
//! failure has one word wherever it is met.
#![warn(missing_docs)]

mod error;
mod program;
mod repo;

pub use error::GitError;
pub use repo::{ObjectId, Repo};
