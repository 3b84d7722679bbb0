//! The thread that has the SDK hand over records, so that what a killed process leaves behind is at most
//! a period old.

use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use super::{Bound, Phase, Recorder, SESSION, guarded};
use crate::ffi::abi::BUFFER_BUSY;
use crate::ffi::thread::spawn_without_signals;

/// How long the end of the process waits for a flush under way. A call into the SDK that hangs must not
/// keep a process from ending.
const LIMIT: Duration = Duration::from_secs(5);
/// A buffer that is busy is being handed over already.
const PATIENCE: Duration = Duration::from_millis(100);

/// The thread's handle.
#[derive(Debug, Default)]
pub(super) struct Flusher {
    thread: OnceLock<Thread>,
    stop: AtomicBool,
    ended: AtomicBool,
}

impl Flusher {
    pub(super) fn start(&self, recorder: &'static Recorder, period: Duration) -> io::Result<()> {
        let handle = spawn_without_signals("kernrec-flush", move || {
            guarded("periodic_flush_thread_failed", || {
                recorder.serve_flushes(period);
            });
            recorder.flusher.ended.store(true, Ordering::Release);
        })?;
        // Set once: `start` is called once.
        let _ = self.thread.set(handle.thread().clone());
        Ok(())
    }

    /// Ends the thread, so that nobody else flushes while the process ends.
    pub(super) fn stop(&self) {
        self.stop.store(true, Ordering::Release);
        let Some(thread) = self.thread.get() else {
            return;
        };
        thread.unpark();
        let start = Instant::now();
        while !self.ended.load(Ordering::Acquire) && start.elapsed() < LIMIT {
            thread::sleep(Duration::from_micros(100));
        }
    }

    /// Waits for a period; `false` when it is time to end.
    fn wait(&self, period: Duration) -> bool {
        let start = Instant::now();
        loop {
            if self.stop.load(Ordering::Acquire) {
                return false;
            }
            match period.checked_sub(start.elapsed()) {
                Some(left) if !left.is_zero() => thread::park_timeout(left),
                _ => return true,
            }
        }
    }
}

impl Recorder {
    fn serve_flushes(&self, period: Duration) {
        while self.flusher.wait(period) {
            let Some(Bound { sdk, buffer, .. }) = SESSION.get().and_then(|s| s.bound.get()) else {
                continue;
            };
            if self.phase() != Phase::Tracing {
                return;
            }
            match sdk.flush(*buffer, PATIENCE) {
                Ok(()) | Err(BUFFER_BUSY) => {}
                Err(status) => self.sdk_error("periodic_flush_failed", status),
            }
        }
    }
}
