//! The C side: finding the SDK, its functions and the fake's own, and another tool.
#![expect(unsafe_code, reason = "plays a C program")]

use std::ffi::{CStr, CString, OsStr, OsString, c_char, c_int, c_void};
use std::io::{self, Error};
use std::mem;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use kernrec_fake_host::Library;

static SDK: OnceLock<Library> = OnceLock::new();

pub(crate) fn load(path: &str) -> io::Result<()> {
    let library = Library::open(OsStr::new(path))?;
    SDK.set(library).map_err(|_| Error::other("loaded already"))
}

/// The SDK: one that is loaded, preloaded, named by a variable, or found by its name; `None` unless
/// something asks for one.
pub(crate) fn start_runtime() -> io::Result<()> {
    let sdk = if let Some(loaded) = SDK.get() {
        *loaded
    } else if Library::GLOBAL.symbol(START).is_ok() {
        Library::GLOBAL
    } else if let Some(library) = wanted() {
        Library::open(&library).unwrap_or_else(|_| std::process::abort())
    } else {
        return Ok(());
    };
    start(*SDK.get_or_init(|| sdk))
}

/// Starts one that is not used afterwards.
pub(crate) fn start_copy(path: &str) -> io::Result<()> {
    start(Library::open(OsStr::new(path))?)
}

const START: &CStr = c"rocprofiler_set_api_table";

fn start(sdk: Library) -> io::Result<()> {
    let start = sdk.symbol(START)?;
    // SAFETY: the fake's function of this name has this type.
    unsafe { mem::transmute::<*mut c_void, unsafe extern "C" fn() -> c_int>(start)() };
    Ok(())
}

fn wanted() -> Option<OsString> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    match set("ROCPROFILER_REGISTER_LIBRARY") {
        None => set("ROCP_TOOL_LIBRARIES").map(|_| "librocprofiler-sdk.so".into()),
        named => named,
    }
}

/// A function of the SDK; `None` where there is no SDK.
fn function(name: &CStr) -> io::Result<Option<*mut c_void>> {
    SDK.get().map(|sdk| sdk.symbol(name)).transpose()
}

fn c_string(text: &str) -> io::Result<CString> {
    CString::new(text).map_err(Error::other)
}

/// A function that takes a text and a number, either of which it may ignore.
fn call(name: &CStr, text: Option<&str>, value: usize) -> io::Result<()> {
    let text = text.map(c_string).transpose()?;
    let text = text.as_ref().map_or(ptr::null(), |text| text.as_ptr());
    if let Some(function) = function(name)? {
        // SAFETY: the fake's functions of the names passed here have this type.
        unsafe {
            mem::transmute::<*mut c_void, unsafe extern "C" fn(*const c_char, u64)>(function)(
                text,
                value as u64,
            );
        }
    }
    Ok(())
}

/// A function that takes two numbers.
fn call_numbers(name: &CStr, first: usize, second: usize) -> io::Result<()> {
    if let Some(function) = function(name)? {
        // SAFETY: the fake's functions of the names passed here take at most two words.
        unsafe {
            mem::transmute::<*mut c_void, unsafe extern "C" fn(u64, u64)>(function)(
                first as u64,
                second as u64,
            );
        }
    }
    Ok(())
}

pub(crate) fn launch(name: &str, count: usize) -> io::Result<()> {
    call(c"fake_launch", Some(name), count)
}

pub(crate) fn set_knob(name: &str, value: usize) -> io::Result<()> {
    call(c"fake_set", Some(name), value)
}

pub(crate) fn load_code() -> io::Result<()> {
    call_numbers(c"fake_load_code", 0, 0)
}

pub(crate) fn dispatch(number: usize, count: usize) -> io::Result<()> {
    call_numbers(c"fake_dispatch", number, count)
}

pub(crate) fn unregister(number: usize) -> io::Result<()> {
    call_numbers(c"fake_unregister", number, 0)
}

pub(crate) fn lose(counted: bool) -> io::Result<()> {
    call_numbers(c"fake_lose", usize::from(counted), 0)
}

pub(crate) fn drop_count(count: usize) -> io::Result<()> {
    call_numbers(c"fake_drop_count", count, 0)
}

/// The number the kernel got.
pub(crate) fn register(number: usize, name: Option<&str>) -> io::Result<usize> {
    let name = name.map(c_string).transpose()?;
    let name = name.as_ref().map_or(ptr::null(), |name| name.as_ptr());
    let Some(function) = function(c"fake_register")? else {
        return Ok(0);
    };
    // SAFETY: the fake's function of this name has this type.
    let number = unsafe {
        mem::transmute::<*mut c_void, unsafe extern "C" fn(u64, *const c_char) -> u64>(function)(
            number as u64,
            name,
        )
    };
    usize::try_from(number).map_err(Error::other)
}

