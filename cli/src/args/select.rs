//! `kernrec select`.

use super::fetch::duration;
use kernrec_schemas::Backend;
use std::path::PathBuf;
use std::time::Duration;

/// Arguments of `select`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit status: 0 decided; 6 everything must run, and nothing is on stdout.")]
pub(crate) struct SelectArgs {
    /// The folder a record was fetched to
    #[arg(long, value_name = "DIR", default_value = "coverage-data")]
    pub(crate) data: PathBuf,

    /// A changed file, relative to the source root; the answer is about its device code
    #[arg(long, value_name = "F", required = true)]
    pub(crate) changed_file: Vec<String>,

    /// A backend whose record must be there: cuda or rocm; one that has a folder in the data always
    /// must
    #[arg(long, value_name = "BACKEND")]
    pub(crate) backend: Vec<Backend>,

    /// A record published longer ago than this may only add steps
    #[arg(long, value_name = "D", default_value = "14d", value_parser = duration)]
    pub(crate) max_age: Duration,

    /// What is printed
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = FormatArg::Text)]
    pub(crate) format: FormatArg,
}

/// Forms of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum FormatArg {
    /// For people
    Text,
    /// One JSON document with every step and reason
    Json,
    /// One JSON array of the step keys that must run
    Keys,
}
