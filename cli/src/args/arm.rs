//! `kernrec arm`.

use std::path::PathBuf;

/// Arguments of `arm`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit status: 0 the pipeline is on stdout, 2 it or the configuration is not understood, and nothing is on stdout."
)]
pub(crate) struct ArmArgs {
    /// The pipeline, as YAML or JSON; by default stdin
    #[arg(value_name = "FILE")]
    pub(crate) pipeline: Option<PathBuf>,

    /// Names, rules and texts; by default kernrec.toml of the current folder if there is one
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// Print each step, whether it is armed, and the rule that decided, in place of the pipeline
    #[arg(long)]
    pub(crate) explain: bool,

    /// What to do with a pipeline or a configuration that is not understood
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = OnError::Fail)]
    pub(crate) on_error: OnError,
}

/// What becomes of a pipeline that cannot be armed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum OnError {
    /// Print nothing on stdout, and fail
    Fail,
    /// Print it as it is, unarmed
    Passthrough,
}
