//! The C side: the fake CUPTI's functions.
#![expect(unsafe_code, reason = "plays a C program")]

use std::ffi::{CStr, CString, OsStr, c_char, c_int, c_void};
use std::io::{self, Error};
use std::mem;
use std::ptr;
use std::sync::OnceLock;

use kernrec_fake_host::Library;

/// How another client finds CUPTI's functions.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Client {
    /// Through the global scope, where preloaded libraries come first.
    Linked,
    /// In CUPTI's own symbol table.
    Handle,
}

static CUPTI: OnceLock<Library> = OnceLock::new();

/// Maps a library with local scope, as an interpreter does. The first one is the fake CUPTI.
pub(crate) fn load(path: &str) -> io::Result<()> {
    let library = Library::open(OsStr::new(path))?;
    // Only the first.
    let _ = CUPTI.set(library);
    Ok(())
}

pub(crate) fn inject(path: &OsStr) -> io::Result<()> {
    let initialize = Library::open(path)?.symbol(c"InitializeInjection")?;
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
    let function = cupti().symbol(c"fake_launch")?;
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
    let function = cupti().symbol(c"fake_set")?;
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
        Client::Linked => Library::GLOBAL.symbol(name).ok(),
        Client::Handle => None,
    };
    let function = match preloaded {
        Some(function) => function,
        None => cupti().symbol(name)?,
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

fn cupti() -> Library {
    CUPTI.get().copied().unwrap_or(Library::GLOBAL)
}
