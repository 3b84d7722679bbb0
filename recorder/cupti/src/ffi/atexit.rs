//! The end of the process.

use std::ffi::{c_int, c_void};

use crate::recorder;

/// Registers the recorder's end. Runs after every handler registered later, so kernels that those launch
/// are still seen; handlers registered before CUDA was initialised find the driver shut down.
///
/// The library is pinned first: a handler in an unmapped library would crash the process.
pub(crate) fn register() -> bool {
    pin();
    // SAFETY: `finish` is an `extern "C"` function without arguments that lets no panic out.
    unsafe { libc::atexit(finish) == 0 }
}

extern "C" fn finish() {
    recorder::guarded(recorder::finish);
}

fn pin() {
    let mut info = libc::Dl_info {
        dli_fname: std::ptr::null(),
        dli_fbase: std::ptr::null_mut(),
        dli_sname: std::ptr::null(),
        dli_saddr: std::ptr::null_mut(),
    };
    let here = finish as extern "C" fn() as *const c_void;
    // SAFETY: dladdr fills `info` on success; the name it gives lives as long as this library.
    let found: c_int = unsafe { libc::dladdr(here, &raw mut info) };
    if found != 0 && !info.dli_fname.is_null() {
        // SAFETY: a valid path of a mapped library; nothing new is mapped, it is only never unmapped.
        unsafe {
            libc::dlopen(
                info.dli_fname,
                libc::RTLD_LAZY | libc::RTLD_NOLOAD | libc::RTLD_NODELETE,
            );
        }
    }
}
