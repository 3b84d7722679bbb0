//! `_exit` and `_Exit`.
#![expect(unsafe_code, reason = "exports C functions and calls C functions")]

use std::ffi::{c_int, c_void};
use std::mem;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use kernrec_cupti_watch::{BEFORE, EXITING};

use crate::ffi;

/// The next `_exit` in the search order: the C library's, or that of another preloaded library.
static NEXT: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

/// Found when the library is loaded: `_exit` may be called where the loader must not be, in a signal
/// handler or between `vfork` and `exec`.
#[used]
#[unsafe(link_section = ".init_array")]
static FIND_NEXT: extern "C" fn() = find_next;

extern "C" fn find_next() {
    // SAFETY: a valid string; the C library, which has the symbol, is in the global scope.
    let next = unsafe { libc::dlsym(libc::RTLD_NEXT, c"_exit".as_ptr()) };
    NEXT.store(next, Ordering::Release);
}

#[unsafe(no_mangle)]
extern "C" fn _exit(status: c_int) -> ! {
    end(status)
}

/// The C standard's name for the same.
#[unsafe(no_mangle)]
extern "C" fn _Exit(status: c_int) -> ! {
    end(status)
}

fn end(status: c_int) -> ! {
    ffi::tell(EXITING, BEFORE, 0);
    let next = NEXT.load(Ordering::Acquire);
    if !next.is_null() {
        // SAFETY: `find_next` stored the address of a function of this name and type.
        unsafe { mem::transmute::<*mut c_void, unsafe extern "C" fn(c_int)>(next)(status) };
    }
    loop {
        // SAFETY: what the C library's `_exit` does. It does not return.
        unsafe { libc::syscall(libc::SYS_exit_group, status) };
    }
}
