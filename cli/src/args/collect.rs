//! `kernrec collect`.

use super::layout::WriteLayout;
use super::publish::{BundlesArg, share};
use super::remote::{WriteArgs, timeout};
use super::signing::SignArgs;
use kernrec_collect::{Step, key_of};
use kernrec_schemas::{Backend, BuildNumber, Commit, Pipeline, StepKey, Timestamp};
use std::path::PathBuf;
use std::time::Duration;

/// Arguments of `collect`.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "independent flags")]
pub(crate) struct CollectArgs {
    /// The backend whose jobs are collected: cuda, rocm or python
    #[arg(long, value_name = "BACKEND")]
    pub(crate) backend: Backend,

    /// The store: a path, or a file://, s3://, gs:// or az:// URL
    #[arg(long, value_name = "URL")]
    pub(crate) store: String,

    /// An armed step to wait for, and how many jobs it has; without any, nothing is waited for and the
    /// whole build is searched
    #[arg(long, value_name = "KEY[=N]")]
    pub(crate) step: Vec<Step>,

    /// A step that builds images of the backend: its artifacts hold the symbol map; not for python
    #[arg(long, value_name = "KEY", value_parser = key)]
    pub(crate) map_step: Vec<StepKey>,

    /// How long to wait for the steps, from the start
    #[arg(long, value_name = "D", value_parser = timeout, default_value = "180m")]
    pub(crate) deadline: Duration,

    /// The longest pause between two questions to the CI system; the first pauses are shorter
    #[arg(long, value_name = "D", value_parser = timeout, default_value = "30s")]
    pub(crate) poll: Duration,

    /// Collect from another build of the same commit: on Buildkite its UUID, on GitHub the id of its run
    #[arg(long, value_name = "ID")]
    pub(crate) source_build: Option<String>,

    /// The folder for everything that is left; what an earlier collection left there is removed first
    #[arg(long, value_name = "DIR", default_value = ".kernrec-collect")]
    pub(crate) out: PathBuf,

    /// The CI system; by default the one whose job this is [env: BUILDKITE, GITHUB_ACTIONS]
    #[arg(long, value_name = "SYSTEM", value_enum)]
    pub(crate) ci: Option<CiArg>,

    /// The pipeline
    #[arg(long, value_name = "NAME", default_value = "ci")]
    pub(crate) pipeline: Pipeline,

    /// The commit that was tested [env: BUILDKITE_COMMIT, GITHUB_SHA]
    #[arg(long, value_name = "SHA")]
    pub(crate) commit: Option<Commit>,

    /// The number of the build to publish for [env: BUILDKITE_BUILD_NUMBER, GITHUB_RUN_NUMBER]
    #[arg(long, value_name = "N")]
    pub(crate) build: Option<BuildNumber>,

    /// Publish only from this branch, and never for a pull request; elsewhere stop after the table, the result and the annotation
    #[arg(long, value_name = "NAME")]
    pub(crate) only_branch: Option<String>,

    /// The branch that was built [env: BUILDKITE_BRANCH, GITHUB_REF_NAME]
    #[arg(long, value_name = "BRANCH")]
    pub(crate) branch: Option<String>,

    /// The share of the jobs of all steps that must have delivered
    #[arg(long, value_name = "SHARE", default_value_t = 0.5, value_parser = share)]
    pub(crate) min_delivered: f64,

    /// Accept a record of less than half the current one's rows or kernels
    #[arg(long)]
    pub(crate) allow_shrink: bool,

    /// Accept that artifacts did not arrive or cannot be read although nobody knows whose they were
    #[arg(long)]
    pub(crate) allow_unreadable: bool,

    /// The time the record speaks of [env: SOURCE_DATE_EPOCH]
    #[arg(long, value_name = "TIME")]
    pub(crate) recorded_at: Option<Timestamp>,

    /// Git clone: gives the commit's time, and refuses to move the pointer back to an ancestor; for python the time
    /// is by default that of the commit in the clone it runs in
    #[arg(long, value_name = "DIR")]
    pub(crate) repo: Option<PathBuf>,

    /// How the store is laid out
    #[arg(long, value_name = "WHICH", value_enum, default_value_t = WriteLayout::Native)]
    pub(crate) layout: WriteLayout,

    /// Whether the bundles themselves are stored too
    #[arg(long, value_name = "WHICH", value_enum, default_value_t = BundlesArg::Store)]
    pub(crate) bundles: BundlesArg,

    /// Do everything but write to the store
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Print the result as one JSON document
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) signing: SignArgs,

    #[command(flatten)]
    pub(crate) network: WriteArgs,
}

/// A CI system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum CiArg {
    /// Buildkite, through the program buildkite-agent
    Buildkite,
    /// GitHub Actions, through its API
    Github,
}

fn key(text: &str) -> Result<StepKey, String> {
    key_of(text).ok_or_else(|| "expected a key of letters, digits and `_-:.`".to_owned())
}
