//! `kernrec audit`.

use kernrec_schemas::Commit;
use std::path::PathBuf;

/// Arguments of `audit`.
#[derive(Debug, clap::Args)]
pub(crate) struct AuditArgs {
    /// Kernel table, function table, bundle, or folder of job folders and bundles; only the last two know processes
    #[arg(value_name = "FILE|DIR")]
    pub(crate) input: PathBuf,

    /// Jobs list `[{"id", "state", "step_key"}]` of the build
    #[arg(long, value_name = "FILE")]
    pub(crate) jobs: Option<PathBuf>,

    /// The commit that was tested; by default the one most jobs recorded
    #[arg(long, value_name = "SHA")]
    pub(crate) commit: Option<Commit>,

    /// Rows shown of each list
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) rows: usize,

    /// Print one JSON document, with every row
    #[arg(long)]
    pub(crate) json: bool,
}
