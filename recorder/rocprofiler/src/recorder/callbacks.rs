//! What the SDK reports while kernels are loaded and run.
//!
//! Look-ups and counts only, except once: the first sign of GPU work is in the file before the process can
//! do anything with the GPU.

use std::sync::atomic::Ordering;

use super::{Phase, Recorder, SESSION, forked, ours};
use crate::ffi::records::{CodeObjectEvent, Delivery};

/// Code was loaded or unloaded.
pub(crate) fn note_code_object(event: &CodeObjectEvent<'_>) {
    // Unloading tells nothing that loading has not told, and reaches every forked child that exits.
    let recorder = if event.is_load() {
        forked::ours_or_new()
    } else {
        ours()
    };
    let (Some(recorder), Some(session)) = (recorder, SESSION.get()) else {
        return;
    };
    recorder.gpu_active();
    if !event.is_load() {
        return;
    }
    if let Some(symbol) = event.symbol(&session.validated.layout) {
        let urgent = recorder.kernels(|kernels| {
            match symbol {
                Ok(symbol) => kernels.register(symbol),
                Err(word) => kernels.error(word),
            }
            kernels.is_urgent()
        });
        recorder.wake_writer(urgent);
    }
    recorder.note_late();
}

/// Kernels ran.
pub(crate) fn note_dispatches(delivery: &Delivery<'_>, drop_count: u64) {
    let recorder = if delivery.is_empty() {
        ours()
    } else {
        forked::ours_or_new()
    };
    let (Some(recorder), Some(session)) = (recorder, SESSION.get()) else {
        return;
    };
    if !delivery.is_empty() {
        recorder.gpu_active();
    }
    let layout = session.validated.layout;
    let urgent = recorder.kernels(|kernels| {
        kernels.lost(drop_count);
        match delivery.dispatches(layout) {
            Ok(dispatches) => {
                for dispatch in dispatches {
                    match dispatch {
                        Ok(dispatch) => kernels.dispatched(dispatch),
                        Err(word) => kernels.unreadable(word),
                    }
                }
            }
            Err(word) => kernels.error(word),
        }
        kernels.is_urgent()
    });
    recorder.wake_writer(urgent);
    if !delivery.is_empty() {
        recorder.note_late();
    }
}

impl Recorder {
    /// Makes sure that the file says that the GPU is used, before this returns on any thread. Once.
    fn gpu_active(&self) {
        if self.active.load(Ordering::Acquire) {
            return;
        }
        self.trace.with(|trace| {
            if !self.active.load(Ordering::Acquire) {
                // On failure the file has been emptied, which says that something was here.
                let _ = trace.gpu_active();
                self.active.store(true, Ordering::Release);
            }
        });
    }

    fn wake_writer(&self, urgent: bool) {
        if urgent {
            self.writer.wake();
        }
    }

    /// What comes after the footer must not go unseen.
    fn note_late(&self) {
        if self.phase() == Phase::Ended {
            self.error("activity-after-end");
            self.write_queued();
        }
    }
}
