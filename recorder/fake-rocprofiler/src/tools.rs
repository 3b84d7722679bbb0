//! Which tools there are, their beginning and their end.
#![expect(unsafe_code, reason = "loads C libraries and calls them")]

use std::ffi::{CString, c_void};
use std::mem;
use std::ptr;

use crate::abi::{CONFIGURATION_LOCKED, ClientId, Configure, SUCCESS};
use crate::ffi::VERSION_TEXT;
use crate::state::{Tool, state};
use crate::{buffers, forks, gpu, knobs};

/// Finds the tools and has each configure and initialise itself. Once.
pub(crate) fn initialize() {
    if mem::replace(&mut state().initialized, -1) != 0 {
        state().initialized = 1;
        return;
    }
    forks::watch();
    if !knobs::is_set("no-finalize") {
        // SAFETY: a function without arguments.
        unsafe { libc::atexit(at_exit) };
    }
    let listed = std::env::var("ROCP_TOOL_LIBRARIES").unwrap_or_default();
    for path in entries(&listed) {
        configure(open(path));
    }
    // SAFETY: a valid string; preloaded tools are in the global scope.
    let global = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"rocprofiler_configure".as_ptr()) };
    if !global.is_null() {
        configure(global);
    }
    let count = state().tools.len();
    for place in 0..count {
        state().current_tool = place;
        let result = state().tools.get(place).and_then(|tool| tool.result);
        if let Some(result) = result
            && let Some(initialize) = result.initialize
        {
            // SAFETY: the tool's function. What it returns changes nothing.
            unsafe { initialize(finalize_client, result.tool_data) };
        }
    }
    state().initialized = 1;
}

/// The entries that are loaded: of several, all but the last, unless the list ends with a colon.
fn entries(list: &str) -> Vec<&str> {
    let mut entries: Vec<&str> = list.split(':').collect();
    if entries.len() > 1 {
        entries.pop();
    }
    entries.retain(|entry| !entry.is_empty());
    entries
}

/// The configuring function of a tool; aborts where there is none.
fn open(path: &str) -> *mut c_void {
    let symbol = CString::new(path).ok().and_then(|path| {
        // SAFETY: a valid string; a tool's constructors may run.
        let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_LOCAL | libc::RTLD_LAZY) };
        // SAFETY: an open handle and a valid string.
        (!handle.is_null())
            .then(|| unsafe { libc::dlsym(handle, c"rocprofiler_configure".as_ptr()) })
    });
    match symbol {
        Some(symbol) if !symbol.is_null() => symbol,
        _ => {
            crash(&format!("cannot load the tool {path}"));
        }
    }
}

/// Ends the process as the real one would, but says why.
#[expect(clippy::print_stderr, reason = "for whoever reads a failed test")]
pub(crate) fn crash(why: &str) -> ! {
    eprintln!("fake SDK: {why}");
    std::process::abort();
}

/// `rocprofiler_force_configure`: only before anything else, then this tool is the first.
pub(crate) fn force(function: *mut c_void) -> i32 {
    if state().initialized != 0 {
        return CONFIGURATION_LOCKED;
    }
    configure(function);
    SUCCESS
}

fn configure(function: *mut c_void) {
    // SAFETY: a tool's function of this name has this type.
    let configure = unsafe { mem::transmute::<*mut c_void, Configure>(function) };
    let known = |tool: &Tool| ptr::fn_addr_eq(tool.configure, configure);
    if state().tools.iter().any(known) {
        return;
    }
    let priority = u32::try_from(state().tools.len()).unwrap_or(u32::MAX);
    let version = u32::try_from(knobs::get("version")).unwrap_or(0);
    let mut client = ClientId {
        size: size_of::<ClientId>(),
        name: ptr::null(),
        handle: priority + 1,
    };
    // SAFETY: as above; the version's text is this library's own.
    let result = unsafe { configure(version, VERSION_TEXT.as_ptr(), priority, &raw mut client) };
    // SAFETY: null, or readable now.
    let result = unsafe { result.as_ref() }.copied();
    state().tools.push(Tool {
        configure,
        result,
        contexts: Vec::new(),
    });
}

extern "C" fn at_exit() {
    finalize();
}

unsafe extern "C" fn finalize_client(_client: ClientId) {
    finalize();
}

/// The order of the SDK: kernels complete, code is unloaded, then each tool's contexts stop and the tool
/// is told.
fn finalize() {
    if mem::replace(&mut state().finalized, -1) != 0 {
        return;
    }
    gpu::complete_all_but(knobs::get("after-end"));
    gpu::unload_all();
    let count = state().tools.len();
    for place in 0..count {
        let result = {
            let mut state = state();
            let tool = state.tools.get(place);
            let contexts = tool.map(|tool| tool.contexts.clone()).unwrap_or_default();
            let result = tool.and_then(|tool| tool.result);
            for id in contexts {
                if let Some(context) = state.context(id) {
                    context.active = false;
                }
            }
            result
        };
        if let Some(result) = result
            && let Some(finalize) = result.finalize
        {
            // SAFETY: the tool's function.
            unsafe { finalize(result.tool_data) };
        }
    }
    if knobs::is_set("after-end") {
        gpu::complete_all_but(0);
        let buffers = state().buffers.len() as u64;
        (1..=buffers).for_each(|id| {
            buffers::flush(id);
        });
    }
    state().finalized = 1;
}
