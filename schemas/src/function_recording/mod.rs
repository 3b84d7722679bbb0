//! Function recordings: the text file one Python process leaves, `fn.<host>.<nonce>.<pid>.txt`, and the notes
//! of pytest's sessions beside it.
//!
//! Reading never fails: whatever stands in the file, its functions are evidence that they ran, and the
//! [`ProcessState`](crate::recording::ProcessState) says how far its silence can be believed.

mod facts;
mod header;
mod notes;
mod read;

pub use facts::{JobFacts, thin_reasons};
pub use header::FunctionHeader;
pub use notes::{SessionNotes, TestSession};
pub use read::{Function, FunctionRecording};

/// Whether a file name is that of a function recording: `fn.*.txt`, whatever stands between.
pub fn is_function_recording_name(name: impl AsRef<[u8]>) -> bool {
    name.as_ref()
        .strip_prefix(b"fn.")
        .is_some_and(|rest| rest.ends_with(b".txt"))
}

/// The name of the file that says that pytest's plugin was there.
pub const PYTEST_MARKER: &str = "pytest.installed";

/// Whether a file name is that of the notes of a process's pytest sessions: `pytest.<pid>.jsonl`, or the older
/// `pytest.jsonl`.
pub fn is_session_notes_name(name: impl AsRef<[u8]>) -> bool {
    name.as_ref()
        .strip_prefix(b"pytest.")
        .is_some_and(|rest| rest == b"jsonl" || rest.ends_with(b".jsonl"))
}
