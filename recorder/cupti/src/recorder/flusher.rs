//! The recorder's thread: the periodic flush, so that what a killed process leaves behind is at most a
//! period old; and the end of a process that calls `_exit`, perhaps from a signal handler, where none of
//! this may be done.

use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU8, Ordering};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use super::{Bound, Phase, Recorder, guarded};
use crate::ffi::thread::{kernel_id, spawn_without_signals};

/// How long the end of the process waits for a flush under way, or for the thread to finish. A call into
/// CUPTI that hangs must not keep a process from ending.
const LIMIT: Duration = Duration::from_secs(5);

/// What the thread should do next, besides flushing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Wish {
    None = 0,
    Stop = 1,
    Finish = 2,
}

/// The thread's handle. Only atomics and wake-ups, which a signal handler may use.
#[derive(Debug)]
pub(super) struct Flusher {
    thread: OnceLock<Thread>,
    kernel_id: AtomicI64,
    wish: AtomicU8,
    ended: AtomicBool,
}

impl Flusher {
    pub(super) fn new() -> Self {
        Self {
            thread: OnceLock::new(),
            kernel_id: AtomicI64::new(0),
            wish: AtomicU8::new(Wish::None as u8),
            ended: AtomicBool::new(false),
        }
    }

    /// Starts the thread. Without a period it only waits for the end.
    pub(super) fn start(
        &self,
        recorder: &'static Recorder,
        period: Option<Duration>,
        force_every: u64,
    ) -> io::Result<()> {
        let handle = spawn_without_signals(move || {
            recorder
                .flusher
                .kernel_id
                .store(kernel_id(), Ordering::Release);
            guarded(|| recorder.serve(period, force_every));
            recorder.flusher.ended.store(true, Ordering::Release);
        })?;
        // Set once: `start` is called once.
        let _ = self.thread.set(handle.thread().clone());
        Ok(())
    }

    /// Ends the thread, so that nobody else flushes while the process ends. `false` when it hangs.
    #[must_use]
    pub(super) fn stop(&self) -> bool {
        self.ask(Wish::Stop)
    }

    /// Has the thread finish the recording. Does nothing where there is no thread.
    pub(super) fn finish(&self) {
        self.ask(Wish::Finish);
    }

    /// Whether the thread has ended, is none, or is this one.
    fn ask(&self, wish: Wish) -> bool {
        let Some(flusher) = self.thread.get() else {
            return true;
        };
        if self.kernel_id.load(Ordering::Acquire) == kernel_id() {
            return true;
        }
        self.wish.store(wish as u8, Ordering::Release);
        flusher.unpark();
        let start = Instant::now();
        while !self.ended.load(Ordering::Acquire) && start.elapsed() < LIMIT {
            thread::sleep(Duration::from_micros(100));
        }
        self.ended.load(Ordering::Acquire)
    }

    /// Waits for a period or a wish.
    fn wait(&self, period: Option<Duration>) -> Wish {
        let start = Instant::now();
        loop {
            match self.wish.load(Ordering::Acquire) {
                1 => return Wish::Stop,
                2 => return Wish::Finish,
                _ => {}
            }
            let Some(period) = period else {
                thread::park();
                continue;
            };
            match period.checked_sub(start.elapsed()) {
                Some(left) if !left.is_zero() => thread::park_timeout(left),
                _ => return Wish::None,
            }
        }
    }
}

impl Recorder {
    fn serve(&'static self, period: Option<Duration>, force_every: u64) {
        let mut tick: u64 = 0;
        loop {
            match self.flusher.wait(period) {
                Wish::None => {
                    tick = tick.wrapping_add(1);
                    self.flush(force_every > 0 && tick.is_multiple_of(force_every));
                }
                Wish::Stop => return,
                Wish::Finish => return self.finish(),
            }
        }
    }

    /// Nothing is flushed once another client owns the stream: the buffers are its own.
    fn flush(&self, forced: bool) {
        let Some(Bound { cupti, .. }) = &self.cupti else {
            return;
        };
        if self.phase() != Phase::Collecting {
            return;
        }
        if let Err(status) = cupti.flush(forced) {
            self.cupti_error("periodic-flush", status);
        }
        self.count_drops(cupti);
    }
}
