//! The C functions others call.

use std::ffi::{c_int, c_void};
use std::ptr;

use crate::buffers::BUFFER_BYTES;
use crate::recorder;

/// The driver's call while it initialises. Always 1: anything else could keep CUDA from starting.
#[unsafe(no_mangle)]
extern "C" fn InitializeInjection() -> c_int {
    recorder::silence_panics();
    recorder::guarded(recorder::start);
    1
}

/// CUPTI wants memory for records. Called on any thread, many at once.
pub(super) unsafe extern "C" fn buffer_requested(
    buffer: *mut *mut u8,
    size: *mut usize,
    max_records: *mut usize,
) {
    let lent = recorder::guarded(recorder::lend_buffer).flatten();
    // SAFETY: CUPTI passes three valid pointers. A null buffer tells it to drop records.
    unsafe {
        *buffer = lent.map_or(ptr::null_mut(), ptr::NonNull::as_ptr);
        *size = if lent.is_some() { BUFFER_BYTES } else { 0 };
        *max_records = 0;
    }
}

/// CUPTI returns a buffer with `valid` bytes of records.
pub(super) unsafe extern "C" fn buffer_completed(
    _context: *mut c_void,
    _stream: u32,
    buffer: *mut u8,
    _size: usize,
    valid: usize,
) {
    recorder::guarded(|| recorder::take_buffer(buffer, valid));
}
