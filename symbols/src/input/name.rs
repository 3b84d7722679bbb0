//! Kernel names in symbol tables and PTX texts.

use super::Fault;
use kernrec_schemas::KernelName;

/// `name` as a kernel name that documents can carry.
pub(crate) fn kernel_name(name: &[u8], offset: u64) -> Result<&str, Fault> {
    std::str::from_utf8(name)
        .ok()
        .filter(|name| KernelName::is_valid(name))
        .ok_or_else(|| {
            Fault::malformed(offset, "kernel names of one line, UTF-8, 1 to 65536 bytes")
        })
}
