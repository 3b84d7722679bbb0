//! How a collection went: `result.json`.

use crate::ci::{Lost, Style};
use crate::compare::Changes;
use crate::delivered::Short;
use crate::wait::Waited;
use kernrec_publish::PublishReport;
use kernrec_publish::publishing::SkippedBranch;
use kernrec_schemas::exit::Exit;
use kernrec_schemas::{Backend, BuildNumber, Commit, Pipeline};
use serde::Serialize;
use std::collections::BTreeMap;

/// What `schema` says in a report of this form.
pub(crate) const SCHEMA: &str = "kernrec.collection/1";

/// How a collection went.
#[derive(Debug, Clone, Serialize)]
pub struct CollectReport {
    /// `kernrec.collection/1`.
    pub schema: &'static str,
    /// The backend.
    pub backend: Backend,
    /// The pipeline.
    pub pipeline: Pipeline,
    /// The commit.
    pub commit: Commit,
    /// The build that is published.
    pub build: BuildNumber,
    /// The build that was collected from, if another.
    pub source_build: Option<String>,
    /// How it ended.
    pub outcome: Outcome,
    /// The exit status of `kernrec collect`.
    pub exit_status: u8,
    /// What kept it from publishing, beside the gates of the publish.
    pub obstacles: Vec<Obstacle>,
    /// Set when this branch does not publish.
    pub skipped: Option<SkippedBranch>,
    /// How the waiting went.
    pub waited: Waited,
    /// How many jobs the steps have; absent when no step was named.
    pub expected_jobs: Option<u64>,
    /// Steps of whose jobs some delivered nothing.
    pub short: Vec<Short>,
    /// Bundles downloaded.
    pub bundles: u64,
    /// Job folders downloaded of which no bundle held everything.
    pub raw_folders: u64,
    /// Artifacts among ours that are none.
    pub ignored: u64,
    /// What is there and did not arrive.
    pub lost: Vec<Lost>,
    /// Symbol maps used, as paths below the folder.
    pub maps: Vec<String>,
    /// Files that look like symbol maps and cannot be read.
    pub unreadable_maps: Vec<String>,
    /// What was folded.
    pub folded: Option<Folded>,
    /// What it changes against the current record.
    pub changes: Option<Changes>,
    /// Why nothing was compared.
    pub not_compared: Option<String>,
    /// The report of the publish, as `kernrec publish --json` has it.
    pub publish: Option<PublishReport>,
    /// What could not be shown or kept; it changes nothing.
    pub announcing: Vec<String>,
}

/// How a collection ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Outcome {
    /// The pointer names this record now. In a dry run: it would.
    Published,
    /// The same record was current already.
    Unchanged,
    /// Another branch publishes.
    Skipped,
    /// A newer record is current.
    Superseded,
    /// A gate refused, or what arrived is not enough to judge.
    Refused,
    /// An error; nothing was published.
    Failed,
    /// The pointer may have moved or not.
    Unknown,
}

impl Outcome {
    /// The stable word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Published => "published",
            Self::Unchanged => "unchanged",
            Self::Skipped => "skipped",
            Self::Superseded => "superseded",
            Self::Refused => "refused",
            Self::Failed => "failed",
            Self::Unknown => "unknown",
        }
    }

    /// The exit status it means.
    pub const fn exit(self) -> Exit {
        match self {
            Self::Published | Self::Unchanged | Self::Skipped => Exit::Done,
            Self::Superseded => Exit::Superseded,
            Self::Refused => Exit::Refused,
            Self::Failed => Exit::Failed,
            Self::Unknown => Exit::Unknown,
        }
    }
}

impl From<kernrec_publish::Outcome> for Outcome {
    fn from(outcome: kernrec_publish::Outcome) -> Self {
        use kernrec_publish::Outcome as Published;
        match outcome {
            Published::Published => Self::Published,
            Published::Unchanged => Self::Unchanged,
            Published::Superseded => Self::Superseded,
            Published::Refused => Self::Refused,
            Published::Unknown => Self::Unknown,
            // What a later version may add is no success until it is known here.
            _ => Self::Failed,
        }
    }
}

/// What kept a collection from publishing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Obstacle {
    /// The stable word.
    pub reason: &'static str,
    /// What happened.
    pub message: String,
    /// True for a check that said no, false for a failure.
    pub refuses: bool,
}

/// How many distinct names a table has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Names {
    /// Kernels.
    Kernels(u64),
    /// Python functions.
    Functions(u64),
}

/// The table, counted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Folded {
    /// Its file, in the folder.
    pub table: String,
    /// Rows.
    pub rows: u64,
    /// Rows that may let their step be skipped.
    pub usable_rows: u64,
    /// What the rows name.
    #[serde(flatten)]
    pub names: Names,
    /// Why the other rows are not usable: rows by reason.
    pub unusable: BTreeMap<String, u64>,
    /// Jobs that left a recording or a sidecar.
    pub delivered_jobs: u64,
}

impl Obstacle {
    /// A check that said no.
    pub(crate) fn refusal(reason: &'static str, message: impl Into<String>) -> Self {
        Self {
            reason,
            message: message.into(),
            refuses: true,
        }
    }

    /// Something failed.
    pub(crate) fn failure(reason: &'static str, message: impl Into<String>) -> Self {
        Self {
            refuses: false,
            ..Self::refusal(reason, message)
        }
    }
}

impl CollectReport {
    /// Concludes from what is in the report how it ended.
    pub(crate) fn conclude(&mut self) {
        let failed = self.obstacles.iter().any(|obstacle| !obstacle.refuses);
        self.outcome = match (&self.publish, &self.skipped) {
            (Some(publish), _) => publish.outcome.into(),
            (None, _) if failed => Outcome::Failed,
            // Nothing was to be published, so nothing was refused.
            (None, Some(_)) => Outcome::Skipped,
            (None, None) => Outcome::Refused,
        };
        self.exit_status = self.outcome.exit().code();
    }

    /// How the annotation looks.
    pub fn style(&self) -> Style {
        let is_whole = self.short.is_empty()
            && self.lost.is_empty()
            && self.obstacles.is_empty()
            && self.waited.late().next().is_none()
            && self.unreadable_maps.is_empty();
        match self.outcome {
            Outcome::Refused | Outcome::Failed | Outcome::Unknown => Style::Error,
            Outcome::Published | Outcome::Unchanged | Outcome::Skipped if is_whole => Style::Info,
            Outcome::Published | Outcome::Unchanged | Outcome::Skipped | Outcome::Superseded => {
                Style::Warning
            }
        }
    }
}
