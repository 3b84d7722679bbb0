//! The C side: the loader, fork, limits, ends.
#![expect(unsafe_code, reason = "plays a C program")]

use std::ffi::{CStr, CString, OsStr, c_int, c_void};
use std::io::{self, Error};
use std::mem;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// Runs `child` in a forked child and waits for it.
pub fn fork(child: impl FnOnce()) -> io::Result<()> {
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

/// Ends this process without its exit handlers.
pub fn exit_at_once(status: c_int) -> ! {
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

/// Sets the largest size that a file of this process may get, for good.
pub fn limit_file_size(bytes: u64) -> io::Result<()> {
    limit(libc::RLIMIT_FSIZE, bytes, bytes)
}

pub(crate) fn limit_descriptors(count: u64) -> io::Result<()> {
    limit(libc::RLIMIT_NOFILE, count, count)
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

#[expect(
    clippy::disallowed_methods,
    reason = "a program for tests, with errors nobody reads"
)]
pub(crate) fn remove_folder(path: &Path) -> io::Result<()> {
    for entry in path.read_dir()? {
        std::fs::remove_file(entry?.path())?;
    }
    std::fs::remove_dir(path)
}

#[expect(
    clippy::disallowed_methods,
    reason = "a program for tests, with errors nobody reads"
)]
pub(crate) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    std::fs::rename(from, to)
}

/// Has the preloaded library of tests refuse things to the recorder.
pub(crate) fn set_fault(name: &CStr, value: usize) -> io::Result<()> {
    let function = Library::GLOBAL.symbol(name)?;
    // SAFETY: the functions of these names take one number.
    unsafe { mem::transmute::<*mut c_void, unsafe extern "C" fn(usize)>(function)(value) };
    Ok(())
}

/// A mapped library, or the scope of everything that was linked or preloaded.
#[derive(Clone, Copy, Debug)]
pub struct Library(usize);

impl Library {
    /// The global scope.
    pub const GLOBAL: Self = Self(0);

    /// Maps a library with local scope, as an interpreter does.
    pub fn open(path: &OsStr) -> io::Result<Self> {
        let name = CString::new(path.as_bytes()).map_err(Error::other)?;
        // SAFETY: a valid string.
        let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        if handle.is_null() {
            // SAFETY: the loader's message, a valid string after a failure.
            let message = unsafe { CStr::from_ptr(libc::dlerror()) };
            return Err(Error::other(message.to_string_lossy().into_owned()));
        }
        Ok(Self(handle.expose_provenance()))
    }

    /// An exported symbol.
    pub fn symbol(self, name: &CStr) -> io::Result<*mut c_void> {
        // SAFETY: a handle that is never closed or the global scope, and a valid string.
        let symbol =
            unsafe { libc::dlsym(std::ptr::with_exposed_provenance_mut(self.0), name.as_ptr()) };
        if symbol.is_null() {
            return Err(Error::other(format!(
                "no symbol {}",
                name.to_string_lossy()
            )));
        }
        Ok(symbol)
    }
}
