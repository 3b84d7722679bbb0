//! What a caller asks for.

use crate::backend::BackendChoice;
use crate::identity::Identity;
use std::ffi::OsString;
use std::path::PathBuf;

/// How to record.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// For which GPUs.
    pub backend: BackendChoice,
    /// The job's folder; `None` for `.kernrec/<job id>`.
    pub dir: Option<PathBuf>,
    /// What the flags say of the job; the CI system's environment says the rest.
    pub identity: Identity,
    /// How often names are fetched, in milliseconds; exported as `KERNREC_FLUSH_MS`.
    pub flush_ms: Option<u64>,
    /// Every how many of those unfinished records are fetched too; exported as `KERNREC_FORCE_EVERY`.
    pub force_every: Option<u64>,
    /// The CUPTI for processes that bring none; exported as `KERNREC_CUPTI_PATH`.
    pub cupti: Option<PathBuf>,
    /// Leave `LD_PRELOAD` alone.
    pub no_preload: bool,
    /// How to record Python's functions too; `None` for not at all.
    pub python: Option<PythonOptions>,
}

/// How to record which Python functions are entered.
#[derive(Debug, Clone)]
pub struct PythonOptions {
    /// Where the recorder goes.
    pub mode: PythonMode,
    /// The names of the watched packages, with commas between; exported as `KERNREC_PYTHON_ROOTS`.
    pub roots: Option<String>,
    /// The checkout whose tests are watched too; exported as `KERNREC_PYTHON_CHECKOUT`.
    pub checkout: Option<PathBuf>,
    /// The interpreter that the step uses; `None` for the one that is found.
    pub executable: Option<PathBuf>,
}

/// Where the Python recorder goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PythonMode {
    /// Into the interpreter's `site-packages`, where it stays: for an image.
    Container,
    /// Into a folder of this job's own on `PYTHONPATH`, which is removed at the end: for a host.
    Host,
}

/// What is going to run.
#[derive(Debug, Clone, Copy)]
pub enum Purpose<'a> {
    /// One command: its program and arguments.
    Command(&'a [OsString]),
    /// Whatever a shell runs after it took the variables.
    Shell,
}
