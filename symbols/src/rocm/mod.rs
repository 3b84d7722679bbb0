//! ROCm: offload bundles, and the kernels of the code objects in them.
//!
//! Bundle layouts are documented by the Clang Offload Bundler's manual; code objects, kernel
//! descriptors and the metadata note by LLVM's AMDGPU usage guide.

mod bundle;
mod code_object;
mod compressed;
mod metadata;
mod msgpack;
mod section;
#[cfg(test)]
mod tests;

pub(crate) use section::{Found, read_section};

/// The section of linked device code in an object.
pub(crate) const FATBIN: &str = ".hip_fatbin";
/// The wrapper that host code registers; present without [`FATBIN`] under `-fgpu-rdc`.
pub(crate) const WRAPPER: &str = ".hipFatBinSegment";
/// Prefix of the sections an object bundled by section has, followed by the entry's id.
pub(crate) const BUNDLE_SECTION: &str = "__CLANG_OFFLOAD_BUNDLE__";
/// Where the newer offloading driver puts code that is linked later.
pub(crate) const OFFLOADING: &str = ".llvm.offloading";
