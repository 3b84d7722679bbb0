//! The two halves of what a job leaves: what ran on the GPU, and what Python ran.
//!
//! Each is set up, recorded and folded by itself. A job may have either or both, and neither changes what the other
//! says.

use kernrec_schemas::function_recording::{
    PYTEST_MARKER, is_function_recording_name, is_session_notes_name,
};
use kernrec_schemas::recording::is_recording_name;

/// The sidecar of the kernel recorders.
pub const SIDECAR: &str = "kernrec.json";
/// The sidecar of the Python recorder.
pub const PYTHON_SIDECAR: &str = "fnrec.json";

/// One recorder's share of a job's files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// `kernrec.json` and `kern.*.txt`.
    Kernels,
    /// `fnrec.json`, `fn.*.txt` and the notes of pytest's sessions.
    Python,
}

impl Part {
    /// The half that a file belongs to; `None` for anything else in a job's folder.
    pub fn of(name: &[u8]) -> Option<Self> {
        [Self::Kernels, Self::Python].into_iter().find(|part| {
            let is_note = *part == Self::Python && is_note(name);
            is_note || part.is_evidence(name)
        })
    }

    /// The name of its sidecar.
    pub const fn sidecar(self) -> &'static str {
        match self {
            Self::Kernels => SIDECAR,
            Self::Python => PYTHON_SIDECAR,
        }
    }

    /// Whether a file shows that a job has this half: its sidecar or a recording. Notes alone do not.
    pub fn is_evidence(self, name: &[u8]) -> bool {
        name == self.sidecar().as_bytes() || self.is_recording(name)
    }

    fn is_recording(self, name: &[u8]) -> bool {
        match self {
            Self::Kernels => is_recording_name(name),
            Self::Python => is_function_recording_name(name),
        }
    }
}

/// Whether a file shows that a folder is a job's.
pub(super) fn is_evidence(name: &[u8]) -> bool {
    Part::Kernels.is_evidence(name) || Part::Python.is_evidence(name)
}

fn is_note(name: &[u8]) -> bool {
    name == PYTEST_MARKER.as_bytes() || is_session_notes_name(name) || is_first_notes_name(name)
}

/// `pytest.<pid>.txt`, which the first plugins wrote.
fn is_first_notes_name(name: &[u8]) -> bool {
    name.strip_prefix(b"pytest.")
        .and_then(|rest| rest.strip_suffix(b".txt"))
        .is_some_and(|pid| !pid.is_empty() && pid.iter().all(u8::is_ascii_digit))
}
