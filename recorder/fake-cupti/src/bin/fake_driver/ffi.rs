//! The C side: the loader, fork, limits, and the fake CUPTI's functions.
#![expect(unsafe_code, reason = "plays a C program")]

use std::ffi::{CStr, CString, OsStr, c_char, c_int, c_void};
use std::io::{self, Error};
use std::mem;
use std::path::Path;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use crate::acts::c_path;

/// How another client finds CUPTI's functions.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Client {
    /// Through the global scope, where preloaded libraries come first.
    Linked,
    /// In CUPTI's own symbol table.
    Handle,
}

static CUPTI: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

/// Maps a library with local scope, as an interpreter does. The first one is the fake CUPTI.
pub(crate) fn load(path: &str) -> io::Result<()> {
    let handle = open(OsStr::new(path))?;
    let _ = CUPTI.compare_exchange(ptr::null_mut(), handle, Ordering::SeqCst, Ordering::SeqCst);
    Ok(())
}

pub(crate) fn inject(path: &OsStr) -> io::Result<()> {
    let handle = open(path)?;
    let initialize = symbol(handle, c"InitializeInjection")?;
    // SAFETY: the injection library's function of this name has this type.
    let answer =
        unsafe { mem::transmute::<*mut c_void, unsafe extern "C" fn() -> c_int>(initialize)() };
    if answer == 1 {
        Ok(())
    } else {
        Err(Error::other(format!(
            "InitializeInjection returned {answer}"
        )))
    }
}

pub(crate) fn launch(name: Option<&str>, graph_node: u64) -> io::Result<()> {
    let name = name.map(CString::new).transpose().map_err(Error::other)?;
    let function = symbol(cupti(), c"fake_launch")?;
    // SAFETY: the fake's function of this name has this type.
    unsafe {
        mem::transmute::<*mut c_void, unsafe extern "C" fn(*const c_char, u64)>(function)(
            name.as_ref().map_or(ptr::null(), |name| name.as_ptr()),
            graph_node,
        );
    }
    Ok(())
}

pub(crate) fn set_knob(knob: usize, value: usize) -> io::Result<()> {
    let function = symbol(cupti(), c"fake_set")?;
    let (knob, value) = (
        u32::try_from(knob).map_err(Error::other)?,
        i64::try_from(value).map_err(Error::other)?,
    );
    // SAFETY: the fake's function of this name has this type.
    unsafe { mem::transmute::<*mut c_void, unsafe extern "C" fn(u32, i64)>(function)(knob, value) };
    Ok(())
}

/// One call of another client. Its status must be success.
pub(crate) fn client(client: Client, act: &str) -> io::Result<()> {
    let (name, first): (&CStr, usize) = match act {
        "register" => (
            c"cuptiActivityRegisterCallbacks",
            other_request as *const () as usize,
        ),
        "enable" => (c"cuptiActivityEnable", 10),
        "disable" => (c"cuptiActivityDisable", 10),
        "disable-memcpy" => (c"cuptiActivityDisable", 1),
        "graph-level" => (c"cuptiActivityEnable", 51),
        "graph-attribute" => (c"cuptiActivitySetAttribute", 20),
        "read-drops" => (c"cuptiActivityGetNumDroppedRecords", 0),
        "subscribe" => (c"cuptiSubscribe", 0),
        "finalize" => (c"cuptiFinalize", 0),
        _ => return Err(Error::other("no such call")),
    };
    let preloaded = match client {
        Client::Linked => symbol(libc::RTLD_DEFAULT, name).ok(),
        Client::Handle => None,
    };
    let function = match preloaded {
        Some(function) => function,
        None => symbol(cupti(), name)?,
    };
    let second = other_complete as *const () as usize;
    let mut third = 0_usize;
    // SAFETY: each of these functions takes at most three words; only that of the lost records uses the third, which
    // is where it puts their number.
    let status = unsafe {
        mem::transmute::<*mut c_void, unsafe extern "C" fn(usize, usize, *mut usize) -> c_int>(
            function,
        )(first, second, &raw mut third)
    };
    if status == 0 {
        Ok(())
    } else {
        Err(Error::other(format!("status {status}")))
    }
}

/// The other client's memory, which it frees as real ones do; a buffer it did not lend is its failure.
unsafe extern "C" fn other_request(buffer: *mut *mut u8, size: *mut usize, max: *mut usize) {
    const BYTES: usize = 64 << 10;
    // SAFETY: CUPTI's pointers.
    unsafe {
        *buffer = libc::calloc(1, BYTES).cast();
        *size = BYTES;
        *max = 0;
    }
}

