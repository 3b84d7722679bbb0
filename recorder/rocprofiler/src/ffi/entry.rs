//! The C functions the SDK calls.

use std::cell::UnsafeCell;
use std::ffi::{c_char, c_int, c_void};
use std::ptr;

use super::abi::{CallbackRecord, ClientId, ConfigureResult, Finalizer, RecordHeader};
use super::records::{CodeObjectEvent, Delivery};
use super::sdk::{Id, Sdk};
use crate::recorder;

/// What the SDK copies when we accept. In writable memory: its type is not `const` there.
struct Answer(UnsafeCell<ConfigureResult>);

// SAFETY: this library never touches it; the SDK reads it while it calls `rocprofiler_configure`.
unsafe impl Sync for Answer {}

static ANSWER: Answer = Answer(UnsafeCell::new(ConfigureResult {
    size: size_of::<ConfigureResult>(),
    initialize,
    finalize,
    tool_data: ptr::null_mut(),
}));

/// The SDK's call while it looks for tools. Null declines, and then nothing more comes.
#[unsafe(no_mangle)]
unsafe extern "C" fn rocprofiler_configure(
    version: u32,
    runtime_version: *const c_char,
    priority: u32,
    client_id: *mut ClientId,
) -> *mut ConfigureResult {
    recorder::silence_panics();
    let accepted = recorder::guarded("panic", || {
        let in_sdk = runtime_version.cast::<c_void>();
        recorder::configure(version, in_sdk.addr(), priority)
    });
    if accepted != Some(true) {
        return ptr::null_mut();
    }
    if !client_id.is_null() {
        // SAFETY: the SDK's structure, whose name is ours to set, to a string that is never freed.
        unsafe { (*client_id).name = c"kernrec".as_ptr() };
    }
    ANSWER.0.get()
}

/// Its result is ignored by the SDK, so a recorder that fails stops its own context.
unsafe extern "C" fn initialize(finalizer: Option<Finalizer>, _tool_data: *mut c_void) -> c_int {
    let started = recorder::guarded("panic", || {
        // Either address is the SDK's; a version string could also be on its heap.
        let finalizer = finalizer.map_or(ptr::null(), |function| function as *const c_void);
        recorder::start(|in_sdk| {
            Sdk::of(ptr::without_provenance(in_sdk)).or_else(|| Sdk::of(finalizer))
        })
    });
    if started == Some(true) { 0 } else { -1 }
}

unsafe extern "C" fn finalize(_tool_data: *mut c_void) {
    recorder::guarded("panic", recorder::finish);
}

/// A code object or kernel symbol was loaded or unloaded, on whatever thread.
pub(super) unsafe extern "C" fn code_object_event(
    record: CallbackRecord,
    _user_data: *mut u64,
    _data: *mut c_void,
) {
    recorder::guarded("symbol_callback_exception", || {
        // SAFETY: the SDK keeps the payload until we return.
        recorder::note_code_object(&unsafe { CodeObjectEvent::new(record) });
    });
}

/// Kernels completed. On the buffer's own thread; the completion of further ones may wait for us.
pub(super) unsafe extern "C" fn dispatches_completed(
    _context: Id,
    _buffer: Id,
    headers: *const *const RecordHeader,
    count: usize,
    _data: *mut c_void,
    drop_count: u64,
) {
    recorder::guarded("dispatch_callback_exception", || {
        // SAFETY: the SDK keeps headers and payloads until we return.
        recorder::note_dispatches(&unsafe { Delivery::new(headers, count) }, drop_count);
    });
}
