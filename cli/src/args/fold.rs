//! `kernrec fold`.

use kernrec_schemas::{Backend, BuildNumber, Commit, Pipeline, Timestamp};
use std::path::PathBuf;

/// Where recordings come from; shared by `fold` and `publish`.
#[derive(Debug, clap::Args)]
pub(crate) struct InputArgs {
    /// Folder of job folders, in any of the known layouts; may hold bundles too
    #[arg(long, value_name = "DIR")]
    pub(crate) recordings: Vec<PathBuf>,

    /// Bundle of one job
    #[arg(long, value_name = "FILE")]
    pub(crate) bundle: Vec<PathBuf>,

    /// Jobs list `[{"id", "state", "step_key"}]` of the build
    #[arg(long, value_name = "FILE")]
    pub(crate) jobs: Option<PathBuf>,

    /// The time the record speaks of [env: SOURCE_DATE_EPOCH]
    #[arg(long, value_name = "TIME")]
    pub(crate) recorded_at: Option<Timestamp>,
}

/// Arguments of `fold`.
#[derive(Debug, clap::Args)]
pub(crate) struct FoldArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,

    /// The backend to fold: cuda, rocm or python
    #[arg(long, value_name = "BACKEND")]
    pub(crate) backend: Backend,

    /// The commit that was tested
    #[arg(long, value_name = "SHA")]
    pub(crate) commit: Commit,

    /// The build's number
    #[arg(long, value_name = "N")]
    pub(crate) build: BuildNumber,

    /// The pipeline
    #[arg(long, value_name = "NAME", default_value = "ci")]
    pub(crate) pipeline: Pipeline,

    /// Git clone that knows the commit, for the time the table speaks of
    #[arg(long, value_name = "DIR")]
    pub(crate) repo: Option<PathBuf>,

    /// Accept bundles that cannot be read although no jobs list says whose they were
    #[arg(long)]
    pub(crate) allow_unreadable: bool,

    /// The kernel table, or of python the function table; compressed if the name ends in .gz or .zst
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,

    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}
