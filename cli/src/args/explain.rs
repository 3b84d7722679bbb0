//! `kernrec explain`.

use super::fetch::duration;
use super::signing::InstalledKeyArgs;
use kernrec_schemas::{Backend, StepKey};
use std::path::PathBuf;
use std::time::Duration;

/// Arguments of `explain`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit status: 0 explained, whatever the decision is.")]
pub(crate) struct ExplainArgs {
    /// The step
    #[arg(long, value_name = "KEY")]
    pub(crate) step: StepKey,

    /// The file, relative to the source root; the answer is as if all of it had changed, and nothing else
    #[arg(long, value_name = "F")]
    pub(crate) file: String,

    /// The folder a record was fetched to
    #[arg(long, value_name = "DIR", default_value = "coverage-data")]
    pub(crate) data: PathBuf,

    /// A backend whose record must be there: cuda, rocm or python; one that has a folder in the data
    /// always must
    #[arg(long, value_name = "BACKEND")]
    pub(crate) backend: Vec<Backend>,

    /// A record published longer ago than this may only add steps
    #[arg(long, value_name = "D", default_value = "14d", value_parser = duration)]
    pub(crate) max_age: Duration,

    /// Folder of job folders or bundles of the recorded build, to name the processes as well
    #[arg(long, value_name = "DIR")]
    pub(crate) recordings: Vec<PathBuf>,

    /// Bundle of one job of the recorded build
    #[arg(long, value_name = "FILE")]
    pub(crate) bundle: Vec<PathBuf>,

    /// Rows shown of each list
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) rows: usize,

    /// Print one JSON document, with every row
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) signing: InstalledKeyArgs,
}
