//! `# kernrec v1 backend=cuda recorder=cupti pid=310 ppid=301 exe=/opt/py/bin/python`

use super::fields::{Fields, number};
use crate::id::Backend;

/// The start of every header line.
pub(super) const MAGIC: &str = "# kernrec v1 ";

/// How far a header can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeaderKind {
    /// Backend and recorder named and matching.
    Valid,
    /// The first version's header, which named neither: read as CUDA, never clean.
    Legacy,
    /// A key twice, a malformed number, or a backend and recorder that do not belong together.
    Bad,
}

/// What a header says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// How far it can be trusted.
    pub kind: HeaderKind,
    /// The backend it names; CUDA for a legacy header; `None` when it names something else.
    pub backend: Option<Backend>,
    /// The process.
    pub pid: Option<u64>,
    /// Its parent.
    pub ppid: Option<u64>,
    /// The program, up to the first space.
    pub exe: Option<String>,
    /// Written by a child forked after the recorder started.
    pub forked: bool,
}

impl Header {
    /// Reads the text after the magic.
    pub(super) fn parse(rest: &str) -> Self {
        let fields = Fields(rest);
        let backend = fields.value("backend").and_then(|word| word.parse().ok());
        let numbers = ["pid", "ppid"].map(|key| fields.value(key).map(number));
        let malformed = fields.repeats_a_key() || numbers.contains(&Some(None));
        let kind = match (fields.value("backend"), fields.value("recorder")) {
            _ if malformed => HeaderKind::Bad,
            (None, None) => HeaderKind::Legacy,
            (Some(_), Some(recorder))
                if backend.is_some_and(|b: Backend| b.recorder() == recorder) =>
            {
                HeaderKind::Valid
            }
            _ => HeaderKind::Bad,
        };
        let [process, parent] = numbers.map(Option::flatten);
        Self {
            kind,
            backend: if kind == HeaderKind::Legacy {
                Some(Backend::Cuda)
            } else {
                backend
            },
            pid: process,
            ppid: parent,
            exe: fields.value("exe").map(str::to_owned),
            forked: fields.value("forked") == Some("1"),
        }
    }
}
