//! What is known of files on disk, asked once each.

use std::collections::HashMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// A file that exists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Known {
    /// Its path without symlinks.
    pub(crate) real: PathBuf,
    /// Modification time, in nanoseconds since 1970.
    pub(crate) modified: i128,
}

/// A cache over the file system: thousands of objects read the same headers.
#[derive(Debug, Default)]
pub(crate) struct Files {
    cache: Mutex<HashMap<PathBuf, Option<Arc<Known>>>>,
}

impl Files {
    /// The file at `path`, symlinks followed; `None` when there is none.
    pub(crate) fn known(&self, path: &Path) -> Option<Arc<Known>> {
        let lock = || self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(path) {
            return known.clone();
        }
        let known = look(path).map(Arc::new);
        lock().insert(path.to_owned(), known.clone());
        known
    }

    /// Whether a file that is known is still what it was: its time is what vouches for what was read of it.
    pub(crate) fn is_still(path: &Path, known: &Known) -> bool {
        look(path).as_ref() == Some(known)
    }
}

fn look(path: &Path) -> Option<Known> {
    let metadata = fs_err::metadata(path).ok()?;
    let real = fs_err::canonicalize(path).ok()?;
    let seconds = i128::from(metadata.mtime());
    let modified = seconds * 1_000_000_000 + i128::from(metadata.mtime_nsec());
    metadata.is_file().then_some(Known { real, modified })
}

/// `path` without `.` and `..`, by text alone. Right only where no symlink precedes a `..`.
pub(crate) fn lexical(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                clean.pop();
            }
            other => clean.push(other),
        }
    }
    clean
}
