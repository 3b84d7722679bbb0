//! The SDK's structures, by offset.

use std::ffi::{c_char, c_int, c_void};

pub(crate) const SUCCESS: c_int = 0;
pub(crate) const CONTEXT_NOT_FOUND: c_int = 2;
pub(crate) const BUFFER_NOT_FOUND: c_int = 3;
pub(crate) const CONTEXT_ID_NOT_ZERO: c_int = 13;
pub(crate) const BUFFER_BUSY: c_int = 14;
pub(crate) const SERVICE_ALREADY_CONFIGURED: c_int = 15;
pub(crate) const CONFIGURATION_LOCKED: c_int = 16;
pub(crate) const NOT_IMPLEMENTED: c_int = 17;
pub(crate) const INVALID_ARGUMENT: c_int = 19;
pub(crate) const FINALIZED: c_int = 21;

/// A buffer that loses what does not fit.
pub(crate) const POLICY_DISCARD: u32 = 1;
/// A buffer that makes its producers wait.
pub(crate) const POLICY_LOSSLESS: u32 = 2;
pub(crate) const KERNEL_DISPATCH: u32 = 11;
pub(crate) const CODE_OBJECT: u32 = 10;
pub(crate) const CODE_OBJECT_LOAD: i32 = 1;
pub(crate) const SYMBOL_REGISTER: i32 = 2;
pub(crate) const LOAD: u32 = 1;
pub(crate) const UNLOAD: u32 = 2;

pub(crate) type Initialize =
    unsafe extern "C" fn(unsafe extern "C" fn(ClientId), *mut c_void) -> c_int;
pub(crate) type Finalize = unsafe extern "C" fn(*mut c_void);
pub(crate) type Configure =
    unsafe extern "C" fn(u32, *const c_char, u32, *mut ClientId) -> *mut ConfigureResult;
pub(crate) type BufferCallback =
    unsafe extern "C" fn(u64, u64, *mut *mut RecordHeader, usize, *mut c_void, u64);
pub(crate) type TraceCallback = unsafe extern "C" fn(CallbackRecord, *mut u64, *mut c_void);

#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct ClientId {
    pub(crate) size: usize,
    pub(crate) name: *const c_char,
    pub(crate) handle: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct ConfigureResult {
    pub(crate) size: usize,
    pub(crate) initialize: Option<Initialize>,
    pub(crate) finalize: Option<Finalize>,
    pub(crate) tool_data: *mut c_void,
}

#[repr(C)]
pub(crate) struct RecordHeader {
    /// Category in the low half, kind in the high one.
    pub(crate) hash: u64,
    pub(crate) payload: *mut c_void,
}

/// 64 bytes: context, thread, three correlation words, kind and operation, phase, payload.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct CallbackRecord {
    pub(crate) context: u64,
    pub(crate) thread: u64,
    pub(crate) correlation: [u64; 3],
    pub(crate) kind: u32,
    pub(crate) operation: i32,
    pub(crate) phase: u32,
    pub(crate) payload: *mut c_void,
}

/// A kernel dispatch record as 64-bit words: 23 of them, 24 in newer versions.
pub(crate) type DispatchRecord = [u64; 24];

/// Its words' places.
pub(crate) mod dispatch_word {
    pub(crate) const SIZE: usize = 0;
    /// Kind in the low half, operation in the high one.
    pub(crate) const KIND: usize = 1;
    pub(crate) const THREAD: usize = 4;
    pub(crate) const INFO_SIZE: usize = 7;
    pub(crate) const KERNEL_ID: usize = 10;
    pub(crate) const DISPATCH_ID: usize = 11;
}

/// A kernel symbol payload as 64-bit words.
pub(crate) type SymbolPayload = [u64; 11];

/// Its words' places.
pub(crate) mod symbol_word {
    pub(crate) const SIZE: usize = 0;
    pub(crate) const KERNEL_ID: usize = 1;
    pub(crate) const NAME: usize = 3;
}

const _: () = {
    assert!(size_of::<ClientId>() == 24);
    assert!(size_of::<ConfigureResult>() == 32);
    assert!(size_of::<RecordHeader>() == 16);
    assert!(size_of::<CallbackRecord>() == 64);
    assert!(size_of::<SymbolPayload>() == 88);
    assert!(size_of::<DispatchRecord>() == 192);
};
