//! The folder of one collection: what an earlier one left is removed first, and nothing else.

use kernrec_store::fsio::{self, FsError, Lock, LockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

const BUNDLES: &str = "bundles";
const MAPS: &str = "maps";
/// The report as JSON.
pub const RESULT: &str = "result.json";
/// The report as Markdown.
pub const ANNOTATION: &str = "annotation.md";
/// The jobs list, if the CI system told one.
pub const JOBS: &str = "jobs.json";

/// Why the folder cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkplaceError {
    /// Another collection works in it.
    #[error("another collection works there: {0}")]
    Busy(#[source] LockError),
    /// A file operation failed.
    #[error(transparent)]
    Fs(#[from] FsError),
}

impl WorkplaceError {
    /// The stable word.
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::Busy(_) => "collection-busy",
            Self::Fs(_) => "file-error",
        }
    }
}

/// The folder, held by this process.
#[derive(Debug)]
pub struct Workplace {
    dir: PathBuf,
    _lock: Lock,
}

impl Workplace {
    /// Takes the folder and empties what is ours in it; `table` is the name of the table's file.
    pub fn take(dir: &Path, table: &str) -> Result<Self, WorkplaceError> {
        fsio::create_dir_all(dir)?;
        let lock =
            Lock::exclusive(&dir.join(".lock"), Duration::ZERO).map_err(WorkplaceError::Busy)?;
        let place = Self {
            // The agent works in folders of its own.
            dir: std::path::absolute(dir).map_err(FsError::on("name", dir))?,
            _lock: lock,
        };
        for folder in [BUNDLES, MAPS] {
            fsio::remove_dir_all(&place.dir.join(folder))?;
            fsio::create_dir_all(&place.dir.join(folder))?;
        }
        for file in [RESULT, ANNOTATION, JOBS, table] {
            let path = place.path(file);
            match fs_err::remove_file(&path) {
                Err(e) if e.kind() != io::ErrorKind::NotFound => {
                    return Err(FsError::new("remove", &path, e).into());
                }
                _ => {}
            }
        }
        Ok(place)
    }

    /// The folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// A file in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// Where what one upload holds is put.
    pub(crate) fn bundles(&self, upload: &str) -> PathBuf {
        self.dir.join(BUNDLES).join(upload)
    }

    /// Where the maps of one upload are put.
    pub(crate) fn maps(&self, upload: &str) -> PathBuf {
        self.dir.join(MAPS).join(upload)
    }

    /// A path below the folder, as people see it.
    pub(crate) fn shown(&self, path: &Path) -> String {
        let below = path.strip_prefix(&self.dir).unwrap_or(path);
        below.display().to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::{RESULT, Workplace};

    #[test]
    fn what_an_earlier_collection_left_goes_and_the_rest_stays() {
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().join("out");
        let elsewhere = dir.path().join("elsewhere");
        fs_err::create_dir_all(&elsewhere).unwrap();
        fs_err::write(elsewhere.join("kept"), "").unwrap();
        fs_err::create_dir_all(out.join("bundles/j/.kernrec")).unwrap();
        std::os::unix::fs::symlink(&elsewhere, out.join("maps")).unwrap();
        for file in [RESULT, "kernel_table.json.gz", "mine"] {
            fs_err::write(out.join(file), "").unwrap();
        }
        let place = Workplace::take(&out, "kernel_table.json.gz").unwrap();
        assert!(!place.bundles("j").exists());
        assert!(!place.path("maps").is_symlink());
        assert!(!place.path(RESULT).exists() && !place.path("kernel_table.json.gz").exists());
        assert!(place.path("mine").exists() && elsewhere.join("kept").exists());
        let second = Workplace::take(&out, "kernel_table.json.gz").unwrap_err();
        assert_eq!(second.reason(), "collection-busy");
    }
}
