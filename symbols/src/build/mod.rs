//! Where objects, sources and headers come from: the records a build leaves behind.

mod cmake;
mod compile_db;
mod depfile;
mod discover;
mod error;
mod files;
mod folder;
mod hipify;
mod provenance;
mod recipe;
mod record;
#[cfg(test)]
mod tests;

pub(crate) use cmake::is_probe;
pub(crate) use discover::discover;
pub use error::BuildError;
pub(crate) use files::{Files, Known, lexical};
pub(crate) use folder::{Folder, same_file};
pub(crate) use provenance::{Origin, Origins};
pub(crate) use recipe::{Problem, Recipe};
pub(crate) use record::read_record;
