//! What jobs left, read in one pass: job folders in either layout, bundles, or a mixture.
//!
//! One bad recording never fails the collection: it is kept with its state, and spoils its step's row later.
//! A bundle that cannot be read names no step that could be trusted, so it is set aside as
//! [`Unreadable`] and the gates decide (`unreadable-input`).

mod collected;
mod content;
mod error;
mod job;
mod names;
mod python;
mod read;
mod run;
mod unite;

pub use collected::{Collected, Unreadable};
pub use error::CollectError;
pub use job::{Job, Origin, Process, SidecarState};
pub use run::{Inputs, collect};

pub(crate) use content::{Parsed, ParsedJob};
pub(crate) use names::Interners;
pub(crate) use read::read_bundle;
