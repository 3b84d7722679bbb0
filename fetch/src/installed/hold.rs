//! A reader's claim on a record folder: while it lives, nobody removes the folder.

use super::InstalledError;
use crate::local::HOLD;
use kernrec_store::fsio::{Lock, LockError};
use std::io;
use std::path::Path;
use std::time::Duration;

/// Whoever holds the lock exclusively only renames the folder; this is far more than that takes.
const WAIT: Duration = Duration::from_secs(10);

/// The lock file is not there, or what should be the folder is none.
const ABSENT: [io::ErrorKind; 2] = [io::ErrorKind::NotFound, io::ErrorKind::NotADirectory];

/// A claim, or the knowledge that none can be had here.
#[derive(Debug)]
pub(super) struct Hold {
    _lock: Option<Lock>,
}

impl Hold {
    /// Claims a folder; `None` when it was removed meanwhile, and the link has to be resolved again.
    ///
    /// Without the lock file (a copy made by hand) or without locks (some network mounts) the folder is read
    /// unclaimed: if it is removed under the reader, the reader notices and starts over.
    pub(super) fn claim(folder: &Path) -> Result<Option<Self>, InstalledError> {
        let path = folder.join(HOLD);
        match Lock::shared_existing(&path, WAIT) {
            Ok(lock) if lock.is_at(&path) => Ok(Some(Self { _lock: Some(lock) })),
            Ok(_) => Ok(None),
            Err(LockError::Unsupported { .. }) => Ok(Some(Self { _lock: None })),
            Err(LockError::Open(error)) if ABSENT.contains(&error.source.kind()) => {
                Ok(Some(Self { _lock: None }))
            }
            Err(LockError::Open(error)) => Err(InstalledError::Fs(error)),
            Err(error) => Err(InstalledError::damaged(&path, error.to_string())),
        }
    }
}
