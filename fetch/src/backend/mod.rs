//! The work for one backend.
//!
//! `online` decides what there is to do: nothing (without the lock), or an installation (under it). `plan`
//! chooses the record, `ancestry` asks git for it, `remote` reads pointer and manifest, `download` brings the
//! files into a staging folder and checks them, `install` puts them in place, `twins` keeps the names of the
//! existing system. `upstream` is the same work for a store in that system's layout, `offline` the other way to end.

mod ancestry;
mod download;
mod install;
mod job;
mod objects;
mod offline;
mod online;
mod plan;
mod remote;
mod twins;
mod upstream;

pub use ancestry::AncestryError;
pub(crate) use job::Job;
pub(crate) use offline::offline;
pub(crate) use online::online;
pub(crate) use remote::Remote;
