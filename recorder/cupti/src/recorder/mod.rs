//! The recorder of this process.
//!
//! One per process, made by [`start`] and never unmade. Its phase only moves forward:
//! collecting, then aside (another client owns the stream of records, or we never could have it), then
//! ended. Each file is one part of its life.

mod collect;
mod finish;
mod flusher;
mod start;
mod watching;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::{Once, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use kernrec_cupti_watch::Event;
use kernrec_trace_writer::{Backend, Header, Shared, Trace};

use crate::buffers::Buffers;
use crate::ffi::library::{Cupti, Status};

pub(crate) use collect::{lend_buffer, take_buffer};
pub(crate) use finish::{finish, finish_before_exit};
pub(crate) use start::start;
pub(crate) use watching::{after, before};

static RECORDER: OnceLock<Recorder> = OnceLock::new();

struct Recorder {
    trace: Shared,
    folder: PathBuf,
    cupti: Option<Bound>,
    buffers: Buffers,
    phase: AtomicU8,
    /// Another client's taking of the stream went through.
    taken: AtomicBool,
    /// A bit per event whose error word is in the recording.
    reported: AtomicU64,
    /// Driver records received. The final probe asks for them; other clients may too.
    driver_records: AtomicU64,
    has_forwarders: bool,
    flusher: flusher::Flusher,
    finishing: AtomicBool,
}

/// The CUPTI in use.
struct Bound {
    cupti: Cupti,
    version: u32,
    path: PathBuf,
}

/// What the recorder may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Phase {
    /// CUPTI's callbacks are ours.
    Collecting = 0,
    /// They are not: lend nothing, call nothing.
    Aside = 1,
    /// The footer is written: whatever still comes spoils it.
    Ended = 2,
}

impl Recorder {
    fn phase(&self) -> Phase {
        match self.phase.load(Ordering::Acquire) {
            0 => Phase::Collecting,
            1 => Phase::Aside,
            _ => Phase::Ended,
        }
    }

    /// Moves from one phase to another; `false` when the recorder was not in the first.
    fn move_phase(&self, from: Phase, to: Phase) -> bool {
        self.phase
            .compare_exchange(from as u8, to as u8, Ordering::AcqRel, Ordering::Acquire)
            .is_ok()
    }

    fn error(&self, word: &'static str) {
        self.trace.with(|trace| trace.error(word));
    }

    /// The error of a CUPTI call, with its status for people.
    fn cupti_error(&self, word: &'static str, status: Status) {
        self.trace.with(|trace| trace.failure(word, status));
    }

    /// Writes an event's error word, once.
    fn report(&self, event: Event) {
        let before = self.reported.fetch_or(event.bit(), Ordering::AcqRel);
        if before & event.bit() != 0 {
            return;
        }
        self.trace.with(|trace| match event.error_word() {
            Some(word) => trace.error(word),
            None => trace.comment("note another client subscribed to callbacks"),
        });
    }

    /// Takes every buffer back from CUPTI and waits for those that come late, on CUPTI's own thread.
    fn drain(&self, cupti: &Cupti, word: &'static str) {
        /// Far above what any of these buffers takes to be read.
        const LIMIT: Duration = Duration::from_millis(500);
        if let Err(status) = cupti.flush(true) {
            self.cupti_error(word, status);
        }
        let start = Instant::now();
        while self.buffers.outstanding() > 0 && start.elapsed() < LIMIT {
            thread::sleep(Duration::from_micros(200));
        }
    }

    /// Adds the records CUPTI lost since the last call.
    fn count_drops(&self, cupti: &Cupti) {
        match cupti.dropped() {
            Ok(0) => {}
            Ok(records) => {
                self.trace.with(|trace| trace.dropped(records));
            }
            Err(status) => self.cupti_error("read-drop-count", status),
        }
    }
}

/// The recorder, if this process is the one that started it. A forked child that reaches this through
/// CUPTI gets a recording of its own that says so, and nothing else.
fn ours() -> Option<&'static Recorder> {
    let recorder = RECORDER.get()?;
    if recorder.trace.is_ours() {
        return Some(recorder);
    }
    mark_forked_child(recorder);
    None
}

/// The inherited recorder describes the parent and its locks may be in any state, so only its folder's
/// name is used.
fn mark_forked_child(inherited: &Recorder) {
    static MARKED: AtomicU32 = AtomicU32::new(0);
    let pid = std::process::id();
    if MARKED.swap(pid, Ordering::AcqRel) == pid {
        return;
    }
    let header = Header {
        backend: Backend::Cuda,
        forked: true,
        fields: &[],
    };
    if let Ok(mut trace) = Trace::create(&inherited.folder, &header) {
        trace.error("fork-after-init");
        trace.flush();
    }
}

/// Runs `work` and lets no panic out: the caller is C.
pub(crate) fn guarded<R>(work: impl FnOnce() -> R) -> Option<R> {
    catch_unwind(AssertUnwindSafe(work))
        .inspect_err(|_| {
            // Nothing more can be done about a second panic.
            let _ = catch_unwind(|| {
                if let Some(recorder) = RECORDER.get() {
                    recorder.error("panic");
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
