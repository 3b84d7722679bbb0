//! The process's own allocator.

use std::ptr::NonNull;

/// Zeroed memory from `calloc`, aligned for any type; `None` when there is none.
pub(crate) fn zeroed(bytes: usize) -> Option<NonNull<u8>> {
    // SAFETY: calloc accepts any size.
    NonNull::new(unsafe { libc::calloc(1, bytes) }.cast::<u8>())
}

/// Zeroes memory that [`zeroed`] returned for at least `bytes`.
pub(crate) fn zero(start: NonNull<u8>, bytes: usize) {
    // SAFETY: the caller owns the allocation: it came back from CUPTI and is not lent again yet.
    unsafe { start.write_bytes(0, bytes) };
}
