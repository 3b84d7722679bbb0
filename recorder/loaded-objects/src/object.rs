//! One mapped object, as the loader describes it.

use std::ffi::CStr;

/// A mapped executable or shared object. Valid only inside the call that hands it out.
#[derive(Clone, Copy, Debug)]
pub struct Object<'a> {
    pub(crate) path: &'a CStr,
    pub(crate) base: usize,
    pub(crate) segments: &'a [libc::Elf64_Phdr],
}

impl<'a> Object<'a> {
    /// The path it was loaded by; empty for the main program.
    pub fn path(&self) -> &'a CStr {
        self.path
    }

    /// The last component of its path.
    pub fn file_name(&self) -> &'a [u8] {
        let path = self.path.to_bytes();
        path.rsplit(|byte| *byte == b'/').next().unwrap_or(path)
    }

    /// Whether `address` lies in one of its mapped segments.
    pub fn contains(&self, address: usize) -> bool {
        self.segments
            .iter()
            .filter(|segment| segment.p_type == libc::PT_LOAD)
            .any(|segment| {
                let start = self.base.wrapping_add(to_usize(segment.p_vaddr));
                address.wrapping_sub(start) < to_usize(segment.p_memsz)
            })
    }

    /// Whether it was linked against a library whose name starts with `prefix`.
    pub fn needs(&self, prefix: &[u8]) -> bool {
        crate::ffi::needed_names(self, |name| name.starts_with(prefix))
    }
}

pub(crate) fn to_usize(value: u64) -> usize {
    // Linux on 64-bit only: the two types have the same width.
    usize::try_from(value).unwrap_or(usize::MAX)
}
