//! Children after `fork`.
//!
//! A child inherits our callbacks, the SDK's buffer with records of its parent that were not delivered,
//! and locks in any state. Nothing of the parent's [`Recorder`] is used but its existence: a child that
//! the SDK reaches gets a recorder of its own, whose recording says so and is never clean.

use std::process;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use kernrec_trace_writer::{Backend, Header, Trace};

use super::{Phase, Recorder, SESSION, Session, guarded, installed, ours};
use crate::ffi;

/// Of the process that makes, or has made, a recorder after `fork`.
static MAKER: AtomicU32 = AtomicU32::new(0);
/// Of the process that could not.
static FAILED: AtomicU32 = AtomicU32::new(0);

/// This process's recorder; in a forked child, made now if need be. `None` where no file can be made.
pub(super) fn ours_or_new() -> Option<&'static Recorder> {
    installed()?;
    if let Some(recorder) = ours() {
        return Some(recorder);
    }
    let pid = process::id();
    if MAKER.swap(pid, Ordering::AcqRel) == pid {
        return wait(pid);
    }
    // A panic must not leave the others waiting.
    let recorder = guarded("panic", make).flatten();
    if recorder.is_none() {
        FAILED.store(pid, Ordering::Release);
    }
    recorder
}

/// Another thread makes it. There is no lock to wait on: a lock could have been inherited.
fn wait(pid: u32) -> Option<&'static Recorder> {
    loop {
        if let Some(recorder) = ours() {
            return Some(recorder);
        }
        if FAILED.load(Ordering::Acquire) == pid {
            return None;
        }
        thread::sleep(Duration::from_micros(100));
    }
}

fn make() -> Option<&'static Recorder> {
    let session: &'static Session = SESSION.get()?;
    let header = Header {
        backend: Backend::Rocm,
        forked: true,
        fields: &[],
    };
    let mut trace = Trace::create(&session.options.folder, &header).ok()?;
    trace.error("fork_after_sdk_init");
    trace.flush();
    let recorder = Recorder::new(trace, true);
    recorder.enter(Phase::Tracing);
    let recorder = recorder.install();
    recorder.run(session);
    Some(recorder)
}

/// The reference behind a pointer that [`Recorder::install`] stored.
pub(super) fn reference(pointer: *mut Recorder) -> Option<&'static Recorder> {
    ffi::shared_reference(pointer)
}
