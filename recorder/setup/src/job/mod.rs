//! The job's folder, and what set-up keeps in it.

mod folder;
mod record;
mod state;

pub(crate) use folder::{choose, holds_jobs, is_fresh, make};
pub(crate) use record::Record;
pub(crate) use state::{Entry, Kind, Setup, State};
