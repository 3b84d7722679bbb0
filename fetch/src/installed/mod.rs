//! The reader's side: what is installed, opened as one unit and verified.
//!
//! [`open`] resolves a backend's link once and takes everything from the folder it names, so it never sees the
//! table of one record with the map of another, whatever a fetcher does meanwhile.

mod error;
mod hold;
mod open;

pub use error::InstalledError;
pub use open::{InstalledFunctions, InstalledPair, backends, is_there, open, open_functions};
