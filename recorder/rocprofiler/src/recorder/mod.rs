//! The recorder of this process.
//!
//! [`Session`] is what a forked child shares with its parent: the environment's wishes and the SDK's
//! identifiers, none of which change once set. [`Recorder`] is what it does not: file, names and counts.

mod callbacks;
mod finish;
mod flusher;
mod forked;
mod start;
mod writer;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, Ordering};
use std::sync::{Mutex, Once, OnceLock, PoisonError};

use kernrec_trace_writer::{Quiet, Shared, Trace};

use crate::ffi::abi::Status;
use crate::ffi::sdk::{Id, Sdk};
use crate::kernels::Kernels;
use crate::options::Options;
use crate::versions::Validated;

pub(crate) use callbacks::{note_code_object, note_dispatches};
pub(crate) use finish::finish;
pub(crate) use start::{configure, start};

static SESSION: OnceLock<Session> = OnceLock::new();
/// The recorder of this process or, in a forked child that was not reached yet, of its parent. Never freed:
/// callbacks hold it.
static RECORDER: AtomicPtr<Recorder> = AtomicPtr::new(ptr::null_mut());

struct Session {
    options: Options,
    validated: &'static Validated,
    /// An address inside the SDK that called.
    in_sdk: usize,
    bound: OnceLock<Bound>,
}

/// The SDK in use, and what it made for us.
struct Bound {
    sdk: Sdk,
    buffer: Id,
}

struct Recorder {
    trace: Shared,
    kernels: Mutex<Kernels>,
    /// Made by a child after `fork`.
    forked: bool,
    phase: AtomicU8,
    /// `# gpu_active` was written, or the file emptied.
    active: AtomicBool,
    writer: writer::Writer,
    flusher: flusher::Flusher,
}

/// What the recorder does. Only moves forward.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Phase {
    /// Nothing is traced: not yet, or it could not be started.
    Idle = 0,
    Tracing = 1,
    /// The footer is written: whatever still comes spoils it.
    Ended = 2,
}

impl Recorder {
    fn new(trace: Trace, forked: bool) -> Self {
        Self {
            trace: Shared::new(trace),
            kernels: Mutex::default(),
            forked,
            phase: AtomicU8::new(Phase::Idle as u8),
            active: AtomicBool::new(false),
            writer: writer::Writer::default(),
            flusher: flusher::Flusher::default(),
        }
    }

    /// Makes it the process's. It stays for good.
    fn install(self) -> &'static Self {
        let recorder: &'static Self = Box::leak(Box::new(self));
        RECORDER.store(ptr::from_ref(recorder).cast_mut(), Ordering::Release);
        recorder
    }

    fn phase(&self) -> Phase {
        match self.phase.load(Ordering::Acquire) {
            0 => Phase::Idle,
            1 => Phase::Tracing,
            _ => Phase::Ended,
        }
    }

    fn enter(&self, phase: Phase) {
        self.phase.store(phase as u8, Ordering::Release);
    }

    /// Works on what the callbacks know. No signal handler runs meanwhile: one that ends the process would
    /// come back for the lock. `work` must not call into the SDK or write files.
    fn kernels<R>(&self, work: impl FnOnce(&mut Kernels) -> R) -> R {
        let _quiet = Quiet::enter();
        let mut kernels = self.kernels.lock().unwrap_or_else(PoisonError::into_inner);
        work(&mut kernels)
    }

    /// Writes an error word. Not for callbacks.
    fn error(&self, word: &'static str) {
        self.trace.with(|trace| trace.error(word));
    }

    /// The error of an SDK call, with its status for people.
    fn sdk_error(&self, word: &'static str, status: Status) {
        self.trace.with(|trace| trace.failure(word, status));
    }
}

/// The recorder that was installed last, this process's or its parent's.
fn installed() -> Option<&'static Recorder> {
    forked::reference(RECORDER.load(Ordering::Acquire))
}

/// The recorder of this process.
fn ours() -> Option<&'static Recorder> {
    installed().filter(|recorder| recorder.trace.is_ours())
}

/// Runs `work` and lets no panic out: the caller is C.
pub(crate) fn guarded<R>(error_word: &'static str, work: impl FnOnce() -> R) -> Option<R> {
    catch_unwind(AssertUnwindSafe(work))
        .inspect_err(|_| {
            // Nothing more can be done about a second panic.
            let _ = catch_unwind(|| {
                if let Some(recorder) = ours() {
                    recorder.error(error_word);
                }
            });
        })
        .ok()
}

/// Keeps a panic's message off the workload's standard error. The hook is that of this library's own
/// copy of the standard library.
pub(crate) fn silence_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| std::panic::set_hook(Box::new(|_| {})));
}
