//! What a publish needs to know.

use super::Table;
use crate::collect::Collected;
use crate::gates::GateOptions;
use crate::maps::Maps;
use kernrec_schemas::installed::StoreLayout;
use kernrec_schemas::jobs::JobsList;
use kernrec_schemas::{Backend, BuildNumber, Commit, Pipeline, Timestamp};
use kernrec_store::signing::Signing;
use std::path::PathBuf;

/// Where the rows come from.
#[derive(Debug, Clone, Copy)]
pub enum Evidence<'a> {
    /// Recordings, folded now.
    Recordings(&'a Collected),
    /// A table folded before.
    Table(&'a Table),
}

/// Whether the bundles that were folded go into the store too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BundlePolicy {
    /// They do, so that the record can be folded again by anyone; job folders are packed for it.
    #[default]
    Store,
    /// They do not, and the manifest names none.
    None,
}

/// One record of one backend to publish.
#[derive(Debug, Clone)]
pub struct PublishRequest<'a> {
    /// The backend.
    pub backend: Backend,
    /// The pipeline.
    pub pipeline: Pipeline,
    /// The commit.
    pub commit: Commit,
    /// The build.
    pub build: BuildNumber,
    /// The organisation named in a folded table.
    pub org: String,
    /// The time the record speaks of; see [`crate::recorded_at`]. A ready-made table keeps its own.
    pub recorded_at: Timestamp,
    /// Where the rows come from.
    pub evidence: Evidence<'a>,
    /// Every map given; those of other backends are passed over.
    pub maps: &'a Maps,
    /// What the CI system knows of the build's jobs.
    pub jobs: Option<&'a JobsList>,
    /// Thresholds and permissions of the gates.
    pub gates: GateOptions,
    /// A clone that holds this commit and the current record's, to refuse a move to an ancestor.
    pub repo: Option<PathBuf>,
    /// How the store is laid out. The existing system's layout holds one map and no bundles.
    pub layout: StoreLayout,
    /// Replace what stands under the commit in the upstream layout, if the pointer does not name it. Only where nobody
    /// else publishes that commit.
    pub replace_unnamed: bool,
    /// Whether bundles are stored.
    pub bundles: BundlePolicy,
    /// How the pointer is signed, and what of the one that stands there is believed.
    pub signing: Signing,
    /// Decide everything, write nothing.
    pub dry_run: bool,
}

/// Records of several backends to publish independently.
#[derive(Debug, Clone)]
pub struct BatchRequest<'a> {
    /// The backends asked for; empty: every backend a map was given for, and Python if it was recorded.
    pub backends: Vec<Backend>,
    /// The pipeline.
    pub pipeline: Pipeline,
    /// The commit.
    pub commit: Commit,
    /// The build.
    pub build: BuildNumber,
    /// The organisation named in a folded table.
    pub org: String,
    /// `--recorded-at`, when given.
    pub recorded_at: Option<Timestamp>,
    /// The value of `SOURCE_DATE_EPOCH`, when set.
    pub source_date_epoch: Option<String>,
    /// Where the rows come from.
    pub evidence: Evidence<'a>,
    /// Every map given.
    pub maps: &'a Maps,
    /// What the CI system knows of the build's jobs.
    pub jobs: Option<&'a JobsList>,
    /// Thresholds and permissions of the gates.
    pub gates: GateOptions,
    /// See [`PublishRequest::repo`].
    pub repo: Option<PathBuf>,
    /// See [`PublishRequest::layout`].
    pub layout: StoreLayout,
    /// See [`PublishRequest::replace_unnamed`].
    pub replace_unnamed: bool,
    /// Whether bundles are stored.
    pub bundles: BundlePolicy,
    /// See [`PublishRequest::signing`].
    pub signing: Signing,
    /// Decide everything, write nothing.
    pub dry_run: bool,
}
