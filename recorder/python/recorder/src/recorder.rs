//! The recording that all threads of a process reach, right over `fork`.

use crate::recording::Recording;
use crate::setup::{Setup, Trouble};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};

/// The process's recording behind a lock.
///
/// A forked child goes on in the recording it inherited, under its own name, unless another thread of its
/// parent held the lock at that moment: nobody will ever give it back, so the child starts afresh and says so.
/// That the process was forked is seen from its id at the first use; a hook only makes it sooner.
pub struct Recorder {
    setup: Arc<Setup>,
    first: Generation,
}

struct Generation {
    process: AtomicU32,
    recording: Mutex<Recording>,
    /// Takes over in a child that found the lock held.
    next: OnceLock<Box<Generation>>,
}

impl Generation {
    fn new(recording: Recording) -> Self {
        Self {
            process: AtomicU32::new(std::process::id()),
            recording: Mutex::new(recording),
            next: OnceLock::new(),
        }
    }
}

impl Recorder {
    /// Starts recording this process.
    pub fn new(setup: Setup) -> Self {
        let setup = Arc::new(setup);
        Self {
            first: Generation::new(Recording::new(Arc::clone(&setup))),
            setup,
        }
    }

    /// The names of the watched packages.
    pub fn roots(&self) -> &[String] {
        &self.setup.roots
    }

    /// Runs `work` on the recording. It must not call into Python, which could come back for the same lock.
    pub fn with<R>(&self, work: impl FnOnce(&mut Recording) -> R) -> R {
        work(&mut self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, Recording> {
        let me = std::process::id();
        let mut generation = &self.first;
        loop {
            if let Some(next) = generation.next.get() {
                generation = next;
                continue;
            }
            let parent = generation.process.load(Ordering::Relaxed);
            if parent == me {
                let lock = generation.recording.lock();
                return lock.unwrap_or_else(PoisonError::into_inner);
            }
            let mut recording = match generation.recording.try_lock() {
                Ok(recording) => recording,
                Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
                Err(TryLockError::WouldBlock) => {
                    generation = generation.next.get_or_init(|| self.afresh(parent));
                    continue;
                }
            };
            recording.become_child(parent);
            generation.process.store(me, Ordering::Relaxed);
            return recording;
        }
    }

    fn afresh(&self, parent: u32) -> Box<Generation> {
        let mut recording = Recording::new(Arc::clone(&self.setup));
        recording.become_child(parent);
        recording.trouble(Trouble::ForkWithHeldLock);
        Box::new(Generation::new(recording))
    }
}
