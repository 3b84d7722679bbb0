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

/// Whether a file name is that of a recording: `kern.*.txt`, whatever stands between, in any encoding.
pub fn is_recording_name(name: impl AsRef<[u8]>) -> bool {
    // Byte for byte: recorders write exactly this, and a file system may tell `.TXT` apart.
    name.as_ref()
        .strip_prefix(b"kern.")
        .is_some_and(|rest| rest.ends_with(b".txt"))
}
