//! `kernrec diff`.

use std::path::PathBuf;

/// Arguments of `diff`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Kernel names are compared in their stable form: the hashes that nvcc derives \
    from a file's content are blanked.\nExit status: 0 the tables say the same, 3 they differ."
)]
pub(crate) struct DiffArgs {
    /// The earlier kernel table or function table
    #[arg(value_name = "A")]
    pub(crate) before: PathBuf,

    /// The later one, of the same kind
    #[arg(value_name = "B")]
    pub(crate) after: PathBuf,

    /// Rows shown of each list
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) rows: usize,

    /// Print one JSON document, with every row and every kernel name
    #[arg(long)]
    pub(crate) json: bool,
}
