//! The end of the process: the last records, the proof that they were all, the footer.

use std::time::Duration;

use super::{Bound, Phase, Recorder, SESSION, Session, installed, ours};
use crate::kernels::Kernels;

/// How long a busy buffer is tried again for.
const PATIENCE: Duration = Duration::from_secs(5);
/// Records can be left in one half of the buffer by a flush that meets another; a second takes them.
const FLUSHES: u32 = 2;
/// More of them, while a record is known to be missing.
const MORE_FLUSHES: u32 = 4;

/// Ends the recording. The SDK has stopped the context and waited for the kernels, and is on the thread
/// that ends the process.
pub(crate) fn finish() {
    let Some(session) = SESSION.get() else {
        return;
    };
    match ours() {
        Some(recorder) => recorder.finish(session),
        None if installed().is_some() => finish_child(session),
        None => {}
    }
}

/// In a forked child that did nothing that reached us: whether it dispatched kernels shows in what the
/// buffer holds. That may also be what its parent left there, which is not told apart.
fn finish_child(session: &Session) {
    for _ in 0..FLUSHES {
        if let Some(Bound { sdk, buffer, .. }) = session.bound.get() {
            // A failure is as if nothing had come; there is no recording yet to say it in.
            let _ = sdk.flush(*buffer, PATIENCE);
        }
    }
    if let Some(recorder) = ours() {
        recorder.finish(session);
    }
}

impl Recorder {
    fn finish(&self, session: &Session) {
        if self.phase() == Phase::Ended {
            return;
        }
        self.flusher.stop();
        if self.phase() == Phase::Tracing {
            self.take_the_rest(session);
        }
        self.write_queued();
        self.check_completeness();
        self.enter(Phase::Ended);
        self.trace.with(|trace| {
            // What came since is in the footer, or spoils it.
            self.kernels(Kernels::take).write_to(trace);
            trace.finish();
        });
        self.writer.stop();
    }

    fn take_the_rest(&self, session: &Session) {
        let Some(Bound { sdk, buffer, .. }) = session.bound.get() else {
            return;
        };
        for turn in 0..FLUSHES + MORE_FLUSHES {
            if turn >= FLUSHES && self.missing() == 0 {
                return;
            }
            if let Err(status) = sdk.flush(*buffer, PATIENCE) {
                self.sdk_error("final_flush_failed", status);
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

    fn check_completeness(&self) {
        let (missing, highest, unresolved) = (
            self.missing(),
            self.kernels(|kernels| kernels.ids().highest()),
            self.kernels(|kernels| kernels.unresolved()),
        );
        self.trace.with(|trace| {
            trace.count(0, unresolved);
            // Those that the SDK counted as lost are missing too.
            if missing > trace.totals().dropped {
                trace.comment(&format!(
                    "note {missing} of {highest} dispatches have no record"
                ));
                trace.error("dispatch_records_lost");
            }
        });
    }
}