unsafe extern "C" fn other_complete(
    _: *mut c_void,
    _: u32,
    buffer: *mut u8,
    size: usize,
    valid: usize,
) {
    println!("other client got {} of {size} bytes", valid.min(size));
    // SAFETY: clients free what they are given.
    unsafe { libc::free(buffer.cast()) };
}

/// Runs `child` in a forked child and waits for it.
pub(crate) fn fork(child: impl FnOnce()) -> io::Result<()> {
    // SAFETY: this program's threads, if any, hold no lock that the child needs.
    let pid = unsafe { libc::fork() };
    match pid {
        -1 => Err(Error::last_os_error()),
        0 => {
            child();
            exit_at_once(1)
        }
        _ => {
            let mut status = 0;
            // SAFETY: our child and a valid pointer.
            unsafe { libc::waitpid(pid, &raw mut status, 0) };
            Ok(())
        }
    }
}

pub(crate) fn exit(status: c_int) -> ! {
    // SAFETY: ends the process through its exit handlers.
    unsafe { libc::exit(status) }
}

pub(crate) fn exit_at_once(status: c_int) -> ! {
    // SAFETY: ends the process.
    unsafe { libc::_exit(status) }
}

/// Ends as servers do that catch a signal: at once, from the handler.
pub(crate) fn exit_in_handler() -> ! {
    extern "C" fn handler(_: c_int) {
        exit_at_once(7)
    }
    // SAFETY: the handler calls what a handler may call.
    unsafe {
        libc::signal(libc::SIGTERM, handler as *const () as libc::sighandler_t);
        libc::raise(libc::SIGTERM);
    }
    exit_at_once(99)
}

pub(crate) fn kill_self(signal: c_int) -> ! {
    // SAFETY: a signal whose default action ends the process.
    unsafe { libc::raise(signal) };
    exit_at_once(99)
}

pub(crate) fn limit_file_size(bytes: u64) -> io::Result<()> {
    limit(libc::RLIMIT_FSIZE, bytes, bytes)
}

/// The hard limit stays, so that this can be taken back.
pub(crate) fn limit_address_space(bytes: Option<u64>) -> io::Result<()> {
    limit(
        libc::RLIMIT_AS,
        bytes.unwrap_or(libc::RLIM_INFINITY),
        libc::RLIM_INFINITY,
    )
}

fn limit(what: libc::__rlimit_resource_t, soft: u64, hard: u64) -> io::Result<()> {
    let limit = libc::rlimit {
        rlim_cur: soft,
        rlim_max: hard,
    };
    // SAFETY: a valid pointer.
    match unsafe { libc::setrlimit(what, &raw const limit) } {
        0 => Ok(()),
        _ => Err(Error::last_os_error()),
    }
}

/// Arranges for a launch at the end of the process.
pub(crate) fn launch_at_exit() -> io::Result<()> {
    extern "C" fn handler() {
        // A failing launch shows in the missing name.
        let _ = launch(Some("_Z4latev"), 0);
    }
    // SAFETY: a function without arguments of this program.
    match unsafe { libc::atexit(handler) } {
        0 => Ok(()),
        _ => Err(Error::other("no room for an exit handler")),
    }
}

/// Has the preloaded library of tests refuse things to the recorder.
pub(crate) fn set_fault(name: &CStr, value: usize) -> io::Result<()> {
    let function = symbol(libc::RTLD_DEFAULT, name)?;
    // SAFETY: the functions of these names take one number.
    unsafe { mem::transmute::<*mut c_void, unsafe extern "C" fn(usize)>(function)(value) };
    Ok(())
}

/// What a daemon does.
pub(crate) fn close_descriptors() {
    for descriptor in 3..1024 {
        // SAFETY: nothing in this program uses a descriptor above 2 across acts.
        unsafe { libc::close(descriptor) };
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a program for tests, with errors nobody reads"
)]
pub(crate) fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    std::fs::read(path)
}

fn cupti() -> *mut c_void {
    CUPTI.load(Ordering::SeqCst)
}

fn open(path: &OsStr) -> io::Result<*mut c_void> {
    let name = c_path(path)?;
    // SAFETY: a valid string.
    let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    if handle.is_null() {
        // SAFETY: the loader's message, a valid string after a failure.
        let message = unsafe { CStr::from_ptr(libc::dlerror()) };
        return Err(Error::other(message.to_string_lossy().into_owned()));
    }
    Ok(handle)
}

fn symbol(handle: *mut c_void, name: &CStr) -> io::Result<*mut c_void> {
    // SAFETY: an open handle or a scope, and a valid string.
    let symbol = unsafe { libc::dlsym(handle, name.as_ptr()) };
    if symbol.is_null() {
        return Err(Error::other(format!(
            "no symbol {}",
            name.to_string_lossy()
        )));
    }
    Ok(symbol)
}
