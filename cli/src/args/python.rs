//! `kernrec python`.

use std::path::PathBuf;

/// Arguments of `python`.
#[derive(Debug, clap::Args)]
pub(crate) struct PythonArgs {
    #[command(subcommand)]
    pub(crate) what: What,
}

/// What is done.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum What {
    /// Take the Python recorder out of a Python's site-packages
    ///
    /// It does nothing there unless a step is recorded. Not while one is: what its processes enter from then on may be
    /// missing.
    Remove(RemoveArgs),
}

/// Arguments of `python remove`.
#[derive(Debug, clap::Args)]
pub(crate) struct RemoveArgs {
    /// The Python; default that of VIRTUAL_ENV, or python3 on PATH
    #[arg(long, value_name = "FILE")]
    pub(crate) python_exe: Option<PathBuf>,

    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}
