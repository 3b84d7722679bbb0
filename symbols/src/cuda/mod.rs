//! CUDA: fat binary containers, and the kernels of the cubins and PTX texts in them.
//!
//! The layout was determined by dumping what `fatbinary` of CUDA 12.8 to 13.0 writes for known
//! inputs and comparing with what `cuobjdump` lists; see `docs/symbol-maps.md`.

mod cubin;
mod fatbin;
mod links;
mod payload;
mod ptx;
mod section;
#[cfg(test)]
mod tests;

pub use links::DeviceLinks;
pub(crate) use links::Found;
pub(crate) use payload::Unpacker;
pub(crate) use section::read_section;

/// The section of containers with code for the device linker (`-rdc=true`).
pub(crate) const RELOCATABLE: &str = "__nv_relfatbin";

/// Sections that hold containers: whole programs, and code for the device linker.
pub(crate) const SECTIONS: [&str; 2] = [".nv_fatbin", RELOCATABLE];
