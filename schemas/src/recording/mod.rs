//! Recordings: the text file one process leaves, `kern.<pid>.txt` or `kern.<pid>.<nonce>.txt`.
//!
//! Reading never fails: whatever stands in the file, its names are evidence that a kernel ran, and the
//! [`ProcessState`] says how far its silence can be believed.

mod fields;
mod footer;
mod header;
mod read;
mod state;

pub use footer::Footer;
pub use header::{Header, HeaderKind};
pub use read::Recording;
pub use state::{ProcessCounts, ProcessState};

/// Whether a file name is that of a recording: `kern.*.txt`.
pub fn is_recording_name(name: &str) -> bool {
    // Byte for byte: recorders write exactly this, and a file system may tell `.TXT` apart.
    name.strip_prefix("kern.")
        .and_then(|rest| rest.strip_suffix(".txt"))
        .is_some_and(|id| !id.is_empty())
}
