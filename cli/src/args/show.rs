//! `kernrec show`.

use std::path::PathBuf;

/// Arguments of `show`.
#[derive(Debug, clap::Args)]
pub(crate) struct ShowArgs {
    /// Recording, sidecar, kernel table, function table, symbol map, manifest, pointer, record.json, jobs list or
    /// bundle; plain or compressed, told by content and not by name
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    /// Rows shown of each list
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) rows: usize,

    /// Print one JSON document, with every row
    #[arg(long)]
    pub(crate) json: bool,
}
