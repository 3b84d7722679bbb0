//! The C functions: CUPTI's, the driver's one, and the test's own (`fake_…`).
#![expect(unsafe_code, reason = "exports C functions")]

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr;
use std::sync::Mutex;

use crate::activity::{self, Complete, DRIVER, KERNEL, RECORD_BYTES, Request};
use crate::knobs::{self, Knob};

const MAX_LIMIT_REACHED: c_int = 12;
const INVALID_KIND: c_int = 21;

/// Launches a kernel; a null name is one that CUPTI cannot name.
#[unsafe(no_mangle)]
extern "C" fn fake_launch(name: *const c_char, graph_node: u64) {
    activity::record(KERNEL, intern(name), graph_node);
}

/// Sets a knob.
#[unsafe(no_mangle)]
extern "C" fn fake_set(knob: u32, value: i64) {
    knobs::set(knob, value);
}

/// The driver's function: recorded when driver calls are.
#[unsafe(no_mangle)]
extern "C" fn cuDriverGetVersion(version: *mut c_int) -> c_int {
    // SAFETY: the caller's pointer.
    unsafe { *version = 13_000 };
    activity::record(DRIVER, ptr::null(), 0);
    0
}

#[unsafe(no_mangle)]
extern "C" fn cuptiGetVersion(version: *mut u32) -> c_int {
    let value = match Knob::Version.value() {
        0 => 130_001,
        other => u32::try_from(other).unwrap_or(0),
    };
    // SAFETY: the caller's pointer.
    unsafe { *version = value };
    0
}

#[unsafe(no_mangle)]
extern "C" fn cuptiActivityRegisterCallbacks(request: Request, complete: Complete) -> c_int {
    let status = Knob::RegisterStatus.status();
    if status == 0 {
        activity::register(request, complete);
    }
    status
}

#[unsafe(no_mangle)]
extern "C" fn cuptiActivityEnable(kind: u32) -> c_int {
    let status = Knob::EnableStatus.status();
    if status == 0 {
        activity::enable(kind);
    }
    status
}

#[unsafe(no_mangle)]
extern "C" fn cuptiActivityDisable(kind: u32) -> c_int {
    activity::disable(kind);
    Knob::DisableStatus.status()
}

#[unsafe(no_mangle)]
extern "C" fn cuptiActivityFlushAll(flag: u32) -> c_int {
    let status = Knob::FlushStatus.status();
    let is_forced = flag & 1 != 0;
    let flushes = status == 0 && (is_forced || Knob::Unfinished.value() == 0);
    if flushes && activity::flush() {
        while Knob::FlushHangs.value() != 0 {
            std::thread::park();
        }
    }
    status
}

#[unsafe(no_mangle)]
extern "C" fn cuptiActivityGetNextRecord(
    buffer: *mut u8,
    valid: usize,
    record: *mut *mut u8,
) -> c_int {
    if Knob::BadRecordAt.count_down() {
        return INVALID_KIND;
    }
    // SAFETY: the caller's pointer, null or a record of this buffer.
    let at = unsafe { *record };
    let next = if at.is_null() {
        buffer
    } else {
        at.wrapping_add(RECORD_BYTES)
    };
    if next.addr() - buffer.addr() >= valid {
        return MAX_LIMIT_REACHED;
    }
    // SAFETY: the caller's pointer.
    unsafe { *record = next };
    0
}

#[unsafe(no_mangle)]
extern "C" fn cuptiActivityGetNumDroppedRecords(
    _context: *mut c_void,
    _stream: u32,
    dropped: *mut usize,
) -> c_int {
    let status = Knob::DroppedStatus.status();
    if status == 0 {
        // SAFETY: the caller's pointer.
        unsafe { *dropped = activity::take_dropped() };
    }
    status
}

/// As from CUDA 13.2 on: `kinds` has room for `bytes`, `count` says how many there are.
#[unsafe(no_mangle)]
extern "C" fn cuptiActivityGetEnabledKinds(
    _subscriber: *mut c_void,
    kinds: *mut u32,
    bytes: *mut usize,
    count: *mut usize,
) -> c_int {
    let enabled = activity::enabled();
    // SAFETY: the caller's pointers, and no more kinds than it has room for.
    unsafe {
        *count = enabled.len().min(*bytes / size_of::<u32>());
        ptr::copy_nonoverlapping(enabled.as_ptr(), kinds, *count);
    }
    Knob::KindsStatus.status()
}

#[unsafe(no_mangle)]
extern "C" fn cuptiActivitySetAttribute(_: u32, _: *mut usize, _: *mut c_void) -> c_int {
    0
}

#[unsafe(no_mangle)]
extern "C" fn cuptiSubscribe(_: *mut c_void, _: *mut c_void, _: *mut c_void) -> c_int {
    0
}

#[unsafe(no_mangle)]
extern "C" fn cuptiFinalize() -> c_int {
    activity::finalize();
    0
}

/// CUPTI owns the names of kernels: one address each, for good.
fn intern(name: *const c_char) -> *const c_char {
    static NAMES: Mutex<Vec<CString>> = Mutex::new(Vec::new());
    if name.is_null() {
        return name;
    }
    // SAFETY: the caller's string.
    let name = unsafe { CStr::from_ptr(name) };
    let Ok(mut names) = NAMES.lock() else {
        return ptr::null();
    };
    if let Some(known) = names.iter().find(|known| known.as_c_str() == name) {
        return known.as_ptr();
    }
    names.push(name.to_owned());
    names.last().map_or(ptr::null(), |name| name.as_ptr())
}
