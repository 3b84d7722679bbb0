//! The thread that writes the file. Callbacks never do: while one runs, completed kernels wait.

use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, Thread};

use super::{Recorder, guarded};
use crate::ffi::thread::spawn_without_signals;
use crate::kernels::Kernels;

/// The thread's handle.
#[derive(Debug, Default)]
pub(super) struct Writer {
    thread: OnceLock<Thread>,
    ended: AtomicBool,
}

impl Writer {
    pub(super) fn start(&self, recorder: &'static Recorder) -> io::Result<()> {
        let handle = spawn_without_signals("kernrec-write", move || {
            guarded("writer_thread_failed", || recorder.serve_writes());
        })?;
        // Set once: `start` is called once.
        let _ = self.thread.set(handle.thread().clone());
        // What was queued meanwhile found nobody to wake.
        self.wake();
        Ok(())
    }

    pub(super) fn wake(&self) {
        if let Some(thread) = self.thread.get() {
            thread.unpark();
        }
    }

    /// Ends the thread, some time soon: it may be about to find nothing left to write.
    pub(super) fn stop(&self) {
        self.ended.store(true, Ordering::Release);
        self.wake();
    }
}

impl Recorder {
    fn serve_writes(&self) {
        while !self.writer.ended.load(Ordering::Acquire) {
            self.write_queued();
            thread::park();
        }
    }

    /// Moves the queue into the file. The queue is taken under the file's lock, so that nothing is on its
    /// way when somebody else writes the footer.
    pub(super) fn write_queued(&self) {
        self.trace
            .with(|trace| self.kernels(Kernels::take).write_to(trace));
    }
}
