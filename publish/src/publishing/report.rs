//! How a publish ended, for people and machines.

use super::PublishError;
use super::current::Current;
use super::decide::Decision;
use super::ordering::Supersession;
use crate::collect::Unreadable;
use crate::fold::Delivery;
use crate::gates::Refusal;
use crate::shown;
use kernrec_schemas::exit::Exit;
use kernrec_schemas::manifest::Counts;
use kernrec_schemas::pointer::RecordRef;
use kernrec_schemas::{
    Backend, BuildNumber, Commit, Digest, Generation, KeyId, Pipeline, Timestamp,
};
use serde::Serialize;
use std::path::PathBuf;

/// The end of a publish.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Outcome {
    /// The pointer names this record now. In a dry run: it would.
    Published,
    /// The same record was current already.
    Unchanged,
    /// A newer record is current.
    Superseded,
    /// A gate refused.
    Refused,
    /// The pointer may have moved or not: the answer was lost. Nothing was deleted.
    Unknown,
    /// An error; the pointer was not moved.
    Failed,
}

impl Outcome {
    /// The stable word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Published => "published",
            Self::Unchanged => "unchanged",
            Self::Superseded => "superseded",
            Self::Refused => "refused",
            Self::Unknown => "unknown",
            Self::Failed => "failed",
        }
    }

    /// The exit status it means.
    pub const fn exit(self) -> Exit {
        match self {
            Self::Published | Self::Unchanged => Exit::Done,
            Self::Superseded => Exit::Superseded,
            Self::Refused => Exit::Refused,
            Self::Unknown => Exit::Unknown,
            Self::Failed => Exit::Failed,
        }
    }
}

/// The end of one backend's publish.
#[derive(Debug, Clone, Serialize)]
pub struct PublishReport {
    /// The backend.
    pub backend: Backend,
    /// The pipeline.
    pub pipeline: Pipeline,
    /// The commit.
    pub commit: Commit,
    /// The build.
    pub build: BuildNumber,
    /// How it ended.
    pub outcome: Outcome,
    /// True when nothing was to be written.
    pub dry_run: bool,
    /// The time the record speaks of.
    pub recorded_at: Option<Timestamp>,
    /// The record's manifest; `None` when it was not made.
    pub manifest: Option<Digest>,
    /// The pointer's generation afterwards, as far as known.
    pub generation: Option<Generation>,
    /// The key that signed the pointer, if this publish moved it and signed.
    pub signed_by: Option<KeyId>,
    /// What the record holds; `None` when it was not made.
    pub counts: Option<Counts>,
    /// What jobs delivered; `None` for a ready-made table.
    pub delivery: Option<Delivery>,
    /// Rows of a ready-made table that were set aside, as `step: problem`.
    pub faulty_rows: Vec<String>,
    /// Bundles the manifest names.
    pub bundles: u64,
    /// Job folders that were folded and that no bundle can hold as they were read: their rows, which are not
    /// usable, cannot be folded again.
    pub without_bundle: Vec<Unreadable>,
    /// Every gate that refused.
    pub refusals: Vec<Refusal>,
    /// Which rule called the record older.
    pub superseded: Option<Supersession>,
    /// The record that was current when this was decided; for `published`, the one replaced.
    pub current: Option<RecordRef>,
    /// The error of a failed or unknown publish.
    pub failure: Option<Failure>,
}

impl PublishReport {
    /// A report of nothing yet.
    pub(super) fn blank(
        backend: Backend,
        pipeline: &Pipeline,
        commit: &Commit,
        build: BuildNumber,
        dry_run: bool,
    ) -> Self {
        Self {
            backend,
            pipeline: pipeline.clone(),
            commit: commit.clone(),
            build,
            outcome: Outcome::Failed,
            dry_run,
            recorded_at: None,
            manifest: None,
            generation: None,
            signed_by: None,
            counts: None,
            delivery: None,
            faulty_rows: Vec::new(),
            bundles: 0,
            without_bundle: Vec::new(),
            refusals: Vec::new(),
            superseded: None,
            current: None,
            failure: None,
        }
    }

    /// Notes what stands in the store.
    pub(super) fn saw(&mut self, current: Option<&Current>) {
        let pointer = current.map(|current| &current.versioned.pointer);
        self.current = pointer.map(|pointer| pointer.current.clone());
        self.generation = pointer.map(|pointer| pointer.generation);
    }

    /// Ends with a decision.
    pub(super) fn decided(&mut self, decision: Decision) {
        match decision {
            // Only a dry run ends here.
            Decision::Go | Decision::Renew => self.outcome = Outcome::Published,
            Decision::Unchanged => self.outcome = Outcome::Unchanged,
            Decision::Superseded(supersession) => {
                self.outcome = Outcome::Superseded;
                self.superseded = Some(supersession);
            }
            Decision::Refused(refusals) => {
                self.outcome = Outcome::Refused;
                self.refusals = refusals;
            }
        }
    }
}

/// An error as data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// The stable word.
    pub reason: &'static str,
    /// The message with its causes.
    pub message: String,
}

impl Failure {
    /// Describes an error.
    pub fn of(error: &PublishError) -> Self {
        Self {
            reason: error.reason(),
            message: error.to_string(),
        }
    }
}

/// The ends of several backends' publishes.
#[derive(Debug, Clone, Default, Serialize)]
pub struct BatchReport {
    /// One report per backend, in the order of [`Backend::ALL`]. Every command that works backend by backend calls the
    /// list so.
    #[serde(rename = "backends")]
    pub reports: Vec<PublishReport>,
    /// Maps that no publish used: those that nobody can read, and those of backends not asked for.
    pub unused_maps: Vec<UnusedMap>,
    /// Backends with recordings for which no map was given and that were not asked for.
    pub backends_without_map: Vec<Backend>,
    /// Set when nothing was tried because another branch publishes.
    pub skipped: Option<SkippedBranch>,
}

/// A map that no publish used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnusedMap {
    /// The file.
    #[serde(serialize_with = "shown::path")]
    pub path: PathBuf,
    /// What the loader said; `None` for a good map of a backend not asked for.
    pub problem: Option<String>,
}

/// A branch that does not publish.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SkippedBranch {
    /// The branch that does.
    pub only_branch: String,
    /// The branch this is; `None` when nobody said.
    pub branch: Option<String>,
}

impl SkippedBranch {
    /// What `--only-branch` makes of a branch: `None` when it may publish. To be asked before anything is read.
    pub fn check(only_branch: Option<&str>, branch: Option<&str>) -> Option<Self> {
        let only_branch = only_branch.filter(|only| branch != Some(only))?.to_owned();
        let branch = branch.map(str::to_owned);
        Some(Self {
            only_branch,
            branch,
        })
    }
}

impl BatchReport {
    /// The report of a branch that does not publish.
    pub fn skipped(branch: SkippedBranch) -> Self {
        Self {
            skipped: Some(branch),
            ..Self::default()
        }
    }

    /// The worst end, a refused map of an unknown backend included.
    pub fn exit(&self) -> Exit {
        if self.skipped.is_some() {
            return Exit::Done;
        }
        let refused_map = self.unused_maps.iter().any(|map| map.problem.is_some());
        let start = if refused_map || self.reports.is_empty() {
            Exit::Refused
        } else {
            Exit::Done
        };
        self.reports
            .iter()
            .fold(start, |worst, report| worst.worst(report.outcome.exit()))
    }
}
