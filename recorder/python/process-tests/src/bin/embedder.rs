//! `python-embedder LIBPYTHON CODE...`: starts the interpreter of a library, runs a text in it and ends it, once
//! for each text.
#![expect(unsafe_code, reason = "embedding is a C interface")]

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::os::unix::ffi::OsStringExt as _;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os()
        .skip(1)
        .map(|argument| CString::new(argument.into_vec()).expect("an argument holds no zero byte"));
    let library = arguments.next().expect("the library comes first");
    for code in arguments {
        if !run(&library, &code) {
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn run(library: &CStr, code: &CStr) -> bool {
    // SAFETY: a library of Python; the names are those of its stable ABI, with these types. Everything happens on
    // the one thread of this program.
    unsafe {
        let handle = libc::dlopen(library.as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL);
        assert!(!handle.is_null(), "{library:?} cannot be loaded");
        let initialize: extern "C" fn() = std::mem::transmute(symbol(handle, c"Py_Initialize"));
        let execute: extern "C" fn(*const c_char, *mut c_void) -> c_int =
            std::mem::transmute(symbol(handle, c"PyRun_SimpleStringFlags"));
        let finalize: extern "C" fn() -> c_int =
            std::mem::transmute(symbol(handle, c"Py_FinalizeEx"));
        initialize();
        let done = execute(code.as_ptr(), std::ptr::null_mut());
        finalize() == 0 && done == 0
    }
}

unsafe fn symbol(handle: *mut c_void, name: &CStr) -> *mut c_void {
    // SAFETY: an open library and a string with its end.
    let address = unsafe { libc::dlsym(handle, name.as_ptr()) };
    assert!(!address.is_null(), "no {name:?} in the library");
    address
}
