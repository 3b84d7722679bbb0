//! The SDK's structures and constants, as far as the recorder meets them.
//!
//! Written from measured offsets, x86-64 and LP64; what is asserted here was printed by programs compiled
//! against the vendor's headers. Enumerations are 32 bits wide, identifiers one 64-bit word.

use std::ffi::{c_char, c_int, c_void};
use std::mem::offset_of;

/// `rocprofiler_status_t`; 0 is success.
pub(crate) type Status = i32;
/// The SDK is at work on the buffer already: to be tried again.
pub(crate) const BUFFER_BUSY: Status = 14;

/// `ROCPROFILER_BUFFER_POLICY_LOSSLESS`. The discarding policy allocates one of two halves and loses
/// records without counting them.
pub(crate) const LOSSLESS: u32 = 2;
/// `ROCPROFILER_BUFFER_CATEGORY_TRACING`.
pub(crate) const CATEGORY_TRACING: u32 = 1;
/// `ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH`.
pub(crate) const BUFFER_KERNEL_DISPATCH: u32 = 11;
/// `ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT`.
pub(crate) const CALLBACK_CODE_OBJECT: u32 = 10;
/// `ROCPROFILER_CODE_OBJECT_LOAD`.
pub(crate) const CODE_OBJECT_LOAD: i32 = 1;
/// `ROCPROFILER_CODE_OBJECT_DEVICE_KERNEL_SYMBOL_REGISTER`.
pub(crate) const KERNEL_SYMBOL_REGISTER: i32 = 2;
/// `ROCPROFILER_CALLBACK_PHASE_LOAD`.
pub(crate) const PHASE_LOAD: u32 = 1;

/// `rocprofiler_client_id_t`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct ClientId {
    pub(crate) size: usize,
    pub(crate) name: *const c_char,
    pub(crate) handle: u32,
}

/// `rocprofiler_tool_configure_result_t`.
#[repr(C)]
pub(crate) struct ConfigureResult {
    pub(crate) size: usize,
    pub(crate) initialize: unsafe extern "C" fn(Option<Finalizer>, *mut c_void) -> c_int,
    pub(crate) finalize: unsafe extern "C" fn(*mut c_void),
    pub(crate) tool_data: *mut c_void,
}

pub(crate) type Finalizer = unsafe extern "C" fn(ClientId);

/// `rocprofiler_record_header_t`: what a record is, and where.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct RecordHeader {
    pub(crate) category: u32,
    pub(crate) kind: u32,
    pub(crate) payload: *const u8,
}

/// `rocprofiler_buffer_tracing_kernel_dispatch_record_t` of 1.0 to 1.3, with its `dispatch_info` inlined.
#[repr(C)]
pub(crate) struct DispatchRecord {
    pub(crate) size: u64,
    kind: u32,
    operation: u32,
    correlation: [u64; 2],
    thread_id: u64,
    timestamps: [u64; 2],
    info_size: u64,
    agent_id: u64,
    queue_id: u64,
    pub(crate) kernel_id: u64,
    pub(crate) dispatch_id: u64,
    segment_sizes: [u32; 2],
    workgroup: [u32; 3],
    grid: [u32; 3],
    reserved: [u8; 56],
}

/// `rocprofiler_callback_tracing_record_t`, passed by value.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct CallbackRecord {
    context: u64,
    thread_id: u64,
    correlation: [u64; 3],
    pub(crate) kind: u32,
    pub(crate) operation: i32,
    pub(crate) phase: u32,
    pub(crate) payload: *const u8,
}

/// `rocprofiler_callback_tracing_code_object_kernel_symbol_register_data_t`.
#[repr(C)]
pub(crate) struct SymbolPayload {
    pub(crate) size: u64,
    pub(crate) kernel_id: u64,
    code_object_id: u64,
    pub(crate) kernel_name: *const c_char,
    kernel_object: u64,
    numbers: [u32; 7],
    entry_byte_offset: i64,
    kernel_address: u64,
}

const _: () = {
    assert!(size_of::<ClientId>() == 24);
    assert!(offset_of!(ClientId, name) == 8);
    assert!(offset_of!(ClientId, handle) == 16);

    assert!(size_of::<ConfigureResult>() == 32);
    assert!(offset_of!(ConfigureResult, initialize) == 8);
    assert!(offset_of!(ConfigureResult, finalize) == 16);
    assert!(offset_of!(ConfigureResult, tool_data) == 24);

    assert!(size_of::<RecordHeader>() == 16);
    assert!(offset_of!(RecordHeader, kind) == 4);
    assert!(offset_of!(RecordHeader, payload) == 8);

    assert!(size_of::<DispatchRecord>() == 184);
    assert!(offset_of!(DispatchRecord, correlation) == 16);
    assert!(offset_of!(DispatchRecord, thread_id) == 32);
    assert!(offset_of!(DispatchRecord, timestamps) == 40);
    assert!(offset_of!(DispatchRecord, info_size) == 56);
    assert!(offset_of!(DispatchRecord, kernel_id) == 80);
    assert!(offset_of!(DispatchRecord, dispatch_id) == 88);
    assert!(offset_of!(DispatchRecord, workgroup) == 104);
    assert!(offset_of!(DispatchRecord, reserved) == 128);

    assert!(size_of::<CallbackRecord>() == 64);
    assert!(offset_of!(CallbackRecord, correlation) == 16);
    assert!(offset_of!(CallbackRecord, kind) == 40);
    assert!(offset_of!(CallbackRecord, operation) == 44);
    assert!(offset_of!(CallbackRecord, phase) == 48);
    assert!(offset_of!(CallbackRecord, payload) == 56);

    assert!(size_of::<SymbolPayload>() == 88);
    assert!(offset_of!(SymbolPayload, kernel_id) == 8);
    assert!(offset_of!(SymbolPayload, kernel_name) == 24);
    assert!(offset_of!(SymbolPayload, kernel_object) == 32);
    assert!(offset_of!(SymbolPayload, numbers) == 40);
    assert!(offset_of!(SymbolPayload, entry_byte_offset) == 72);
    assert!(offset_of!(SymbolPayload, kernel_address) == 80);
};
