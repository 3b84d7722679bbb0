//! The stream of records.

use std::ptr::NonNull;
use std::sync::atomic::Ordering;

use kernrec_trace_writer::{Observed, Trace};

use super::{Bound, Phase, Recorder, ours};
use crate::ffi::library::Cupti;
use crate::ffi::records::{NamePointer, Record, Records};

/// Records read between two visits to the trace: CUPTI is asked for each record without the lock, and
/// the lock is taken once for all of them.
const BATCH: usize = 256;
/// Kernels remembered by their name's address while one buffer is read.
const RECENT: usize = 512;

/// A buffer for CUPTI; `None` makes it drop records.
pub(crate) fn lend_buffer() -> Option<NonNull<u8>> {
    let recorder = ours()?;
    if recorder.phase() == Phase::Aside {
        // A moment's records while another client takes over, rather than a buffer that it would
        // receive and not know.
        return None;
    }
    let lent = recorder.buffers.lend();
    if lent.is_none() {
        recorder.error("buffer-allocation");
    }
    // Looked at after the buffer was counted as out, so that the end sees either the buffer or this.
    if recorder.phase() == Phase::Ended {
        recorder.error("activity-after-end");
    }
    lent
}

/// A buffer from CUPTI with `valid` bytes of records.
pub(crate) fn take_buffer(buffer: *mut u8, valid: usize) {
    let Some(recorder) = ours() else {
        return;
    };
    let Some(Bound { cupti, .. }) = &recorder.cupti else {
        return;
    };
    recorder.read_buffer(cupti, buffer, valid);
    if recorder.phase() != Phase::Aside {
        recorder.count_drops(cupti);
    }
    // Last: a buffer that is back has been read.
    if !recorder.buffers.take_back(buffer) {
        recorder.error("unknown-buffer");
    }
}

impl Recorder {
    fn read_buffer(&self, cupti: &Cupti, buffer: *mut u8, valid: usize) {
        let mut records = Records::new(cupti, buffer, valid);
        let mut recent = [NamePointer::NULL; RECENT];
        loop {
            let mut kernels = [NamePointer::NULL; BATCH];
            let mut count = 0;
            let mut more = false;
            for record in records.by_ref() {
                match record {
                    Ok(Record::Kernel(name)) => {
                        if let Some(place) = kernels.get_mut(count) {
                            *place = name;
                        }
                        count += 1;
                    }
                    Ok(Record::Graph) => self.error("graph-level-record"),
                    Ok(Record::DriverCall) => {
                        self.driver_records.fetch_add(1, Ordering::AcqRel);
                    }
                    Ok(Record::Other) => {}
                    Err(_) => self.error("read-buffer"),
                }
                if count == BATCH {
                    more = true;
                    break;
                }
            }
            if let Some(kernels) = kernels.get(..count).filter(|kernels| !kernels.is_empty()) {
                self.trace.with(|trace| note(trace, kernels, &mut recent));
            }
            if !more {
                return;
            }
        }
    }
}

/// Adds kernels to the trace. `recent` remembers addresses whose names are in the trace already; it is
/// good for the buffer they came from, and no longer, since CUPTI may reuse an address later.
fn note(trace: &mut Trace, kernels: &[NamePointer], recent: &mut [NamePointer; RECENT]) {
    for name in kernels {
        if name.is_null() {
            trace.observe_unresolved();
            continue;
        }
        let place = name.spread(RECENT);
        if recent.get(place) == Some(name) {
            trace.observe_known();
            continue;
        }
        match trace.observe(name.text()) {
            Observed::Known | Observed::New => {
                if let Some(place) = recent.get_mut(place) {
                    *place = *name;
                }
            }
            Observed::Refused | Observed::Unresolved => {}
        }
    }
}
