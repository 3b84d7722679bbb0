//! Reading what the SDK hands to the callbacks. Valid until the callback returns.

use std::ffi::c_char;
use std::marker::PhantomData;
use std::slice;

use kernrec_trace_writer::MAX_NAME_BYTES;

use super::abi::{
    BUFFER_KERNEL_DISPATCH, CALLBACK_CODE_OBJECT, CATEGORY_TRACING, CallbackRecord,
    KERNEL_SYMBOL_REGISTER, PHASE_LOAD, RecordHeader,
};
use crate::versions::Layout;

/// One kernel dispatch that completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dispatch {
    pub(crate) kernel_id: u64,
    pub(crate) dispatch_id: u64,
}

/// The records of one call back.
#[derive(Clone, Copy)]
pub(crate) struct Delivery<'a> {
    headers: *const *const RecordHeader,
    count: usize,
    borrowed: PhantomData<&'a RecordHeader>,
}

impl Delivery<'_> {
    /// # Safety
    /// `headers` is null or points to `count` pointers, each null or to a header whose payload is null or
    /// a record that starts with its own size. All of it stays valid as long as the result.
    pub(super) unsafe fn new(headers: *const *const RecordHeader, count: usize) -> Self {
        Self {
            headers,
            count,
            borrowed: PhantomData,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The dispatches; the error word for a record that cannot be read.
    #[inline]
    pub(crate) fn dispatches(
        &self,
        layout: Layout,
    ) -> Result<impl Iterator<Item = Result<Dispatch, &'static str>>, &'static str> {
        let headers = if self.count == 0 {
            &[]
        } else if self.headers.is_null() {
            return Err("missing_buffer_headers");
        } else {
            // SAFETY: as `new` was promised.
            unsafe { slice::from_raw_parts(self.headers, self.count) }
        };
        Ok(headers.iter().map(move |header| read(*header, &layout)))
    }
}

#[inline]
fn read(header: *const RecordHeader, layout: &Layout) -> Result<Dispatch, &'static str> {
    if header.is_null() {
        return Err("missing_buffer_headers");
    }
    // SAFETY: not null, so a header, as `Delivery::new` was promised.
    let header = unsafe { header.read() };
    if header.category != CATEGORY_TRACING
        || header.kind != BUFFER_KERNEL_DISPATCH
        || header.payload.is_null()
    {
        return Err("invalid_dispatch_header");
    }
    let record = header.payload;
    // SAFETY: every record starts with its size. Unaligned reads accept any address.
    if unsafe { record.cast::<u64>().read_unaligned() } < layout.dispatch_bytes {
        return Err("short_dispatch_record");
    }
    // SAFETY: both lie within the size just checked.
    unsafe {
        Ok(Dispatch {
            kernel_id: word(record, layout.dispatch_kernel_id),
            dispatch_id: word(record, layout.dispatch_id),
        })
    }
}

/// # Safety
/// Eight readable bytes lie `offset` behind `start`.
#[inline]
unsafe fn word(start: *const u8, offset: usize) -> u64 {
    // SAFETY: as promised.
    unsafe { start.add(offset).cast::<u64>().read_unaligned() }
}

/// What a call back about code objects says.
#[derive(Clone, Copy)]
pub(crate) struct CodeObjectEvent<'a> {
    record: CallbackRecord,
    borrowed: PhantomData<&'a u8>,
}

impl<'a> CodeObjectEvent<'a> {
    /// # Safety
    /// The payload is null or what the record's kind and operation say, and stays valid as long as the
    /// result.
    pub(super) unsafe fn new(record: CallbackRecord) -> Self {
        Self {
            record,
            borrowed: PhantomData,
        }
    }

    /// Something was loaded, as opposed to unloaded.
    pub(crate) fn is_load(&self) -> bool {
        self.record.phase == PHASE_LOAD
    }

    /// The kernel that was registered, if this is about one.
    pub(crate) fn symbol(&self, layout: &Layout) -> Option<Result<Symbol<'a>, &'static str>> {
        let is_symbol = self.record.kind == CALLBACK_CODE_OBJECT
            && self.record.operation == KERNEL_SYMBOL_REGISTER;
        is_symbol.then(|| read_symbol(self.record.payload, layout))
    }
}

/// A kernel and its name, mangled and as it stands in the code object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Symbol<'a> {
    pub(crate) kernel_id: u64,
    /// Cut off just above the longest that a recording takes, so that a missing end is not searched for
    /// through all memory.
    pub(crate) name: &'a [u8],
}

fn read_symbol<'a>(payload: *const u8, layout: &Layout) -> Result<Symbol<'a>, &'static str> {
    const INVALID: &str = "invalid_kernel_symbol";
    /// `.kd` is taken off the end.
    const LONGEST: usize = MAX_NAME_BYTES + 4;
    if payload.is_null() {
        return Err(INVALID);
    }
    // SAFETY: a payload starts with its size.
    if unsafe { payload.cast::<u64>().read_unaligned() } < layout.symbol_bytes {
        return Err(INVALID);
    }
    // SAFETY: both lie within the size just checked.
    let (kernel_id, name) = unsafe {
        (
            word(payload, layout.symbol_kernel_id),
            payload
                .add(layout.symbol_name)
                .cast::<*const c_char>()
                .read_unaligned(),
        )
    };
    if name.is_null() || kernel_id == 0 {
        return Err(INVALID);
    }
    // SAFETY: a C string that lives until the callback returns; strnlen stops at its end.
    let name = unsafe { slice::from_raw_parts(name.cast::<u8>(), libc::strnlen(name, LONGEST)) };
    Ok(Symbol { kernel_id, name })
}