type Configure = unsafe extern "C" fn(u32, *const c_char, u32, *mut c_void) -> *mut ConfigureResult;

#[repr(C)]
struct ConfigureResult {
    size: usize,
    initialize: unsafe extern "C" fn(*const c_void, *mut c_void) -> c_int,
    finalize: unsafe extern "C" fn(*mut c_void),
    tool_data: usize,
}

static OTHER_RECORDS: AtomicUsize = AtomicUsize::new(0);
static OTHER_BUFFER: AtomicUsize = AtomicUsize::new(0);
static OTHER_TOOL: ConfigureResult = ConfigureResult {
    size: size_of::<ConfigureResult>(),
    initialize: other_initialize,
    finalize: other_finalize,
    tool_data: 0,
};

/// How many the other tool has got, all of them handed over.
pub(crate) fn other_records() -> io::Result<usize> {
    call_numbers(
        c"rocprofiler_flush_buffer",
        OTHER_BUFFER.load(Ordering::SeqCst),
        0,
    )?;
    Ok(OTHER_RECORDS.load(Ordering::SeqCst))
}

pub(crate) fn force_other_tool() -> io::Result<()> {
    let force = function(c"rocprofiler_force_configure")?.ok_or_else(|| Error::other("no SDK"))?;
    // SAFETY: the SDK's function of this name has this type.
    let status = unsafe {
        mem::transmute::<*mut c_void, unsafe extern "C" fn(Configure) -> c_int>(force)(
            other_configure,
        )
    };
    if status == 0 {
        Ok(())
    } else {
        Err(Error::other(format!("status {status}")))
    }
}

unsafe extern "C" fn other_configure(
    _version: u32,
    _text: *const c_char,
    _priority: u32,
    _client: *mut c_void,
) -> *mut ConfigureResult {
    ptr::from_ref(&OTHER_TOOL).cast_mut()
}

/// Traces dispatches, one call back each: the policy that may lose, and no room for two.
unsafe extern "C" fn other_initialize(_finalizer: *const c_void, _data: *mut c_void) -> c_int {
    type Callback = unsafe extern "C" fn(u64, u64, *mut c_void, usize, *mut c_void, u64);
    type Create =
        unsafe extern "C" fn(u64, usize, usize, u32, Callback, *mut c_void, *mut u64) -> c_int;
    let bound = |name| function(name).ok().flatten().unwrap_or(ptr::null_mut());
    let (mut context, mut buffer) = (0_u64, 0_u64);
    // SAFETY: the SDK's functions of these names have these types; it is there, since it calls us.
    unsafe {
        mem::transmute::<*mut c_void, unsafe extern "C" fn(*mut u64) -> c_int>(bound(
            c"rocprofiler_create_context",
        ))(&raw mut context);
        mem::transmute::<*mut c_void, Create>(bound(c"rocprofiler_create_buffer"))(
            context,
            1 << 16,
            0,
            2,
            other_records_came,
            ptr::null_mut(),
            &raw mut buffer,
        );
        OTHER_BUFFER.store(usize::try_from(buffer).unwrap_or(0), Ordering::SeqCst);
        mem::transmute::<
            *mut c_void,
            unsafe extern "C" fn(u64, u32, *const i32, usize, u64) -> c_int,
        >(bound(c"rocprofiler_configure_buffer_tracing_service"))(
            context,
            11,
            ptr::null(),
            0,
            buffer,
        );
        mem::transmute::<*mut c_void, unsafe extern "C" fn(u64) -> c_int>(bound(
            c"rocprofiler_start_context",
        ))(context)
    }
}

unsafe extern "C" fn other_finalize(_data: *mut c_void) {}

unsafe extern "C" fn other_records_came(
    _context: u64,
    _buffer: u64,
    _headers: *mut c_void,
    count: usize,
    _data: *mut c_void,
    _drop_count: u64,
) {
    OTHER_RECORDS.fetch_add(count, Ordering::SeqCst);
}

/// As an SDK would that has none of the SDK's functions.
pub(crate) fn configure_from_here(recorder: &str) -> io::Result<()> {
    let configure = Library::open(OsStr::new(recorder))?.symbol(c"rocprofiler_configure")?;
    let mut client = [24_usize, 0, 1];
    // SAFETY: the recorder's function has this type, and its result points to its answer.
    let answer = unsafe {
        mem::transmute::<*mut c_void, Configure>(configure)(
            10_302,
            c"1.3.2".as_ptr(),
            0,
            client.as_mut_ptr().cast(),
        )
        .as_ref()
    };
    let answer = answer.ok_or_else(|| Error::other("declined"))?;
    // SAFETY: the recorder's functions have these types.
    unsafe {
        (answer.initialize)(ptr::null(), ptr::null_mut());
        (answer.finalize)(ptr::null_mut());
    }
    Ok(())
}
