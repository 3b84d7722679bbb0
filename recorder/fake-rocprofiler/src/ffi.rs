//! The C functions: the SDK's, and the test's own (`fake_…`).
#![expect(unsafe_code, reason = "exports C functions")]

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::slice;
use std::time::Duration;

use crate::abi::{
    BUFFER_NOT_FOUND, BufferCallback, CODE_OBJECT, CONFIGURATION_LOCKED, CONTEXT_ID_NOT_ZERO,
    CONTEXT_NOT_FOUND, INVALID_ARGUMENT, KERNEL_DISPATCH, NOT_IMPLEMENTED, POLICY_DISCARD,
    POLICY_LOSSLESS, SERVICE_ALREADY_CONFIGURED, SUCCESS, TraceCallback,
};
use crate::buffers::Buffer;
use crate::state::{CodeObjects, Context, Data, State, state};
use crate::{buffers, gpu, knobs, tools};

/// What tools are given as the version's text.
pub(crate) static VERSION_TEXT: &CStr = c"1.3.2";

/// A status that a knob asks for is returned before anything is done.
macro_rules! fail_if_asked {
    ($knob:literal) => {
        match knobs::status($knob) {
            SUCCESS => {}
            status => return status,
        }
    };
}

/// Only a tool's `initialize` may configure.
fn is_locked(state: &State) -> bool {
    state.initialized != -1
}

/// What the runtime calls when it starts.
#[unsafe(no_mangle)]
extern "C" fn rocprofiler_set_api_table() -> c_int {
    tools::initialize();
    0
}

#[unsafe(no_mangle)]
extern "C" fn rocprofiler_force_configure(function: *mut c_void) -> c_int {
    tools::force(function)
}

#[unsafe(no_mangle)]
extern "C" fn rocprofiler_get_version(major: *mut u32, minor: *mut u32, patch: *mut u32) -> c_int {
    if knobs::is_set("crash-version") {
        std::process::abort();
    }
    while knobs::is_set("hang-version") {
        std::thread::sleep(Duration::from_secs(1));
    }
    let version = u32::try_from(knobs::get("version")).unwrap_or(0);
    for (place, value) in [
        (major, version / 10_000),
        (minor, version / 100 % 100),
        (patch, version % 100),
    ] {
        if !place.is_null() {
            // SAFETY: the caller's pointer.
            unsafe { *place = value };
        }
    }
    SUCCESS
}

#[unsafe(no_mangle)]
extern "C" fn rocprofiler_is_initialized(status: *mut c_int) -> c_int {
    // SAFETY: the caller's pointer.
    unsafe { *status = state().initialized };
    SUCCESS
}

#[unsafe(no_mangle)]
extern "C" fn rocprofiler_is_finalized(status: *mut c_int) -> c_int {
    // SAFETY: the caller's pointer.
    unsafe { *status = state().finalized };
    SUCCESS
}

#[unsafe(no_mangle)]
extern "C" fn rocprofiler_create_context(id: *mut u64) -> c_int {
    fail_if_asked!("create-context");
    let mut state = state();
    if is_locked(&state) {
        return CONFIGURATION_LOCKED;
    }
    // SAFETY: the caller's pointer.
    if unsafe { *id } != 0 {
        return CONTEXT_ID_NOT_ZERO;
    }
    state.contexts.push(Context::default());
    let number = state.contexts.len() as u64;
    let place = state.current_tool;
    if let Some(tool) = state.tools.get_mut(place) {
        tool.contexts.push(number);
    }
    // SAFETY: as above.
    unsafe { *id = number };
    SUCCESS
}

#[unsafe(no_mangle)]
extern "C" fn rocprofiler_start_context(id: u64) -> c_int {
    fail_if_asked!("start-context");
    let mut state = state();
    if state.finalized != 0 {
        return CONFIGURATION_LOCKED;
    }
    match state.context(id) {
        Some(context) => {
            context.active = !knobs::is_set("inactive");
            SUCCESS
        }
        None => CONTEXT_NOT_FOUND,
    }
}

#[unsafe(no_mangle)]
extern "C" fn rocprofiler_stop_context(id: u64) -> c_int {
    match state().context(id) {
        Some(context) => {
            context.active = false;
            SUCCESS
        }
        None => CONTEXT_NOT_FOUND,
    }
}

#[unsafe(no_mangle)]
extern "C" fn rocprofiler_context_is_active(id: u64, active: *mut c_int) -> c_int {
    match state().context(id) {
        Some(context) => {
            // SAFETY: the caller's pointer.
            unsafe { *active = c_int::from(context.active) };
            SUCCESS
        }
        None => CONTEXT_NOT_FOUND,
    }
}

#[unsafe(no_mangle)]
extern "C" fn rocprofiler_create_buffer(
    context: u64,
    size: usize,
    watermark: usize,
    policy: u32,
    callback: BufferCallback,
    data: *mut c_void,
    id: *mut u64,
) -> c_int {
    fail_if_asked!("create-buffer");
    let mut state = state();
    if is_locked(&state) {
        return CONFIGURATION_LOCKED;
    }
    if ![POLICY_DISCARD, POLICY_LOSSLESS].contains(&policy) || size == 0 {
        return INVALID_ARGUMENT;
    }
    state.buffers.push(Buffer {
        context,
        size: size.next_multiple_of(4096),
        watermark,
        policy,
        callback,
        data: Data::new(data),
        thread: 0,
        halves: [Vec::new(), Vec::new()],
        filling: 0,
        dropped: 0,
        on_the_way: 0,
    });
    // SAFETY: the caller's pointer.
    unsafe { *id = state.buffers.len() as u64 };
    SUCCESS
}

