//! `kernrec symbol-map`.

use kernrec_schemas::{Backend, Commit, Timestamp, Variant};
use std::path::PathBuf;

/// Arguments of `symbol-map`.
#[derive(Debug, clap::Args)]
#[command(
    group = clap::ArgGroup::new("what").required(true).args(["build_root", "objects"]),
    after_help = "Exit status: 0 the map is written, and says itself what is wrong with it; 3 the same with --strict and \
                  something wrong; 1 it could not be written."
)]
pub(crate) struct SymbolMapArgs {
    /// Whose device code is read: cuda or rocm
    #[arg(long, value_name = "BACKEND", value_parser = backend)]
    pub(crate) backend: Backend,

    /// Build folder with its objects and records; may be given several times
    #[arg(long, value_name = "DIR", requires = "source_root")]
    pub(crate) build_root: Vec<PathBuf>,

    /// The repository: paths inside it are written relative to it
    #[arg(
        long,
        value_name = "DIR",
        requires = "build_root",
        conflicts_with = "objects"
    )]
    pub(crate) source_root: Option<PathBuf>,

    /// Objects, shared libraries and archives instead of a build folder: kernels without sources, to be shown only
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub(crate) objects: Vec<PathBuf>,

    /// The commit that was built [env: BUILDKITE_COMMIT]
    #[arg(long, value_name = "SHA")]
    pub(crate) commit: Option<Commit>,

    /// Which of several images of the backend this is
    #[arg(
        long,
        value_name = "NAME",
        default_value = "",
        hide_default_value = true
    )]
    pub(crate) variant: Variant,

    /// The time the map speaks of [env: SOURCE_DATE_EPOCH]
    #[arg(long, value_name = "TIME")]
    pub(crate) recorded_at: Option<Timestamp>,

    /// Git clone that knows the commit, for the time the map speaks of
    #[arg(long, value_name = "DIR")]
    pub(crate) repo: Option<PathBuf>,

    /// Keep what could be read, with an error for each other object, instead of emptying the map
    #[arg(long, conflicts_with = "objects")]
    pub(crate) partial: bool,

    /// Fail if anything is wrong with the map, after it is written
    #[arg(long)]
    pub(crate) strict: bool,

    /// The symbol map; compressed if the name ends in .gz or .zst
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,

    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// A backend whose objects hold kernels.
fn backend(text: &str) -> Result<Backend, String> {
    let backend = text
        .parse()
        .ok()
        .filter(|backend: &Backend| backend.has_kernels());
    backend.ok_or_else(|| "expected `cuda` or `rocm`".to_owned())
}
