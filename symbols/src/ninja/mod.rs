//! Ninja's own records, read natively: the dependency log, the build log and the build file.

mod build_file;
mod deps_log;
mod log;
#[cfg(test)]
mod tests;

pub(crate) use build_file::{BuildFile, Edge};
pub(crate) use deps_log::DepsLog;
pub(crate) use log::BuildLog;