#[unsafe(no_mangle)]
extern "C" fn rocprofiler_flush_buffer(id: u64) -> c_int {
    fail_if_asked!("flush");
    buffers::flush(id)
}

#[unsafe(no_mangle)]
extern "C" fn rocprofiler_create_callback_thread(id: *mut u64) -> c_int {
    fail_if_asked!("create-thread");
    let mut state = state();
    if is_locked(&state) {
        return CONFIGURATION_LOCKED;
    }
    state.threads += 1;
    // SAFETY: the caller's pointer.
    unsafe { *id = state.threads };
    SUCCESS
}

#[unsafe(no_mangle)]
extern "C" fn rocprofiler_assign_callback_thread(buffer: u64, thread: u64) -> c_int {
    fail_if_asked!("assign-thread");
    let mut state = state();
    if is_locked(&state) {
        return CONFIGURATION_LOCKED;
    }
    match state.buffer(buffer) {
        Some(buffer) => {
            buffer.thread = thread;
            SUCCESS
        }
        None => BUFFER_NOT_FOUND,
    }
}

#[unsafe(no_mangle)]
extern "C" fn rocprofiler_configure_buffer_tracing_service(
    context: u64,
    kind: u32,
    operations: *const i32,
    count: usize,
    buffer: u64,
) -> c_int {
    fail_if_asked!("dispatch-service");
    let mut state = state();
    if is_locked(&state) {
        return CONFIGURATION_LOCKED;
    }
    if kind != KERNEL_DISPATCH || !operations.is_null() || count != 0 {
        return NOT_IMPLEMENTED;
    }
    match state.context(context) {
        Some(context) if context.dispatches.is_some() => SERVICE_ALREADY_CONFIGURED,
        Some(context) => {
            context.dispatches = Some(buffer);
            SUCCESS
        }
        None => CONTEXT_NOT_FOUND,
    }
}

#[unsafe(no_mangle)]
extern "C" fn rocprofiler_configure_callback_tracing_service(
    context: u64,
    kind: u32,
    operations: *const i32,
    count: usize,
    callback: TraceCallback,
    data: *mut c_void,
) -> c_int {
    fail_if_asked!("symbol-service");
    let mut state = state();
    if is_locked(&state) {
        return CONFIGURATION_LOCKED;
    }
    if kind != CODE_OBJECT {
        return NOT_IMPLEMENTED;
    }
    let operations = if operations.is_null() {
        Vec::new()
    } else {
        // SAFETY: the caller's array.
        unsafe { slice::from_raw_parts(operations, count) }.to_vec()
    };
    match state.context(context) {
        Some(context) if context.code_objects.is_some() => SERVICE_ALREADY_CONFIGURED,
        Some(context) => {
            context.code_objects = Some(CodeObjects {
                operations,
                callback,
                data: Data::new(data),
            });
            SUCCESS
        }
        None => CONTEXT_NOT_FOUND,
    }
}

/// Loads the code object without any of its kernels.
#[unsafe(no_mangle)]
extern "C" fn fake_load_code() {
    gpu::load_code();
}

/// Registers a kernel under a number, 0 for the next. A null name is one that the SDK does not know.
#[unsafe(no_mangle)]
extern "C" fn fake_register(number: u64, name: *const c_char) -> u64 {
    gpu::register(number, owned(name).as_ref())
}

/// Unloads a kernel.
#[unsafe(no_mangle)]
extern "C" fn fake_unregister(number: u64) {
    gpu::unregister(number);
}

/// Runs the kernel of a name so many times, loading it if need be.
#[unsafe(no_mangle)]
extern "C" fn fake_launch(name: *const c_char, count: u64) {
    if let Some(name) = owned(name) {
        let kernel = gpu::kernel(&name);
        (0..count).for_each(|_| gpu::dispatch(kernel, false));
    }
}

/// Runs the kernel of a number so many times, loaded or not.
#[unsafe(no_mangle)]
extern "C" fn fake_dispatch(number: u64, count: u64) {
    (0..count).for_each(|_| gpu::dispatch(number, false));
}

/// Runs a kernel whose record is lost, counted by the SDK or not.
#[unsafe(no_mangle)]
extern "C" fn fake_lose(counted: bool) {
    if counted {
        gpu::dispatch_dropped(1);
    } else {
        gpu::dispatch(1, true);
    }
}

/// Sets the count of lost records of every buffer.
#[unsafe(no_mangle)]
extern "C" fn fake_drop_count(count: u64) {
    for buffer in &mut state().buffers {
        buffer.dropped = count;
    }
}

/// How many nanoseconds the tool takes for so many records in one call back, of so many kernels in turn, which
/// completed in reverse order in groups.
#[unsafe(no_mangle)]
extern "C" fn fake_measure(kernels: u64, records: u64, group: u64) -> u64 {
    let spent = buffers::measure(gpu::dispatch_numbers(records), kernels, group);
    u64::try_from(spent.as_nanos()).unwrap_or(u64::MAX)
}

/// Turns a knob.
#[unsafe(no_mangle)]
extern "C" fn fake_set(knob: *const c_char, value: u64) {
    if let Some(knob) = owned(knob) {
        knobs::set(&knob.to_string_lossy(), value);
    }
}

fn owned(text: *const c_char) -> Option<CString> {
    // SAFETY: null, or the caller's string.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_owned())
}
