//! Brings the newest good kernel record of a store to a local folder, and opens what is there.
//!
//! [`fetch`] is the whole job for one or several backends: pointer, manifest, objects, checks, one rename, one
//! link. [`installed::open`] is the one way a reader gets at the result. A pair on disk is replaced as a unit;
//! on any failure the one that was there stays.
//!
//! `options` and `report` are what goes in and comes out, `backend` is the work for one backend, `local` the
//! layout of the folder and what keeps it tidy, `installed` the reader's side.
#![warn(missing_docs)]

mod backend;
mod error;
mod fetch;
pub mod installed;
mod local;
mod options;
mod report;
mod reporter;

pub use backend::AncestryError;
pub use error::{FetchError, RecordProblem};
pub use fetch::fetch;
pub use options::{Backends, Choice, DEFAULT_LOCK_WAIT, FetchOptions, LayoutChoice, Source};
pub use report::{Age, BackendReport, Failure, FetchReport, PairSummary, Status};
pub use reporter::{Object, Reporter, Silent};
