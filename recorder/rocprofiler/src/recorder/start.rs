//! From the SDK's call to the first record.

use std::sync::OnceLock;

use kernrec_trace_writer::{Backend, Header, Trace};

use super::{Bound, Phase, RECORDER, Recorder, SESSION, Session, forked, ours};
use crate::ffi::abi::Status;
use crate::ffi::pin;
use crate::ffi::sdk::{Id, Sdk};
use crate::options::Options;
use crate::versions::validated;

/// Whether to take part: if the environment asks for it, this version of the SDK is one we know, and a
/// recording could be started. `in_sdk` is an address inside the SDK.
pub(crate) fn configure(version: u32, in_sdk: usize, priority: u32) -> bool {
    if !RECORDER
        .load(std::sync::atomic::Ordering::Acquire)
        .is_null()
    {
        called_again();
        return false;
    }
    let Some(options) = Options::from_environment() else {
        return false;
    };
    pin();
    let header = Header {
        backend: Backend::Rocm,
        forked: false,
        fields: &[],
    };
    // Where nothing can be written nothing can be said either; the workload goes on.
    let Ok(trace) = Trace::create(&options.folder, &header) else {
        return false;
    };
    let recorder = Recorder::new(trace, false).install();
    let Some(validated) = validated(version) else {
        recorder.trace.with(|trace| {
            trace.comment(&format!("note this SDK's version is {version}"));
            trace.error("unsupported_sdk_version");
        });
        return false;
    };
    if priority != 0 {
        // It may trace as well; what it does to our records nobody tells us.
        recorder.error("another_profiler_registered_first");
    }
    let session = Session {
        options,
        validated,
        in_sdk,
        bound: OnceLock::new(),
    };
    SESSION.set(session).is_ok()
}

/// An SDK calls a tool once in a process. So either this is a forked child, or another copy of the SDK, whose
/// kernels we would not see.
fn called_again() {
    match ours() {
        Some(recorder) => recorder.error("several_sdk_copies"),
        None => {
            forked::ours_or_new();
        }
    }
}

/// Starts tracing, by the SDK that `bind` finds at an address inside it. `false` when it could not be.
pub(crate) fn start(bind: impl FnOnce(usize) -> Option<Sdk>) -> bool {
    let (Some(session), Some(recorder)) = (SESSION.get(), ours()) else {
        return false;
    };
    let Some(sdk) = bind(session.in_sdk) else {
        recorder.error("sdk_not_found");
        return false;
    };
    let context = match sdk.create_context() {
        Ok(context) => context,
        Err(status) => {
            recorder.sdk_error("create_context_failed", status);
            return false;
        }
    };
    // Before the first record can come.
    recorder.enter(Phase::Tracing);
    match trace(&sdk, context) {
        Ok(buffer) => {
            let bound = Bound { sdk, buffer };
            if session.bound.set(bound).is_ok() {
                recorder.started(session);
            }
            true
        }
        Err((word, status)) => {
            sdk.stop(context);
            recorder.enter(Phase::Idle);
            recorder.sdk_error(word, status);
            false
        }
    }
}

/// Every step with the error word of its failure.
fn trace(sdk: &Sdk, context: Id) -> Result<Id, (&'static str, Status)> {
    let failed = |word| move |status| (word, status);
    sdk.trace_symbols(context)
        .map_err(failed("symbol_tracing_failed"))?;
    let buffer = sdk
        .create_buffer(context)
        .map_err(failed("create_buffer_failed"))?;
    sdk.give_thread(buffer)
        .map_err(failed("callback_thread_failed"))?;
    sdk.trace_dispatches(context, buffer)
        .map_err(failed("dispatch_tracing_failed"))?;
    sdk.start(context).map_err(failed("start_context_failed"))?;
    Ok(buffer)
}

impl Recorder {
    /// From here on the recording may be read as that of an idle process.
    fn started(&'static self, session: &'static Session) {
        let version = session.validated.version;
        self.trace.with(|trace| {
            trace.comment(&format!(
                "sdk_version={version} build_sdk_version={version}"
            ));
        });
        self.run(session);
    }

    /// Starts the threads.
    pub(super) fn run(&'static self, session: &'static Session) {
        if self.writer.start(self).is_err() {
            // Everything is still written, at the end.
            self.error("writer_thread_failed");
        }
        let Some(period) = session.options.flush_period else {
            return;
        };
        if self.flusher.start(self, period).is_err() {
            self.error("periodic_flush_thread_failed");
        }
    }
}
