//! CUDA: fat binary containers, and the kernels of the cubins and PTX texts in them.
//!
//! The layout was determined by dumping what `fatbinary` of CUDA 12.8 to 13.0 writes for known
//! inputs and comparing with what `cuobjdump` lists; see `docs/symbol-maps.md`.

mod cubin;
mod fatbin;
mod payload;
mod ptx;
mod section;
#[cfg(test)]
mod tests;

pub(crate) use payload::Unpacker;
pub(crate) use section::read_section;

/// Sections that hold containers: linked code, and code for the device linker (`-rdc=true`).
pub(crate) const SECTIONS: [&str; 2] = [".nv_fatbin", "__nv_relfatbin"];
