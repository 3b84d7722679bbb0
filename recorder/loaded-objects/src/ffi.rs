//! The calls into the loader.
#![expect(unsafe_code, reason = "the loader's list is a C interface")]

use std::ffi::{CStr, c_int, c_void};
use std::ops::ControlFlow;
use std::slice;

use crate::object::{Object, to_usize};

/// One entry of an object's dynamic section (ELF gABI, `Elf64_Dyn`).
#[repr(C)]
struct Dyn {
    tag: i64,
    value: u64,
}

const DT_NULL: i64 = 0;
const DT_NEEDED: i64 = 1;
const DT_STRTAB: i64 = 5;

/// Calls `visit` for each mapped object in load order until it breaks. The loader's lock is held
/// meanwhile, so `visit` must not load, unload or look up libraries.
pub fn for_each(mut visit: impl FnMut(&Object<'_>) -> ControlFlow<()>) {
    let mut visit: &mut dyn FnMut(&Object<'_>) -> ControlFlow<()> = &mut visit;
    // SAFETY: `trampoline` has the documented signature and uses the pointer only during this call.
    unsafe {
        libc::dl_iterate_phdr(Some(trampoline), (&raw mut visit).cast::<c_void>());
    }
}

unsafe extern "C" fn trampoline(
    info: *mut libc::dl_phdr_info,
    _size: usize,
    data: *mut c_void,
) -> c_int {
    // SAFETY: the loader passes a valid description, and `data` is the reference made in `for_each`.
    let (info, visit) = unsafe {
        (
            &*info,
            &mut *data.cast::<&mut dyn FnMut(&Object<'_>) -> ControlFlow<()>>(),
        )
    };
    let path = if info.dlpi_name.is_null() {
        c""
    } else {
        // SAFETY: the loader keeps the name, zero-terminated, as long as the object is mapped.
        unsafe { CStr::from_ptr(info.dlpi_name) }
    };
    let segments = if info.dlpi_phdr.is_null() {
        &[]
    } else {
        // SAFETY: `dlpi_phnum` headers follow, mapped as long as the object is.
        unsafe { slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) }
    };
    let object = Object {
        path,
        base: to_usize(info.dlpi_addr),
        segments,
    };
    c_int::from(visit(&object).is_break())
}

/// Whether `test` holds for a name in the object's list of needed libraries.
pub(crate) fn needed_names(object: &Object<'_>, test: impl Fn(&[u8]) -> bool) -> bool {
    let Some(dynamic) = dynamic_section(object) else {
        return false;
    };
    let Some(strings) = dynamic
        .iter()
        .find(|entry| entry.tag == DT_STRTAB)
        .map(|entry| to_usize(entry.value))
        // glibc has relocated the pointer; the kernel's vdso, which needs nothing, has not.
        .filter(|address| *address > object.base)
    else {
        return false;
    };
    dynamic
        .iter()
        .filter(|entry| entry.tag == DT_NEEDED)
        .any(|entry| {
            let name = strings.wrapping_add(to_usize(entry.value)) as *const libc::c_char;
            // SAFETY: the loader resolved this very string to load the library.
            test(unsafe { CStr::from_ptr(name) }.to_bytes())
        })
}

/// The object's dynamic section up to its end mark.
fn dynamic_section<'a>(object: &Object<'a>) -> Option<&'a [Dyn]> {
    let segment = object
        .segments
        .iter()
        .find(|segment| segment.p_type == libc::PT_DYNAMIC)?;
    let start = object.base.wrapping_add(to_usize(segment.p_vaddr)) as *const Dyn;
    let limit = to_usize(segment.p_memsz) / size_of::<Dyn>();
    // SAFETY: the segment is mapped, aligned for its entries and `limit` entries long.
    let entries = unsafe { slice::from_raw_parts(start, limit) };
    let end = entries.iter().position(|entry| entry.tag == DT_NULL)?;
    entries.get(..end)
}
