//! Why a workload is not recorded, or its recordings cannot be trusted.

use kernrec_python_payload::PayloadError;
use kernrec_schemas::{Backend, DocumentError};
use kernrec_store::fsio::FsError;
use std::path::PathBuf;

/// Why collection is impossible. The sidecar's `collection_error` is [`Unavailable::text`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Unavailable {
    /// This build has no recorder for the backend.
    #[error("this build has no recorder for {0}")]
    NoRecorder(Backend),
    /// The recorder's library is nowhere.
    #[error("no `{library}` in {}", list(searched))]
    LibraryMissing {
        /// Its file name.
        library: &'static str,
        /// Where it was looked for.
        searched: Vec<PathBuf>,
    },
    /// A library that this machine's programs cannot load.
    #[error("`{}` is for {found}", path.display())]
    OtherArchitecture {
        /// The library.
        path: PathBuf,
        /// What it is for.
        found: String,
    },
    /// The loader refuses a library, or loading it hangs or crashes.
    #[error("load `{}`: {problem}", path.display())]
    NotLoadable {
        /// The library.
        path: PathBuf,
        /// What the loader said, or how the loading process ended.
        problem: String,
    },
    /// The driver's one place for an injected library is taken.
    #[error("`CUDA_INJECTION64_PATH` is already `{value}`")]
    OtherInjection {
        /// What it is set to.
        value: String,
    },
    /// A tool that uses the same interfaces is at work.
    #[error("another profiler is at work: {sign}")]
    OtherProfiler {
        /// How it shows.
        sign: String,
    },
    /// The CUPTI named by the user cannot be used.
    #[error("the CUPTI to use, `{}`: {problem}", path.display())]
    Cupti {
        /// The library.
        path: PathBuf,
        /// Why not.
        problem: String,
    },
    /// No ROCProfiler SDK.
    #[error("no ROCProfiler SDK in {}", list(searched))]
    SdkMissing {
        /// The folders it was looked for in.
        searched: Vec<PathBuf>,
    },
    /// The SDK cannot be loaded, or does not tell its version.
    #[error("the ROCProfiler SDK to use, `{}`: {problem}", path.display())]
    SdkNotUsable {
        /// The library.
        path: PathBuf,
        /// What the loader said, or how the loading process ended.
        problem: String,
    },
    /// The SDK is of a version whose records the recorder does not know.
    #[error("`{}` is version {found}, and only {expected} is known", path.display())]
    SdkVersion {
        /// The library.
        path: PathBuf,
        /// Its version.
        found: String,
        /// The version the recorder works with.
        expected: &'static str,
    },
    /// The SDK's list of tools names something else.
    #[error("`ROCP_TOOL_LIBRARIES` is already `{value}`")]
    OtherTools {
        /// What it is set to.
        value: String,
    },
    /// The runtime is told to load no tool.
    #[error("`ROCPROFILER_REGISTER_ENABLED` is `{value}`, so that no tool is loaded")]
    RegistrationOff {
        /// What it is set to.
        value: String,
    },
    /// vLLM's workers are to be forked, after the SDK has started in their parent.
    #[error(
        "`VLLM_WORKER_MULTIPROC_METHOD` is `{method}`, and ROCm workers can be recorded with `spawn` only"
    )]
    ForkedWorkers {
        /// What it is set to.
        method: String,
    },
    /// The job's folder cannot be made or written.
    #[error("write the job's folder: {0}")]
    Folder(#[source] FsError),
    /// The job's folder holds the recordings of another job or of an earlier run.
    #[error("`{}` holds recordings of another run: give a fresh folder", path.display())]
    NotFresh {
        /// The folder.
        path: PathBuf,
    },
    /// There is not enough space for recordings.
    #[error("{free} bytes are free for `{}`, {needed} are needed", path.display())]
    NoSpace {
        /// The folder.
        path: PathBuf,
        /// Bytes free.
        free: u64,
        /// Bytes needed.
        needed: u64,
    },
    /// A set-up with another folder is in force; its recordings must stay whole.
    #[error("already being recorded into `{}`", outer.display())]
    Nested {
        /// The folder of the set-up in force.
        outer: PathBuf,
    },
    /// The command line and the environment together are as large as the system allows.
    #[error("no room for the recorder's variables in the environment")]
    EnvironmentTooLarge,
    /// The folder or its state vanished while the workload ran.
    #[error("the job's folder was removed or replaced while the workload ran")]
    FolderLost,
    /// The job is described by something that a sidecar cannot hold.
    #[error("{field}: {problem}")]
    InvalidIdentity {
        /// The flag that gives it.
        field: &'static str,
        /// What is wrong.
        problem: String,
    },
    /// A command of the job was set up without this recorder.
    #[error("a command of the job was set up without this recorder")]
    NotInEveryCommand,
    /// No Python that could be recorded.
    #[error("no Python: {0}")]
    PythonMissing(String),
    /// A Python that the recorder does not know.
    #[error("`{}` is Python {version}; 3.12 or later is needed", path.display())]
    PythonTooOld {
        /// The interpreter.
        path: PathBuf,
        /// Its version.
        version: String,
    },
    /// A Python of another make.
    #[error("`{}` is {found}; CPython with the GIL is needed", path.display())]
    PythonNotSupported {
        /// The interpreter.
        path: PathBuf,
        /// What it is.
        found: String,
    },
    /// A Python that does not say what it is.
    #[error("ask `{}` what it is: {problem}", path.display())]
    PythonNotUsable {
        /// The interpreter.
        path: PathBuf,
        /// How it failed.
        problem: String,
    },
    /// The recorder cannot be put where the interpreter looks.
    #[error("{0}")]
    SitePackages(#[source] PayloadError),
    /// The recorder's folder for one job cannot be made, or not be named in a list of folders.
    #[error("the folder for `PYTHONPATH`, `{}`: {problem}", path.display())]
    PythonFolder {
        /// The folder.
        path: PathBuf,
        /// Why not.
        problem: String,
    },
    /// The sidecar cannot be put into words.
    #[error("write the sidecar: {0}")]
    Sidecar(#[source] DocumentError),
}

impl Unavailable {
    /// Every word that a `collection_error` can start with; the last is of a job whose commands were set up
    /// for different backends.
    pub const WORDS: [&str; 29] = [
        "no-recorder-for-backend",
        "recorder-missing",
        "recorder-other-architecture",
        "recorder-not-loadable",
        "other-injection-configured",
        "other-profiler-configured",
        "cupti-not-usable",
        "rocprofiler-sdk-missing",
        "rocprofiler-sdk-not-usable",
        "rocprofiler-sdk-version",
        "other-rocprofiler-tool-configured",
        "rocprofiler-register-off",
        "rocm-needs-spawn-workers",
        "folder-not-writable",
        "folder-not-fresh",
        "no-space",
        "already-recording",
        "environment-too-large",
        "folder-lost",
        "invalid-identity",
        "not-in-every-command",
        "python-missing",
        "python-too-old",
        "python-not-supported",
        "python-not-usable",
        "site-packages-not-writable",
        "python-folder-not-usable",
        "sidecar-refused",
        "several-backends",
    ];

    /// The stable word for machines.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::NoRecorder(_) => "no-recorder-for-backend",
            Self::LibraryMissing { .. } => "recorder-missing",
            Self::OtherArchitecture { .. } => "recorder-other-architecture",
            Self::NotLoadable { .. } => "recorder-not-loadable",
            Self::OtherInjection { .. } => "other-injection-configured",
            Self::OtherProfiler { .. } => "other-profiler-configured",
            Self::Cupti { .. } => "cupti-not-usable",
            Self::SdkMissing { .. } => "rocprofiler-sdk-missing",
            Self::SdkNotUsable { .. } => "rocprofiler-sdk-not-usable",
            Self::SdkVersion { .. } => "rocprofiler-sdk-version",
            Self::OtherTools { .. } => "other-rocprofiler-tool-configured",
            Self::RegistrationOff { .. } => "rocprofiler-register-off",
            Self::ForkedWorkers { .. } => "rocm-needs-spawn-workers",
            Self::Folder(_) => "folder-not-writable",
            Self::NotFresh { .. } => "folder-not-fresh",
            Self::NoSpace { .. } => "no-space",
            Self::Nested { .. } => "already-recording",
            Self::EnvironmentTooLarge => "environment-too-large",
            Self::FolderLost => "folder-lost",
            Self::InvalidIdentity { .. } => "invalid-identity",
            Self::NotInEveryCommand => "not-in-every-command",
            Self::PythonMissing(_) => "python-missing",
            Self::PythonTooOld { .. } => "python-too-old",
            Self::PythonNotSupported { .. } => "python-not-supported",
            Self::PythonNotUsable { .. } => "python-not-usable",
            Self::SitePackages(_) => "site-packages-not-writable",
            Self::PythonFolder { .. } => "python-folder-not-usable",
            Self::Sidecar(_) => "sidecar-refused",
        }
    }

    /// The word and the sentence.
    pub fn text(&self) -> String {
        format!("{}: {self}", self.word())
    }
}

fn list(paths: &[PathBuf]) -> String {
    let shown: Vec<String> = paths
        .iter()
        .map(|path| format!("`{}`", path.display()))
        .collect();
    shown.join(", ")
}
