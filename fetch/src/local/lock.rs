//! The one lock of an output folder, taken at most once per run and shared by the backends' threads.

use super::{Layout, Staging};
use crate::error::FetchError;
use kernrec_store::fsio::{self, Lock};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Taken by the first backend that has something to change, held until the run is over.
#[derive(Debug)]
pub(crate) struct FolderLock<'a> {
    layout: &'a Layout,
    deadline: Instant,
    held: Mutex<Option<Lock>>,
}

impl<'a> FolderLock<'a> {
    pub(crate) fn new(layout: &'a Layout, wait: Duration) -> Self {
        let now = Instant::now();
        Self {
            layout,
            deadline: now.checked_add(wait).unwrap_or(now),
            held: Mutex::new(None),
        }
    }

    /// Waits for the lock, makes the folders, and clears away what dead fetchers left.
    pub(crate) fn acquire(&self) -> Result<(), FetchError> {
        let mut held = self.held();
        if held.is_some() {
            return Ok(());
        }
        fsio::create_dir_all(self.layout.out())?;
        let wait = self.deadline.saturating_duration_since(Instant::now());
        let lock = Lock::exclusive(&self.layout.lock(), wait)?;
        fsio::create_dir_all(&self.layout.records())?;
        Staging::sweep(self.layout);
        *held = Some(lock);
        Ok(())
    }

    pub(crate) fn is_held(&self) -> bool {
        self.held().is_some()
    }

    fn held(&self) -> MutexGuard<'_, Option<Lock>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
