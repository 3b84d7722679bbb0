//! The end of the process: the last records, the proof that they were all, the footer.

use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use super::{Bound, Phase, Recorder, SESSION, Session, forked, installed, ours};
use crate::ffi::abi::Status;
use crate::ffi::thread::spawn_without_signals;

/// How long a busy buffer is tried again for.
const PATIENCE: Duration = Duration::from_secs(5);
/// Records can be left in one half of the buffer by a flush that meets another; a second takes them.
const FLUSHES: u32 = 2;
/// The same again, while a record is known to be missing.
const MORE_TURNS: u32 = 2;
const FAILED: &str = "final_flush_failed";

/// Ends the recording. The SDK has stopped the context and waited for the kernels, and is on the thread
/// that ends the process.
pub(crate) fn finish() {
    let Some(session) = SESSION.get() else {
        return;
    };
    match ours() {
        Some(recorder) => recorder.finish(session),
        None => finish_child(session),
    }
}

/// In a forked child that did nothing that reached us: whether it dispatched kernels shows in what the
/// buffer holds. That may also be what its parent left there, which is not told apart.
fn finish_child(session: &'static Session) {
    // Its parent had loaded no code when it forked, nor has it itself: there is nothing to dispatch.
    if !installed().is_some_and(|parent| parent.active.load(Ordering::Acquire)) {
        return;
    }
    let flushed = flush_in_child(session);
    if !flushed && let Some(recorder) = forked::ours_or_new() {
        recorder.error(FAILED);
    }
    if let Some(recorder) = ours() {
        recorder.finish(session);
    }
}

/// Flushes as often as it takes for everything to come.
fn flush(Bound { sdk, buffer }: &Bound) -> Result<(), Status> {
    (0..FLUSHES).try_for_each(|_| sdk.flush(*buffer, PATIENCE))
}

/// The same on a thread of its own: what the SDK was about to do when its process forked, a child waits for
/// in vain, and its end must not.
fn flush_in_child(session: &'static Session) -> bool {
    let Some(bound) = session.bound.get() else {
        return true;
    };
    let thread = spawn_without_signals("kernrec-flush", move || {
        // A failure is as if nothing had come, and a child's recording is never clean.
        let _ = flush(bound);
    });
    let start = Instant::now();
    thread.is_ok_and(|thread| {
        while !thread.is_finished() && start.elapsed() < PATIENCE {
            thread::sleep(Duration::from_micros(100));
        }
        thread.is_finished()
    })
}

impl Recorder {
    fn finish(&self, session: &'static Session) {
        if self.phase() == Phase::Ended {
            return;
        }
        self.flusher.stop();
        if self.phase() == Phase::Tracing {
            self.take_the_rest(session);
        }
        // What comes from here on says so.
        self.enter(Phase::Ended);
        let missing = self.missing();
        self.trace.with(|trace| {
            let (queue, unresolved) =
                self.kernels(|kernels| (kernels.take(), kernels.unresolved()));
            queue.write_to(trace);
            trace.count(0, unresolved);
            // Those that the SDK counted as lost are missing too.
            if missing > trace.totals().dropped {
                let missing = i32::try_from(missing).unwrap_or(i32::MAX);
                trace.failure("dispatch_records_lost", missing);
            }
            trace.finish();
        });
        self.writer.stop();
    }

    fn take_the_rest(&self, session: &'static Session) {
        if self.forked {
            if !flush_in_child(session) {
                self.error(FAILED);
            }
            return;
        }
        let Some(bound) = session.bound.get() else {
            return;
        };
        for turn in 0..=MORE_TURNS {
            if turn > 0 && self.missing() == 0 {
                return;
            }
            if let Err(status) = flush(bound) {
                self.sdk_error(FAILED, status);
                return;
            }
        }
    }

    /// Dispatches without a record. Unknown in a forked child, whose numbers go on from its parent's.
    fn missing(&self) -> u64 {
        if self.forked {
            return 0;
        }
        self.kernels(|kernels| kernels.ids().missing())
    }
}
