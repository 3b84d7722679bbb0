//! One job and its processes, as read.

use kernrec_schemas::function_recording::JobFacts;
use kernrec_schemas::function_table::LibraryName;
use kernrec_schemas::recording::ProcessState;
use kernrec_schemas::sidecar::Sidecar;
use kernrec_schemas::table::RowReason;
use kernrec_schemas::{Backend, Commit, Digest, JobId, RowBackend, StepKey, Variant};
use kernrec_store::bundle::{JobFolder, OriginLayout, Part};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// What one job left, of kernels or of Python.
#[derive(Debug, Clone)]
pub struct Job {
    /// Whose files these are: the kernel recorders', or Python's.
    pub part: Part,
    /// The job.
    pub id: JobId,
    /// The step its folder, bundle or sidecar names; `None` when nothing does (the jobs list may).
    pub step: Option<StepKey>,
    /// How its folder was laid out where it was recorded: the step/job layout knows no exit status.
    pub layout: OriginLayout,
    /// Its sidecar.
    pub sidecar: SidecarState,
    /// The backend its files and sidecar agree on.
    pub backend: RowBackend,
    /// Its recordings, sorted by file name.
    pub processes: Vec<Process>,
    /// What Python's recordings and pytest's notes amount to; nothing for a job of kernels.
    pub facts: JobFacts,
    /// The third-party packages that Python entered.
    pub libraries: BTreeSet<LibraryName>,
    /// What is wrong with the job as a whole, whichever attempt decides: `duplicate-job`, `bad-sidecar`.
    pub flaws: BTreeSet<RowReason>,
    /// Where it was met, one origin per distinct content.
    pub origins: Vec<Origin>,
}

/// One place where a job's content was met.
#[derive(Debug, Clone)]
pub enum Origin {
    /// A folder of recordings.
    Folder {
        /// The folder.
        folder: JobFolder,
        /// A digest over names and bytes of sidecar and recordings, to notice a change before it is packed.
        content: Digest,
        /// False when a file of it could not be read: no bundle can hold what was folded.
        whole: bool,
    },
    /// A bundle.
    Bundle {
        /// The file; the store key for a bundle read from a store.
        path: PathBuf,
        /// The digest of its uncompressed tar.
        digest: Digest,
        /// Its uncompressed size in bytes.
        size: u64,
        /// As for a folder.
        content: Digest,
    },
}

impl Origin {
    /// The digest over names and bytes of sidecar and recordings.
    pub const fn content(&self) -> Digest {
        match self {
            Self::Folder { content, .. } | Self::Bundle { content, .. } => *content,
        }
    }

    /// The folder or the bundle.
    pub fn path(&self) -> &Path {
        match self {
            Self::Folder { folder, .. } => &folder.path,
            Self::Bundle { path, .. } => path,
        }
    }
}

/// A job's sidecar.
#[derive(Debug, Clone)]
pub enum SidecarState {
    /// There is none.
    Missing,
    /// It could not be read, or is no JSON object.
    Bad {
        /// What is wrong.
        problem: String,
    },
    /// It was read; single fields may be faulty.
    Read(Box<Sidecar>),
}

/// One process that wrote a recording.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Process {
    /// The recording's file name.
    pub file: String,
    /// What the recording is worth.
    pub state: ProcessState,
    /// Records lost.
    pub dropped: u64,
    /// The backend its header names.
    pub backend: Option<Backend>,
    /// The process id its header names.
    pub pid: Option<u64>,
    /// The program its header names.
    pub exe: Option<Box<str>>,
    /// The first error the recorder reported, or why the file could not be read.
    pub detail: Option<Box<str>>,
    /// Its kernels: ascending indexes into [`super::Collected::names`]; of a Python process its functions, into
    /// [`super::Collected::functions`].
    pub names: Vec<u32>,
}

impl Job {
    /// The sidecar, when it was read.
    pub fn sidecar(&self) -> Option<&Sidecar> {
        match &self.sidecar {
            SidecarState::Read(sidecar) => Some(sidecar),
            SidecarState::Missing | SidecarState::Bad { .. } => None,
        }
    }

    /// The commit its sidecar names.
    pub fn commit(&self) -> Option<&Commit> {
        self.sidecar()?.commit.as_ref()
    }

    /// The image variant it ran in.
    pub fn variant(&self) -> Variant {
        self.sidecar()
            .map(|sidecar| sidecar.variant.clone())
            .unwrap_or_default()
    }
}
