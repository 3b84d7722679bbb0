//! Object files to a kernel symbol map: which source file each GPU kernel came from.
//!
//! CUDA and ROCm device code is read straight from the objects of a build, without the vendors'
//! tools, and joined with what the build system recorded about sources and headers. Nothing is
//! guessed: what cannot be read makes the map say so.

mod build;
mod cuda;
mod input;
mod map;
mod ninja;
mod object;
mod rocm;

pub use build::BuildError;
pub use cuda::DeviceLinks;
pub use input::Reason;
pub use map::{
    BuildOptions, Labels, NO_SOURCES, ObjectsOptions, UNREADABLE_OBJECTS, map_build, map_objects,
};
pub use object::{DeviceCode, ObjectError, ObjectReader, read_object};
