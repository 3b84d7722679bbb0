//! `kernrec verify`.

use std::path::PathBuf;

/// Arguments of `verify`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit status: 0 all as it should be, 3 something differs, 1 it could not be told."
)]
pub(crate) struct VerifyArgs {
    #[command(subcommand)]
    pub(crate) what: What,
}

/// What is verified.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum What {
    /// Compare two files or two folders by the digest of their content
    Files(FilesArgs),
}

/// Arguments of `verify files`.
#[derive(Debug, clap::Args)]
pub(crate) struct FilesArgs {
    /// A file or folder
    #[arg(value_name = "A")]
    pub(crate) a: PathBuf,

    /// Another of the same kind
    #[arg(value_name = "B")]
    pub(crate) b: PathBuf,

    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}
