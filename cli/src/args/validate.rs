//! `kernrec validate`.

use super::fetch::duration;
use super::select::{PlacingArgs, StepFileArgs};
use kernrec_schemas::Backend;
use std::path::PathBuf;
use std::time::Duration;

/// Arguments of `validate`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit status: 0 every step that failed would have been run; 3 one would have been skipped; 1 nothing \
                  was replayed."
)]
pub(crate) struct ValidateArgs {
    /// Past changes: a JSON list of {"base", "head", "failed": [steps], "ran": [steps]}
    #[arg(long, value_name = "FILE")]
    pub(crate) changes: PathBuf,

    /// The git clone that has their commits
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) repo: PathBuf,

    /// The folder a record was fetched to; of a commit before all of them (`fetch --ancestor-of`)
    #[arg(long, value_name = "DIR", default_value = "coverage-data")]
    pub(crate) data: PathBuf,

    #[command(flatten)]
    pub(crate) step_files: StepFileArgs,

    /// A backend whose record must be there: cuda, rocm or python; one that has a folder in the data
    /// always must
    #[arg(long, value_name = "BACKEND")]
    pub(crate) backend: Vec<Backend>,

    #[command(flatten)]
    pub(crate) placing: PlacingArgs,

    /// A record that was older than this when the change was made may only add steps
    #[arg(long, value_name = "D", default_value = "14d", value_parser = duration)]
    pub(crate) max_age: Duration,

    /// Compare with the steps that CI ran, which every change must name
    #[arg(long)]
    pub(crate) crosscheck: bool,

    /// Rows shown of each list
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) rows: usize,

    /// Print one JSON document, with every row
    #[arg(long)]
    pub(crate) json: bool,
}
