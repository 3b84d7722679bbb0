//! `kernrec finish`.

use std::path::PathBuf;

/// Arguments of `finish`.
#[derive(Debug, clap::Args)]
pub(crate) struct FinishArgs {
    /// The exit status of what the shell ran
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) status: Option<String>,

    /// The job's folder, for a shell that lost the variables
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
}
