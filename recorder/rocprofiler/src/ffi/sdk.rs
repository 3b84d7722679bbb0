//! The SDK's functions, bound from the copy that called us.
//!
//! A process can hold two copies, the system's and a wheel's. Only the one that called can be used, so it
//! is found by an address of its own, is never linked, and never opened by its name.

use std::ffi::{CStr, c_int, c_void};
use std::mem;
use std::ptr;
use std::thread;
use std::time::{Duration, Instant};

use super::abi::{
    BUFFER_BUSY, BUFFER_KERNEL_DISPATCH, CALLBACK_CODE_OBJECT, CODE_OBJECT_LOAD, CallbackRecord,
    KERNEL_SYMBOL_REGISTER, LOSSLESS, RecordHeader, Status,
};
use super::entry::{code_object_event, dispatches_completed};
use super::loader::Loaded;

/// Each of the buffer's two halves. Half of it filled calls back. The SDK spends 17 bytes per byte of a half.
pub(crate) const BUFFER_BYTES: usize = 1 << 20;

/// An identifier the SDK gave.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Id(u64);

type BufferCallback =
    unsafe extern "C" fn(Id, Id, *const *const RecordHeader, usize, *mut c_void, u64);
type TraceCallback = unsafe extern "C" fn(CallbackRecord, *mut u64, *mut c_void);
type CreateBuffer =
    unsafe extern "C" fn(Id, usize, usize, u32, BufferCallback, *mut c_void, *mut Id) -> Status;
type TraceService =
    unsafe extern "C" fn(Id, u32, *const i32, usize, TraceCallback, *mut c_void) -> Status;

/// The functions the recorder uses.
pub(crate) struct Sdk {
    create_context: unsafe extern "C" fn(*mut Id) -> Status,
    start_context: unsafe extern "C" fn(Id) -> Status,
    stop_context: unsafe extern "C" fn(Id) -> Status,
    context_is_active: unsafe extern "C" fn(Id, *mut c_int) -> Status,
    create_buffer: CreateBuffer,
    flush_buffer: unsafe extern "C" fn(Id) -> Status,
    buffer_service: unsafe extern "C" fn(Id, u32, *const i32, usize, Id) -> Status,
    trace_service: TraceService,
    create_thread: unsafe extern "C" fn(*mut Id) -> Status,
    assign_thread: unsafe extern "C" fn(Id, Id) -> Status,
}

impl Sdk {
    /// Binds the mapped library that `address` belongs to.
    pub(crate) fn of(address: *const c_void) -> Option<Self> {
        let library = Loaded::of(address)?;
        // SAFETY: the function types are the SDK's.
        unsafe {
            Some(Self {
                create_context: bind(library, c"rocprofiler_create_context")?,
                start_context: bind(library, c"rocprofiler_start_context")?,
                stop_context: bind(library, c"rocprofiler_stop_context")?,
                context_is_active: bind(library, c"rocprofiler_context_is_active")?,
                create_buffer: bind(library, c"rocprofiler_create_buffer")?,
                flush_buffer: bind(library, c"rocprofiler_flush_buffer")?,
                buffer_service: bind(library, c"rocprofiler_configure_buffer_tracing_service")?,
                trace_service: bind(library, c"rocprofiler_configure_callback_tracing_service")?,
                create_thread: bind(library, c"rocprofiler_create_callback_thread")?,
                assign_thread: bind(library, c"rocprofiler_assign_callback_thread")?,
            })
        }
    }

    pub(crate) fn create_context(&self) -> Result<Id, Status> {
        let mut context = Id(0);
        // SAFETY: a valid pointer to the zero that the SDK wants to find.
        check(unsafe { (self.create_context)(&raw mut context) })?;
        Ok(context)
    }

    /// Starts the context; an error, too, where the SDK says afterwards that it did not.
    pub(crate) fn start(&self, context: Id) -> Result<(), Status> {
        // SAFETY: no pointers.
        check(unsafe { (self.start_context)(context) })?;
        let mut active = 1;
        // SAFETY: a valid pointer.
        let status = unsafe { (self.context_is_active)(context, &raw mut active) };
        if status == 0 && active == 0 {
            return Err(status);
        }
        Ok(())
    }

    pub(crate) fn stop(&self, context: Id) {
        // SAFETY: no pointers. Its failure changes nothing: the recording has its error word already.
        unsafe { (self.stop_context)(context) };
    }

    /// Asks for a call back at each code object and kernel symbol that is loaded.
    ///
    /// Not for those of the host: programs register them while they start, whether or not they will use a
    /// GPU.
    pub(crate) fn trace_symbols(&self, context: Id) -> Result<(), Status> {
        let operations = [CODE_OBJECT_LOAD, KERNEL_SYMBOL_REGISTER];
        // SAFETY: the operations are copied; the callback has the SDK's type and lets no panic out.
        check(unsafe {
            (self.trace_service)(
                context,
                CALLBACK_CODE_OBJECT,
                operations.as_ptr(),
                operations.len(),
                code_object_event,
                ptr::null_mut(),
            )
        })
    }

    pub(crate) fn create_buffer(&self, context: Id) -> Result<Id, Status> {
        let mut buffer = Id(0);
        // SAFETY: the callback has the SDK's type and lets no panic out; a valid pointer.
        check(unsafe {
            (self.create_buffer)(
                context,
                BUFFER_BYTES,
                BUFFER_BYTES / 2,
                LOSSLESS,
                dispatches_completed,
                ptr::null_mut(),
                &raw mut buffer,
            )
        })?;
        Ok(buffer)
    }

    /// Gives the buffer a thread of its own, so that no other tool's callback delays ours.
    pub(crate) fn give_thread(&self, buffer: Id) -> Result<(), Status> {
        let mut thread = Id(0);
        // SAFETY: a valid pointer.
        check(unsafe { (self.create_thread)(&raw mut thread) })?;
        // SAFETY: no pointers.
        check(unsafe { (self.assign_thread)(buffer, thread) })
    }

    /// Asks for a record of each kernel dispatch.
    pub(crate) fn trace_dispatches(&self, context: Id, buffer: Id) -> Result<(), Status> {
        // SAFETY: null and 0 stand for all operations.
        check(unsafe {
            (self.buffer_service)(context, BUFFER_KERNEL_DISPATCH, ptr::null(), 0, buffer)
        })
    }

    /// Hands over what the buffer holds. Waits for our callback, so it must never be called from one.
    /// While the buffer is busy it is tried again for as long as `patience`.
    pub(crate) fn flush(&self, buffer: Id, patience: Duration) -> Result<(), Status> {
        let start = Instant::now();
        loop {
            // SAFETY: no pointers.
            match unsafe { (self.flush_buffer)(buffer) } {
                0 => return Ok(()),
                BUFFER_BUSY if start.elapsed() < patience => {
                    thread::sleep(Duration::from_millis(1));
                }
                status => return Err(status),
            }
        }
    }
}

fn check(status: Status) -> Result<(), Status> {
    if status == 0 { Ok(()) } else { Err(status) }
}

/// # Safety
/// `F` is the function pointer type of the symbol.
unsafe fn bind<F>(library: Loaded, name: &CStr) -> Option<F> {
    const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
    let symbol = library.symbol(name)?;
    // SAFETY: of the same size, and of type `F` as the caller promises.
    Some(unsafe { mem::transmute_copy(&symbol) })
}
