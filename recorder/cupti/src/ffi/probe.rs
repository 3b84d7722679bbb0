//! A harmless call into the CUDA driver, for CUPTI to record.

use std::ffi::c_int;
use std::mem;

/// Calls `cuDriverGetVersion`, which needs no device or context and works while the process ends.
/// `false` when the driver cannot be found.
pub(crate) fn call_driver() -> bool {
    // SAFETY: valid strings; NOLOAD maps nothing new, and the driver is never unmapped.
    let function = unsafe {
        let handle = libc::dlopen(
            c"libcuda.so.1".as_ptr(),
            libc::RTLD_LAZY | libc::RTLD_NOLOAD,
        );
        if handle.is_null() {
            return false;
        }
        libc::dlsym(handle, c"cuDriverGetVersion".as_ptr())
    };
    if function.is_null() {
        return false;
    }
    let mut version: c_int = 0;
    // SAFETY: the driver's function of this name has this type, and `version` is valid.
    unsafe {
        let get_version = mem::transmute::<
            *mut std::ffi::c_void,
            unsafe extern "C" fn(*mut c_int) -> c_int,
        >(function);
        get_version(&raw mut version);
    }
    true
}
