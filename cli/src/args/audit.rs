//! `kernrec audit`.

use std::path::PathBuf;

/// Arguments of `audit`.
#[derive(Debug, clap::Args)]
pub(crate) struct AuditArgs {
    /// Kernel table, bundle, or folder of job folders and bundles; only the last two know processes
    #[arg(value_name = "FILE|DIR")]
    pub(crate) input: PathBuf,

    /// Rows shown of each list
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) rows: usize,

    /// Print one JSON document, with every row
    #[arg(long)]
    pub(crate) json: bool,
}
