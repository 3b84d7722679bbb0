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
            source: plain(source),
        }
    }

    /// For `map_err`.
    pub fn on<'a>(action: &'static str, path: &'a Path) -> impl FnOnce(io::Error) -> Self + 'a {
        move |source| Self::new(action, path, source)
    }
}

/// What the system said, without `fs_err`'s own sentence around it: whoever wraps the error names the path.
pub(crate) fn plain(error: io::Error) -> io::Error {
    let inner = error.get_ref().and_then(|inner| inner.source());
    let code = inner
        .and_then(|cause| cause.downcast_ref::<io::Error>())
        .and_then(io::Error::raw_os_error);
    code.map_or(error, io::Error::from_raw_os_error)
}
