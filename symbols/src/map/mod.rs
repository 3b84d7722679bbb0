//! The map: a build's objects joined with their sources.

mod assemble;
mod entry;
mod from_build;
mod from_objects;
mod links;
mod options;

pub use from_build::map_build;
pub use from_objects::map_objects;
pub use options::{BuildOptions, Labels, NO_SOURCES, ObjectsOptions, UNREADABLE_OBJECTS};
