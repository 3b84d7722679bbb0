//! `kernrec publish` and `kernrec-publish`.

use super::fold::InputArgs;
use super::layout::WriteLayout;
use super::remote::WriteArgs;
use super::signing::SignArgs;
use kernrec_schemas::{Backend, BuildNumber, Commit, Pipeline};
use std::path::PathBuf;

/// Arguments of `publish`.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "independent flags")]
pub(crate) struct PublishArgs {
    /// The store: a path, or a file://, s3://, gs:// or az:// URL
    #[arg(long, value_name = "URL")]
    pub(crate) store: String,

    /// The pipeline
    #[arg(long, value_name = "NAME", default_value = "ci")]
    pub(crate) pipeline: Pipeline,

    /// The commit that was tested [env: BUILDKITE_COMMIT]
    #[arg(long, value_name = "SHA")]
    pub(crate) commit: Option<Commit>,

    /// The build's number [env: BUILDKITE_BUILD_NUMBER]
    #[arg(long, value_name = "N")]
    pub(crate) build: Option<BuildNumber>,

    #[command(flatten)]
    pub(crate) input: InputArgs,

    /// Kernel table or function table that was folded before, instead of recordings
    #[arg(long, value_name = "FILE", conflicts_with_all = ["recordings", "bundle"])]
    pub(crate) table: Option<PathBuf>,

    /// Symbol map of the same commit; names its backend and variant itself. Not for python
    #[arg(long, value_name = "FILE")]
    pub(crate) symbol_map: Vec<PathBuf>,

    /// Publish only this backend: cuda, rocm or python; by default each one that has a symbol map, and python if it was
    /// recorded
    #[arg(long, value_name = "BACKEND")]
    pub(crate) backend: Vec<Backend>,

    /// How many jobs the build started, for the floor of --min-delivered
    #[arg(long, value_name = "N")]
    pub(crate) expected_jobs: Option<u64>,

    /// The share of the expected jobs that must have delivered
    #[arg(long, value_name = "SHARE", default_value_t = 0.5, value_parser = share)]
    pub(crate) min_delivered: f64,

    /// Accept a record of less than half the current one's rows, kernels or functions
    #[arg(long)]
    pub(crate) allow_shrink: bool,

    /// Accept bundles that cannot be read although no jobs list says whose they were
    #[arg(long)]
    pub(crate) allow_unreadable: bool,

    /// Publish only from this branch, and never for a pull request; elsewhere exit 0 and write nothing
    #[arg(long, value_name = "NAME")]
    pub(crate) only_branch: Option<String>,

    /// The branch that was built [env: BUILDKITE_BRANCH, GITHUB_REF_NAME]
    #[arg(long, value_name = "BRANCH")]
    pub(crate) branch: Option<String>,

    /// Git clone: gives the commit's time, and refuses to move the pointer back to an ancestor
    #[arg(long, value_name = "DIR")]
    pub(crate) repo: Option<PathBuf>,

    /// How the store is laid out
    #[arg(long, value_name = "WHICH", value_enum, default_value_t = WriteLayout::Native)]
    pub(crate) layout: WriteLayout,

    /// With --layout upstream: replace what stands under the commit if the pointer does not name it, as a
    /// killed publish may have left it; only while nobody else publishes or fetches that commit
    #[arg(long)]
    pub(crate) replace_unnamed: bool,

    /// Whether the bundles themselves are stored too
    #[arg(long, value_name = "WHICH", value_enum, default_value_t = BundlesArg::Store)]
    pub(crate) bundles: BundlesArg,

    /// Do everything but write
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) signing: SignArgs,

    #[command(flatten)]
    pub(crate) network: WriteArgs,
}

/// What happens to the bundles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum BundlesArg {
    /// Store them under their own prefix
    Store,
    /// Store only table, map and manifest
    None,
}

/// A number from 0 to 1.
pub(super) fn share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        _ => Err("expected a number from 0 to 1".to_owned()),
    }
}
