//! An I/O error with what was tried and on which path.

use std::io;
use std::path::{Path, PathBuf};

/// A failed file operation.
#[derive(Debug, thiserror::Error)]
#[error("{action} `{}`: {source}", path.display())]
pub struct FsError {
    /// What was tried, for example "write".
    pub action: &'static str,
    /// The path it was tried on.
    pub path: PathBuf,
    /// What the system said.
    pub source: io::Error,
}

impl FsError {
    /// Adds action and path to an error.
    pub fn new(action: &'static str, path: &Path, source: io::Error) -> Self {
        Self {
            action,
            path: path.to_path_buf(),
            source,
        }
    }

    /// For `map_err`.
    pub fn on<'a>(action: &'static str, path: &'a Path) -> impl FnOnce(io::Error) -> Self + 'a {
        move |source| Self::new(action, path, source)
    }
}
