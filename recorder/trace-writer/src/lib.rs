//! Writes the recording of one process: `kern.<pid>.<nonce>.txt`.
//!
//! Shared by the injection libraries, so it runs inside other people's processes: it never prints, exits
//! or panics, keeps no descriptor open between writes, and reports every trouble of its own as an error
//! word in the recording, which can then never be taken for complete.
//!
//! [`Trace`] is the recording and its accounting; [`Shared`] is a trace that several threads reach and
//! that survives `fork`, signals and cancellation; [`NameSet`] and [`Quiet`] are the same means for what
//! a recorder keeps beside it, and [`RecordingFile`] the file alone, for recordings of another format.
#![warn(missing_docs)]

mod ffi;
mod file;
mod header;
mod line;
mod names;
mod shared;
#[cfg(test)]
mod tests;
mod trace;

pub use ffi::Quiet;
pub use file::{AppendError, CreateError, RecordingFile};
pub use header::{Backend, Header};
pub use names::{MAX_NAME_BYTES, NameRef, NameSet};
pub use shared::Shared;
pub use trace::{Observed, Totals, Trace};
