//! A trace that many threads write to.

use std::sync::{Mutex, PoisonError};

use crate::ffi::Quiet;
use crate::trace::Trace;

/// A [`Trace`] behind a lock, bound to the process that started it.
///
/// While the lock is held no signal handler runs on the thread, so a handler that ends the process
/// cannot meet its own lock; and a child after `fork`, which may have inherited the lock in any state,
/// is kept out by its pid.
pub struct Shared {
    pid: u32,
    trace: Mutex<Trace>,
}

impl Shared {
    /// Shares a trace of this process.
    pub fn new(trace: Trace) -> Self {
        Self {
            pid: std::process::id(),
            trace: Mutex::new(trace),
        }
    }

    /// Whether this process started the trace, and is not a forked child of the one that did.
    pub fn is_ours(&self) -> bool {
        self.pid == std::process::id()
    }

    /// Runs `work` on the trace and writes what it queued. `None`, without touching anything, in a
    /// forked child. `work` must not call into a GPU library: that could call back for the same lock.
    pub fn with<R>(&self, work: impl FnOnce(&mut Trace) -> R) -> Option<R> {
        if !self.is_ours() {
            return None;
        }
        let _quiet = Quiet::enter();
        let mut trace = self.trace.lock().unwrap_or_else(PoisonError::into_inner);
        let result = work(&mut trace);
        trace.flush();
        Some(result)
    }
}
