//! CUPTI's functions, bound from one mapped library.

use std::ffi::{CStr, CString, c_int, c_void};
use std::mem;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::ptr;

use super::entry::{buffer_completed, buffer_requested};

/// A `CUptiResult`; 0 is success.
pub(crate) type Status = i32;

/// `CUPTI_ACTIVITY_KIND_DRIVER`: one record per call of the driver's interface.
pub(crate) const KIND_DRIVER: u32 = 4;
/// `CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL`: one record per kernel, graph nodes included, without
/// serialising kernels.
pub(crate) const KIND_KERNEL: u32 = 10;
/// `CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER`.
const ATTRIBUTE_ZEROED: u32 = 5;
/// `cuptiActivityGetEnabledKinds` is documented from this version on.
const FIRST_WITH_ENABLED_KINDS: u32 = 130_200;

type Request = unsafe extern "C" fn(*mut *mut u8, *mut usize, *mut usize);
type Complete = unsafe extern "C" fn(*mut c_void, u32, *mut u8, usize, usize);
pub(super) type NextRecord = unsafe extern "C" fn(*mut u8, usize, *mut *mut u8) -> Status;

/// The functions the recorder uses. Types as in every CUPTI from 11.8 to 13.5.
pub(crate) struct Cupti {
    version: unsafe extern "C" fn(*mut u32) -> Status,
    register: unsafe extern "C" fn(Request, Complete) -> Status,
    enable: unsafe extern "C" fn(u32) -> Status,
    disable: unsafe extern "C" fn(u32) -> Status,
    flush_all: unsafe extern "C" fn(u32) -> Status,
    pub(super) next_record: NextRecord,
    dropped: unsafe extern "C" fn(*mut c_void, u32, *mut usize) -> Status,
    set_attribute: unsafe extern "C" fn(u32, *mut usize, *mut c_void) -> Status,
    enabled_kinds:
        Option<unsafe extern "C" fn(*mut c_void, *mut u32, *mut usize, *mut usize) -> Status>,
}

impl Cupti {
    /// Binds a copy that is mapped (`already`) or maps this one. The handle is kept for good.
    pub(crate) fn open(path: &Path, already: bool) -> Option<Self> {
        let path = CString::new(path.as_os_str().as_bytes()).ok()?;
        let mode = if already {
            libc::RTLD_LAZY | libc::RTLD_NOLOAD
        } else {
            libc::RTLD_LAZY
        };
        // SAFETY: a valid string. Mapping CUPTI runs its constructors, as any linked client's would.
        let handle = unsafe { libc::dlopen(path.as_ptr(), mode) };
        if handle.is_null() {
            return None;
        }
        // SAFETY: the function types are CUPTI's.
        unsafe {
            Some(Self {
                version: bind(handle, c"cuptiGetVersion")?,
                register: bind(handle, c"cuptiActivityRegisterCallbacks")?,
                enable: bind(handle, c"cuptiActivityEnable")?,
                disable: bind(handle, c"cuptiActivityDisable")?,
                flush_all: bind(handle, c"cuptiActivityFlushAll")?,
                next_record: bind(handle, c"cuptiActivityGetNextRecord")?,
                dropped: bind(handle, c"cuptiActivityGetNumDroppedRecords")?,
                set_attribute: bind(handle, c"cuptiActivitySetAttribute")?,
                enabled_kinds: bind(handle, c"cuptiActivityGetEnabledKinds"),
            })
        }
    }

    /// CUPTI's version number; the status where it cannot work with this driver.
    pub(crate) fn version(&self) -> Result<u32, Status> {
        let mut version = 0;
        // SAFETY: a valid pointer.
        check(unsafe { (self.version)(&raw mut version) })?;
        Ok(version)
    }

    /// Says that our buffers come zeroed, which keeps clearing them off the launching threads.
    pub(crate) fn buffers_are_zeroed(&self) -> Result<(), Status> {
        let (mut size, mut value) = (1_usize, 1_u8);
        // SAFETY: the attribute is one byte, which `value` is.
        check(unsafe {
            (self.set_attribute)(
                ATTRIBUTE_ZEROED,
                &raw mut size,
                (&raw mut value).cast::<c_void>(),
            )
        })
    }

    /// Makes the recorder's callbacks the process's.
    pub(crate) fn register(&self) -> Result<(), Status> {
        // SAFETY: both callbacks have CUPTI's types and let no panic out.
        check(unsafe { (self.register)(buffer_requested, buffer_completed) })
    }

    pub(crate) fn enable(&self, kind: u32) -> Result<(), Status> {
        // SAFETY: no pointers.
        check(unsafe { (self.enable)(kind) })
    }

    pub(crate) fn disable(&self, kind: u32) -> Result<(), Status> {
        // SAFETY: no pointers.
        check(unsafe { (self.disable)(kind) })
    }

    /// Returns buffers: those whose records are complete, or with `forced` all.
    pub(crate) fn flush(&self, forced: bool) -> Result<(), Status> {
        // SAFETY: no pointers. Never called inside a buffer callback.
        check(unsafe { (self.flush_all)(u32::from(forced)) })
    }

    /// Records lost since the last call.
    pub(crate) fn dropped(&self) -> Result<u64, Status> {
        let mut records = 0_usize;
        // SAFETY: a valid pointer; a null context and stream 0 stand for all of them.
        check(unsafe { (self.dropped)(ptr::null_mut(), 0, &raw mut records) })?;
        Ok(records as u64)
    }

    /// Whether the kernel activity is still enabled; `None` where this CUPTI cannot say.
    pub(crate) fn kernels_enabled(&self, version: u32) -> Option<Result<bool, Status>> {
        let enabled_kinds = self
            .enabled_kinds
            .filter(|_| version >= FIRST_WITH_ENABLED_KINDS)?;
        let mut kinds = [0_u32; 128];
        let (mut bytes, mut count) = (size_of_val(&kinds), 0_usize);
        // SAFETY: room for `bytes`; a null handle asks for all clients' kinds.
        let status = unsafe {
            enabled_kinds(
                ptr::null_mut(),
                kinds.as_mut_ptr(),
                &raw mut bytes,
                &raw mut count,
            )
        };
        Some(check(status).map(|()| kinds.iter().take(count).any(|kind| *kind == KIND_KERNEL)))
    }
}

fn check(status: c_int) -> Result<(), Status> {
    if status == 0 { Ok(()) } else { Err(status) }
}

/// # Safety
/// `F` is the function pointer type of the symbol.
unsafe fn bind<F>(handle: *mut c_void, name: &CStr) -> Option<F> {
    const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
    // SAFETY: an open handle and a valid string.
    let symbol = unsafe { libc::dlsym(handle, name.as_ptr()) };
    // SAFETY: not null, of the same size, and of type `F` as the caller promises.
    (!symbol.is_null()).then(|| unsafe { mem::transmute_copy(&symbol) })
}
