//! `kernrec env`.

use super::job::JobArgs;

/// Arguments of `env`.
#[derive(Debug, clap::Args)]
pub(crate) struct EnvArgs {
    #[command(flatten)]
    pub(crate) job: JobArgs,

    /// Also finish when the shell exits, in place of an EXIT trap it has
    #[arg(long)]
    pub(crate) trap: bool,
}
