//! CUPTI's activity part: callbacks, enabled kinds, a buffer per thread.
#![expect(unsafe_code, reason = "calls C callbacks and writes C records")]

use std::collections::{HashMap, HashSet};
use std::ffi::{c_char, c_void};
use std::ptr;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

use crate::knobs::Knob;

pub(crate) type Request = unsafe extern "C" fn(*mut *mut u8, *mut usize, *mut usize);
pub(crate) type Complete = unsafe extern "C" fn(*mut c_void, u32, *mut u8, usize, usize);

/// As in CUDA 13.1's records.
pub(crate) const RECORD_BYTES: usize = 224;
const NAME_OFFSET: usize = 104;
const NODE_OFFSET: usize = 144;

/// The kernel kind.
pub(crate) const KERNEL: u32 = 10;
/// The driver call kind.
pub(crate) const DRIVER: u32 = 4;

/// A buffer lent by the client, as an address so that it can cross threads.
struct Buffer {
    start: usize,
    size: usize,
    used: usize,
}

#[derive(Default)]
struct State {
    callbacks: Option<(Request, Complete)>,
    enabled: HashSet<u32>,
    buffers: HashMap<ThreadId, Buffer>,
    dropped: i64,
}

static STATE: LazyLock<Mutex<State>> = LazyLock::new(Mutex::default);

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn register(request: Request, complete: Complete) {
    state().callbacks = Some((request, complete));
}

pub(crate) fn enable(kind: u32) {
    state().enabled.insert(kind);
}

pub(crate) fn disable(kind: u32) {
    state().enabled.remove(&kind);
}

/// The kinds that are enabled.
pub(crate) fn enabled() -> Vec<u32> {
    state().enabled.iter().copied().collect()
}

/// Forgets the client, as `cuptiFinalize` does.
pub(crate) fn finalize() {
    *state() = State::default();
}

pub(crate) fn take_dropped() -> usize {
    let lost = std::mem::take(&mut state().dropped) + Knob::Dropped.take();
    usize::try_from(lost).unwrap_or(0)
}

/// Delivers every buffer; says whether there was one.
pub(crate) fn flush() -> bool {
    let buffers: Vec<Buffer> = state().buffers.drain().map(|(_, buffer)| buffer).collect();
    let some = !buffers.is_empty();
    if Knob::LateDelivery.value() != 0 {
        thread::spawn(move || buffers.iter().for_each(deliver));
    } else {
        buffers.iter().for_each(deliver);
    }
    some
}

fn deliver(buffer: &Buffer) {
    // Whoever is registered now gets it, whoever lent it.
    let Some((_, complete)) = state().callbacks else {
        return;
    };
    // SAFETY: the client's callback, with a buffer that a client lent.
    unsafe {
        complete(
            ptr::null_mut(),
            0,
            buffer.start as *mut u8,
            buffer.size,
            buffer.used,
        );
    }
}

/// Adds a record of an enabled kind to this thread's buffer.
pub(crate) fn record(kind: u32, name: *const c_char, graph_node: u64) {
    if !state().enabled.contains(&kind) {
        return;
    }
    let kind = match Knob::RecordKind.value() {
        0 => kind,
        other => u32::try_from(other).unwrap_or(kind),
    };
    let Some(address) = place() else {
        state().dropped += 1;
        return;
    };
    let record = address as *mut u8;
    // SAFETY: `place` reserved RECORD_BYTES there, in a buffer only this thread writes to.
    unsafe {
        record.cast::<u32>().write_unaligned(kind);
        record
            .add(NAME_OFFSET)
            .cast::<*const c_char>()
            .write_unaligned(name);
        record
            .add(NODE_OFFSET)
            .cast::<u64>()
            .write_unaligned(graph_node);
    }
}

/// Room for a record: in this thread's buffer, or in a new one.
fn place() -> Option<usize> {
    let me = thread::current().id();
    let full = {
        let mut state = state();
        let room = state
            .buffers
            .get_mut(&me)
            .filter(|buffer| buffer.size - buffer.used >= RECORD_BYTES);
        if let Some(buffer) = room {
            buffer.used += RECORD_BYTES;
            return Some(buffer.start + buffer.used - RECORD_BYTES);
        }
        state.buffers.remove(&me)
    };
    if let Some(full) = full {
        deliver(&full);
    }
    let (request, _) = state().callbacks?;
    let (mut start, mut size, mut max) = (ptr::null_mut(), 0, 0);
    // SAFETY: the client's callback and three valid pointers. No lock is held.
    unsafe { request(&raw mut start, &raw mut size, &raw mut max) };
    if start.is_null() || size < RECORD_BYTES {
        return None;
    }
    let buffer = Buffer {
        start: start.addr(),
        size,
        used: RECORD_BYTES,
    };
    state().buffers.insert(me, buffer);
    Some(start.addr())
}
