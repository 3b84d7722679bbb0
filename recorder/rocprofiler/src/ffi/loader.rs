//! Which library an address belongs to.

use std::ffi::{c_char, c_void};

/// The path of the mapped library that holds the address. The string lives as long as the library.
pub(super) fn path_of(address: *const c_void) -> Option<*const c_char> {
    let mut info = libc::Dl_info {
        dli_fname: std::ptr::null(),
        dli_fbase: std::ptr::null_mut(),
        dli_sname: std::ptr::null(),
        dli_saddr: std::ptr::null_mut(),
    };
    // SAFETY: dladdr accepts any address and fills `info` on success.
    let found = unsafe { libc::dladdr(address, &raw mut info) };
    (found != 0 && !info.dli_fname.is_null()).then_some(info.dli_fname)
}

/// Keeps this library mapped for good: the SDK and our threads hold addresses in it.
pub(crate) fn pin() {
    if let Some(path) = path_of(pin as fn() as *const c_void) {
        // SAFETY: a valid path of a mapped library; nothing new is mapped, it is only never unmapped.
        unsafe {
            libc::dlopen(
                path,
                libc::RTLD_LAZY | libc::RTLD_NOLOAD | libc::RTLD_NODELETE,
            );
        }
    }
}
