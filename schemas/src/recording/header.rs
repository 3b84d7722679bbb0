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
    /// The backend it names; CUDA for a legacy header; `None` when it names none, or its recorder is
    /// another backend's.
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
        let fields = Fields::parse(rest);
        let [process, parent] = ["pid", "ppid"].map(|key| fields.value(key).map(number));
        let malformed = fields.repeats_a_key() || [process, parent].contains(&Some(None));
        let named = (fields.value("backend"), fields.value("recorder"));
        let backend = match named {
            (None, None) => Some(Backend::Cuda),
            (Some(backend), Some(recorder)) => backend
                .parse()
                .ok()
                .filter(|backend: &Backend| backend.has_kernels())
                .filter(|backend| backend.recorder() == recorder),
            _ => None,
        };
        let kind = match named {
            _ if malformed || backend.is_none() => HeaderKind::Bad,
            (None, None) => HeaderKind::Legacy,
            _ => HeaderKind::Valid,
        };
        Self {
            kind,
            backend,
            pid: process.flatten(),
            ppid: parent.flatten(),
            exe: fields.value("exe").map(str::to_owned),
            forked: fields.has("forked"),
        }
    }
}
