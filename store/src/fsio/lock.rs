//! Advisory locks; the only user of fs2.
//!
//! fs2's methods are called fully qualified because std's newer lock methods share their names. The locks
//! are flock: the kernel releases them when the process ends, however it ends. A lock file is never removed:
//! removing one that another process is about to lock would let two hold it. Where the folder around one may
//! go, whoever obtained the lock asks [`Lock::is_at`] whether it still counts.

use super::atomic::parent;
use super::{FsError, create_dir_all};
use fs_err::os::unix::fs::OpenOptionsExt;
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long to sleep between two tries of a contended lock.
const RETRY: Duration = Duration::from_millis(5);

/// Why a lock was not obtained.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LockError {
    /// The lock file could not be opened.
    #[error("open lock: {0}")]
    Open(#[source] FsError),
    /// Another process held it for the whole wait.
    #[error("lock `{}`: another process held it for {waited:?}", path.display())]
    TimedOut {
        /// The lock file.
        path: PathBuf,
        /// How long was waited.
        waited: Duration,
    },
    /// The file system has no locks (some network mounts): exclusion cannot be had, so the work is refused.
    #[error("lock `{}`: the file system does not support locks: {source}", path.display())]
    Unsupported {
        /// The lock file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// A held lock; released on drop or by death.
#[derive(Debug)]
pub struct Lock {
    file: File,
}

impl Lock {
    /// Waits up to `wait` for the exclusive lock.
    pub fn exclusive(path: &Path, wait: Duration) -> Result<Self, LockError> {
        create_dir_all(parent(path)).map_err(LockError::Open)?;
        let file = fs_err::OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o666)
            .open(path)
            .map_err(|e| LockError::Open(FsError::new("open", path, e)))?;
        let try_lock = fs2::FileExt::try_lock_exclusive;
        Self::wait_for(file.into_file(), path, wait, try_lock)
    }

    /// Waits up to `wait` for a shared lock on a file that must exist. Reading it is right enough.
    pub fn shared_existing(path: &Path, wait: Duration) -> Result<Self, LockError> {
        let file = fs_err::OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY)
            .open(path)
            .map_err(|e| LockError::Open(FsError::new("open", path, e)))?;
        Self::wait_for(file.into_file(), path, wait, fs2::FileExt::try_lock_shared)
    }

    /// The exclusive lock on a file that must exist if nobody holds it now, else `None`.
    pub fn try_exclusive_existing(path: &Path) -> Result<Option<Self>, LockError> {
        let file = fs_err::OpenOptions::new()
            .read(true)
            .write(true)
            .open(path)
            .map_err(|e| LockError::Open(FsError::new("open", path, e)))?;
        let try_lock = fs2::FileExt::try_lock_exclusive;
        match Self::wait_for(file.into_file(), path, Duration::ZERO, try_lock) {
            Ok(lock) => Ok(Some(lock)),
            Err(LockError::TimedOut { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Whether the path still names the locked file: it may have been moved or removed before the lock was had.
    pub fn is_at(&self, path: &Path) -> bool {
        let (Ok(held), Ok(there)) = (self.file.metadata(), fs_err::metadata(path)) else {
            return false;
        };
        held.dev() == there.dev() && held.ino() == there.ino()
    }

    fn wait_for(
        file: File,
        path: &Path,
        wait: Duration,
        try_lock: fn(&File) -> io::Result<()>,
    ) -> Result<Self, LockError> {
        let start = Instant::now();
        loop {
            match try_lock(&file) {
                Ok(()) => return Ok(Self { file }),
                Err(e) if e.kind() == fs2::lock_contended_error().kind() => {}
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(source) => {
                    return Err(LockError::Unsupported {
                        path: path.to_path_buf(),
                        source,
                    });
                }
            }
            let waited = start.elapsed();
            if waited >= wait {
                return Err(LockError::TimedOut {
                    path: path.to_path_buf(),
                    waited,
                });
            }
            std::thread::sleep(RETRY.min(wait.saturating_sub(waited)));
        }
    }
}

/// Bytes free for this user on the file system of `path`.
pub fn available_space(path: &Path) -> Result<u64, FsError> {
    fs2::available_space(path).map_err(FsError::on("read the free space of", path))
}
