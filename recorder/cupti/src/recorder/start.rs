//! From the driver's call to the first record.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64};
use std::time::Duration;

use kernrec_cupti_watch::Event;
use kernrec_trace_writer::{Backend, Header, Shared, Trace};

use super::{Bound, Phase, RECORDER, Recorder, flusher, ours};
use crate::buffers::Buffers;
use crate::ffi::library::{Cupti, KIND_KERNEL};
use crate::ffi::{at_exit, mapped, watch};
use crate::locate::{Mapped, candidates};
use crate::options::Options;

/// Starts recording if the environment asks for it. A second call, in the same process or a forked
/// child, starts nothing.
pub(crate) fn start() {
    if RECORDER.get().is_some() {
        // Marks a forked child's recording.
        ours();
        return;
    }
    let Some(options) = Options::from_environment() else {
        return;
    };
    let seen = watch::attach();
    let header = Header {
        backend: Backend::Cuda,
        forked: false,
        fields: &[("forwarders", if seen.is_some() { "yes" } else { "no" })],
    };
    // Where nothing can be written nothing can be said either; the workload goes on.
    let Ok(trace) = Trace::create(&options.folder, &header) else {
        return;
    };
    let mapped = mapped::survey();
    let cupti = bind(&options, &mapped);
    let recorder = Recorder {
        trace: Shared::new(trace),
        folder: options.folder,
        cupti,
        buffers: Buffers::new(),
        phase: AtomicU8::new(Phase::Aside as u8),
        taken: AtomicBool::new(false),
        reported: AtomicU64::new(0),
        driver_records: AtomicU64::new(0),
        has_forwarders: seen.is_some(),
        flusher: flusher::Flusher::new(),
        finishing: AtomicBool::new(false),
    };
    if RECORDER.set(recorder).is_err() {
        return;
    }
    if let Some(recorder) = RECORDER.get() {
        recorder.begin(&mapped, seen.unwrap_or(0));
        recorder.run(options.flush_period, options.force_every);
    }
}

/// The mapped CUPTI, else the first that can be loaded, if it works with this driver.
fn bind(options: &Options, mapped: &Mapped) -> Option<Bound> {
    let (cupti, path) = match mapped.cupti.first() {
        Some(path) => (Cupti::open(path, true)?, path.clone()),
        None => candidates(mapped, options.cupti_path.as_deref())
            .into_iter()
            .find_map(|path| Some((Cupti::open(&path, false)?, path)))?,
    };
    let version = cupti.version().ok()?;
    Some(Bound {
        cupti,
        version,
        path,
    })
}

impl Recorder {
    /// Takes the stream of records, unless somebody could be hurt by it.
    fn begin(&self, mapped: &Mapped, seen: u64) {
        let happened = |event: &Event| seen & event.bit() != 0;
        for event in Event::ALL.into_iter().filter(happened) {
            self.report(event);
        }
        if mapped.cupti.len() > 1 {
            self.error("several-cupti-copies");
        }
        let Some(bound) = &self.cupti else {
            self.error("cupti-unavailable");
            return;
        };
        self.trace.with(|trace| {
            trace.comment(&format!("cupti_version={}", bound.version));
            trace.comment(&format!("cupti_path={}", bound.path.display()));
        });
        let mut occupied = Event::ALL.into_iter().filter(happened);
        if occupied.any(|event| event.takes_the_stream() || event == Event::ModeChanged) {
            // Registering now would take the records from a client that was here first.
            return;
        }
        if !self.has_forwarders && mapped.has_client {
            // Its profiler would lose the records in the buffers we hold when it starts, and we would
            // not notice that it did.
            self.error("unwatched-cupti-client");
            return;
        }
        self.collect(&bound.cupti);
    }

    fn collect(&self, cupti: &Cupti) {
        if let Err(status) = cupti.buffers_are_zeroed() {
            // CUPTI then clears them itself: slower, not less complete.
            self.trace
                .with(|trace| trace.comment(&format!("note zeroed buffers refused={status}")));
        }
        self.move_phase(Phase::Aside, Phase::Collecting);
        if let Err(status) = cupti.register() {
            self.cupti_error("register-callbacks", status);
            self.move_phase(Phase::Collecting, Phase::Aside);
            return;
        }
        if let Err(status) = cupti.enable(KIND_KERNEL) {
            self.cupti_error("enable-kernel-activity", status);
        }
    }

    /// Arranges for what happens later: flushes, and the end.
    fn run(&'static self, period: Option<Duration>, force_every: u64) {
        if !at_exit() {
            self.error("register-atexit");
        }
        if self.phase() != Phase::Collecting {
            return;
        }
        if self.flusher.start(self, period, force_every).is_err() {
            self.error("flush-thread");
        }
    }
}
