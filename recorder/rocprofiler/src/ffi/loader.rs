//! Which library an address belongs to.

use std::ffi::{CStr, c_void};

/// A library that is mapped and stays so.
#[derive(Clone, Copy)]
pub(super) struct Loaded {
    handle: *mut c_void,
    base: *mut c_void,
}

impl Loaded {
    /// The library that holds the address.
    pub(super) fn of(address: *const c_void) -> Option<Self> {
        let info = describe(address)?;
        // SAFETY: the path of a mapped library, a string that lives as long as that; nothing new is mapped.
        let handle = unsafe { libc::dlopen(info.dli_fname, libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
        (!handle.is_null()).then_some(Self {
            handle,
            base: info.dli_fbase,
        })
    }

    /// An exported symbol of the library itself: a path can lead to another copy than the one that is meant,
    /// and a search goes on in the libraries that it needs.
    pub(super) fn symbol(self, name: &CStr) -> Option<*mut c_void> {
        // SAFETY: an open handle and a valid string.
        let symbol = unsafe { libc::dlsym(self.handle, name.as_ptr()) };
        let own = !symbol.is_null() && describe(symbol)?.dli_fbase == self.base;
        own.then_some(symbol)
    }
}

/// Keeps this library mapped for good: the SDK and our threads hold addresses in it.
pub(crate) fn pin() {
    if let Some(info) = describe(pin as fn() as *const c_void) {
        // SAFETY: a valid path of a mapped library; nothing new is mapped, it is only never unmapped.
        unsafe {
            libc::dlopen(
                info.dli_fname,
                libc::RTLD_LAZY | libc::RTLD_NOLOAD | libc::RTLD_NODELETE,
            );
        }
    }
}

/// What the loader says of an address in a mapped library that has a name.
fn describe(address: *const c_void) -> Option<libc::Dl_info> {
    let mut info = libc::Dl_info {
        dli_fname: std::ptr::null(),
        dli_fbase: std::ptr::null_mut(),
        dli_sname: std::ptr::null(),
        dli_saddr: std::ptr::null_mut(),
    };
    // SAFETY: dladdr accepts any address and fills `info` on success.
    let found = unsafe { libc::dladdr(address, &raw mut info) };
    (found != 0 && !info.dli_fname.is_null()).then_some(info)
}
