//! `kernrec select`.

use super::fetch::duration;
use super::signing::InstalledKeyArgs;
use kernrec_git::DiffRange;
use kernrec_schemas::Backend;
use std::path::PathBuf;
use std::time::Duration;

/// Arguments of `select`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit status: 0 decided; 6 everything must run, and nothing is on stdout.")]
pub(crate) struct SelectArgs {
    /// What is printed
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = FormatArg::Text)]
    pub(crate) format: FormatArg,

    #[command(flatten)]
    pub(crate) inputs: InputArgs,
}

/// What is asked, and of which records.
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("change").required(true).args(["diff", "changed_file"]))]
pub(crate) struct InputArgs {
    /// The folder a record was fetched to
    #[arg(long, value_name = "DIR", default_value = "coverage-data")]
    pub(crate) data: PathBuf,

    /// The change: `A...B`, what B changed since it left A, or `A..B`, all that differs between the
    /// two; a missing one is HEAD
    #[arg(long, value_name = "A...B")]
    pub(crate) diff: Option<DiffRange>,

    /// The git clone that the change is in
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) repo: PathBuf,

    /// A changed file, relative to the source root; the answer is about its device code
    #[arg(long, value_name = "F")]
    pub(crate) changed_file: Vec<String>,

    /// The steps and which files propose each: a Buildkite pipeline, test areas, or JSON; given again,
    /// the steps of all. Without it every changed file proposes every step
    #[arg(long, value_name = "FILE")]
    pub(crate) steps: Vec<PathBuf>,

    /// Everything runs when a file with this prefix, or matching this glob, changed
    #[arg(long, value_name = "PATTERN", requires = "steps")]
    pub(crate) run_all_pattern: Vec<String>,

    /// A backend whose record must be there: cuda or rocm; one that has a folder in the data always
    /// must
    #[arg(long, value_name = "BACKEND")]
    pub(crate) backend: Vec<Backend>,

    /// A record published longer ago than this may only add steps
    #[arg(long, value_name = "D", default_value = "14d", value_parser = duration)]
    pub(crate) max_age: Duration,

    #[command(flatten)]
    pub(crate) signing: InstalledKeyArgs,
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
