//! `kernrec pack`.

use std::path::PathBuf;

/// Arguments of `pack`.
#[derive(Debug, clap::Args)]
pub(crate) struct PackArgs {
    /// Job folders, or folders of job folders
    #[arg(value_name = "DIR", required = true)]
    pub(crate) dirs: Vec<PathBuf>,

    /// The folder the bundles are written to, created if need be
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,

    /// Pack set-up logs too
    #[arg(long)]
    pub(crate) logs: bool,

    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}
