//! The end of the process: the last records, the proof that they were all, the footer.

use std::sync::atomic::Ordering;

use kernrec_cupti_watch::Event;

use super::{Bound, Phase, RECORDER, Recorder};
use crate::ffi::library::{Cupti, KIND_DRIVER};
use crate::ffi::{mapped, probe, watch};

/// Ends the recording of this process, at its exit. Does nothing in a forked child, which inherits the
/// exit handler.
pub(crate) fn finish() {
    let Some(recorder) = this_process() else {
        return;
    };
    if recorder.flusher.stop() {
        recorder.finish();
    } else {
        // A call into CUPTI does not come back; another one would keep the process from ending.
        recorder.error("flush-thread");
    }
}

/// The same before `_exit`, where the caller may be a signal handler: the recorder's thread does the work.
pub(crate) fn finish_before_exit() {
    if let Some(recorder) = this_process() {
        recorder.flusher.finish();
    }
}

fn this_process() -> Option<&'static Recorder> {
    RECORDER.get().filter(|recorder| recorder.trace.is_ours())
}

impl Recorder {
    /// Takes the last records and writes the footer. Once: another thread may end the process too.
    pub(super) fn finish(&self) {
        if self.finishing.swap(true, Ordering::AcqRel) {
            return;
        }
        let collecting = self.phase() == Phase::Collecting;
        match &self.cupti {
            Some(Bound { cupti, version, .. }) if collecting => {
                self.drain(cupti, "final-flush");
                self.count_drops(cupti);
                self.check_other_clients();
                if self.is_healthy() {
                    self.prove_ownership(cupti, *version);
                }
            }
            // The buffers and callbacks are another client's, whose own exit handlers have run already.
            _ => self.check_other_clients(),
        }
        self.phase.store(Phase::Ended as u8, Ordering::Release);
        if collecting && self.buffers.outstanding() > 0 {
            self.error("outstanding-buffers");
        }
        self.trace.with(kernrec_trace_writer::Trace::finish);
    }

    fn is_healthy(&self) -> bool {
        self.trace
            .with(|trace| trace.totals().errors == 0)
            .unwrap_or(false)
    }

    /// What changed in the process since the start.
    fn check_other_clients(&self) {
        // The forwarders' own memory, for calls that came before this recorder existed.
        let seen = watch::attach().unwrap_or(0);
        for event in Event::ALL {
            if seen & event.bit() != 0 {
                self.report(event);
            }
        }
        let mapped = mapped::count();
        if mapped.copies > 1 {
            self.error("several-cupti-copies");
        }
        if !self.has_forwarders && mapped.has_client {
            self.error("unwatched-cupti-client");
        }
    }

    /// Has CUPTI record a call of the driver that we make, and sees whether the record reaches us. When
    /// another client has taken the callbacks, by whatever way, it does not: CUPTI gives them to nobody
    /// twice and tells nobody.
    fn prove_ownership(&self, cupti: &Cupti, version: u32) {
        match cupti.kernels_enabled(version) {
            None | Some(Ok(true)) => {}
            Some(Ok(false)) => self.error("kernel-activity-disabled"),
            Some(Err(status)) => self.cupti_error("read-enabled-kinds", status),
        }
        // Another client may have enabled such records before.
        let before = self.driver_records.load(Ordering::Acquire);
        if let Err(status) = cupti.enable(KIND_DRIVER) {
            self.cupti_error("ownership-probe", status);
            return;
        }
        let called = probe::call_driver();
        if let Err(status) = cupti.disable(KIND_DRIVER) {
            self.cupti_error("ownership-probe", status);
        }
        self.drain(cupti, "final-flush");
        self.count_drops(cupti);
        if !called || self.driver_records.load(Ordering::Acquire) == before {
            self.error("callbacks-lost");
        }
    }
}
