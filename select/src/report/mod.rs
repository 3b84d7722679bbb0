//! The answer as data: what was seen, what was decided, and why. Stable words and snake-case fields.
//!
//! Long lists of kernels and files are cut to [`MAX_EXAMPLES`] with their full count beside them; lists of steps
//! are always whole, because machines act on them.

mod attribution;
mod build;
mod functions;

pub use attribution::{AttributionReport, UnitReport};
pub use functions::{EnteredCount, EnteredFunction, EnteredReport, FunctionsSeen};

use crate::change::{Assumes, ChangeRange, FileStatus};
use crate::decision::{Policy, Reason};
use crate::evidence::{Cause, FileClass};
use crate::note::Note;
use kernrec_schemas::table::RowReason;
use kernrec_schemas::{Backend, BuildNumber, Commit, KernelName, StepKey, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// How many kernels or files a list in the report names at most.
pub const MAX_EXAMPLES: usize = 16;

/// The answer to one question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "kernrec selection, version 1")]
pub struct Report {
    /// Always `kernrec.selection/1`.
    pub schema: String,
    /// What the answer takes for granted about the change.
    pub assumes: Vec<Assumes>,
    /// Between which commits the change lies, if it comes from a diff.
    pub change: Option<ChangeRange>,
    /// The moment for which ages were computed.
    pub decided_at: Timestamp,
    /// The age from which a record may only add steps, in seconds.
    pub max_age_seconds: u64,
    /// Why nothing was asked at all: what was needed for it could not be had. Then everything must run.
    pub stopped: Option<LimitProblem>,
    /// No step may be skipped: run everything, the steps that the record does not know included.
    pub everything_must_run: bool,
    /// Totals.
    pub counts: Counts,
    /// What went wrong on the way and made more run.
    pub notes: Vec<Note>,
    /// What the step file holds, if one was given.
    pub step_file: Option<StepFileReport>,
    /// The record of each backend.
    pub records: Vec<RecordReport>,
    /// The changed files, sorted.
    pub files: Vec<FileReport>,
    /// Steps that were seen to reach something that changed.
    pub selected: Vec<SelectedStep>,
    /// Steps that must run because their silence proves nothing.
    pub kept: Vec<KeptStep>,
    /// Steps that may be skipped.
    pub skipped: Vec<SkippedStep>,
}

impl Report {
    /// The schema word written.
    pub const SCHEMA: &str = "kernrec.selection/1";

    /// The answer when nothing could be asked: everything must run.
    pub fn stopped(reason: impl Into<String>, problem: impl Into<String>, policy: &Policy) -> Self {
        Self {
            schema: Self::SCHEMA.to_owned(),
            assumes: Vec::new(),
            change: None,
            decided_at: policy.now,
            max_age_seconds: policy.max_age.as_secs(),
            stopped: Some(LimitProblem {
                reason: reason.into(),
                problem: problem.into(),
            }),
            everything_must_run: true,
            counts: Counts::default(),
            notes: Vec::new(),
            step_file: None,
            records: Vec::new(),
            files: Vec::new(),
            selected: Vec::new(),
            kept: Vec::new(),
            skipped: Vec::new(),
        }
    }

    /// The steps of the record that must run, sorted: selected and kept.
    pub fn steps_to_run(&self) -> BTreeSet<&StepKey> {
        self.selected
            .iter()
            .map(|step| &step.step)
            .chain(self.kept.iter().map(|step| &step.step))
            .collect()
    }
}

/// Totals.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Counts {
    /// Changed files.
    pub files: u64,
    /// Steps with a row in some record; with a step file, its steps that have a key. `selected`, `kept` and `skipped`
    /// add up to it.
    pub steps: u64,
    /// Steps that were seen to reach something that changed.
    pub selected: u64,
    /// Steps that must run although nothing was seen.
    pub kept: u64,
    /// Steps that may be skipped.
    pub skipped: u64,
}

/// What the step file holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StepFileReport {
    /// Steps, those without a key included.
    pub steps: u64,
    /// Steps without a key: they must run, and stand in no list.
    pub without_key: Vec<String>,
    /// Rows of the records whose step is not in the file.
    pub rows_without_step: u64,
}

/// One backend's record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RecordReport {
    /// The backend.
    pub backend: Backend,
    /// Whether it could be had, and what it is.
    pub state: RecordState,
}

/// Whether a record could be had.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RecordState {
    /// It was read.
    Ready {
        /// The table's pipeline.
        pipeline: String,
        /// The table's build.
        build: BuildNumber,
        /// The table's commit, if it names one.
        commit: Option<Commit>,
        /// When it was published, if anything says so.
        published_at: Option<Timestamp>,
        /// How old it is, in seconds, if that is known.
        age_seconds: Option<u64>,
        /// Steps with a row.
        rows: u64,
        /// Rows whose silence counts.
        usable_rows: u64,
        /// Rows that were set aside while reading: `key: problem`. A row whose key is no step key is nowhere else.
        faults: Vec<String>,
        /// Why the whole record may only add steps; empty when its silence may be believed.
        limits: Vec<Reason>,
        /// What is behind those limits, where there is more to say.
        problems: Vec<LimitProblem>,
    },
    /// It was asked for, or has a folder in the data, and could not be read.
    Unavailable {
        /// The stable word.
        reason: String,
        /// The words for people.
        problem: String,
    },
}

/// Why a record may only add steps, or why nothing could be asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LimitProblem {
    /// The stable word.
    pub reason: String,
    /// The words for people.
    pub problem: String,
}

/// One changed file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileReport {
    /// The file; of a path that is no UTF-8, what can be shown of it.
    pub path: String,
    /// What happened to it.
    pub status: FileStatus,
    /// What each readable record of kernels knows about it.
    pub seen: Vec<FileSeen>,
    /// What the function record knows about it; absent for a file that it does not speak for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub functions: Option<FunctionsSeen>,
}

/// What one record knows about one changed file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileSeen {
    /// The record's backend.
    pub backend: Backend,
    /// What silence about the file is worth.
    pub class: FileClass,
    /// Why it may only select; empty for every other class.
    pub causes: Vec<Cause>,
    /// It, or a file compiled together with it, changed between the record and the base of the change: silence about
    /// it says nothing.
    pub moved: bool,
    /// Objects compiled from it or including it.
    pub objects: u64,
    /// What changed in it; absent if nobody looked, or nobody could.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attribution: Option<AttributionReport>,
    /// Kernels that it can reach: of those objects, or of what changed in it.
    pub kernels: u64,
    /// How many of them some step launched.
    pub launched_kernels: u64,
    /// The steps that launched one, sorted.
    pub steps: Vec<StepCount>,
}

/// A step and how many kernels of a file it launched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StepCount {
    /// The step.
    pub step: StepKey,
    /// Kernels of the file that it launched.
    pub kernels: u64,
}

/// A step that launched a changed kernel, entered a changed function or used a library with another pin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SelectedStep {
    /// The step.
    pub step: StepKey,
    /// What was seen first: a launch, a call, a library; `held-by-the-python-record` if a record of kernels would have let
    /// the step go.
    pub reason: Reason,
    /// What it launched, by backend.
    pub launched: Vec<LaunchReport>,
    /// What it entered of what changed, by the function record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entered: Option<EnteredReport>,
}

/// What a step launched on one backend.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LaunchReport {
    /// The backend.
    pub backend: Backend,
    /// How many changed files had a kernel launched.
    pub file_count: u64,
    /// The first of those files.
    pub files: Vec<String>,
    /// How many changed kernels were launched.
    pub kernel_count: u64,
    /// The first of those kernels, exact names.
    pub kernels: Vec<KernelName>,
}

/// A step that must run although nothing was seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KeptStep {
    /// The step.
    pub step: StepKey,
    /// The deciding reason.
    pub reason: Reason,
    /// What each record with a row for it says.
    pub verdicts: Vec<VerdictReport>,
}

/// One record's word on one step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VerdictReport {
    /// The backend.
    pub backend: Backend,
    /// The first reason that holds in this record alone.
    pub reason: Reason,
    /// How many changed files are behind the reason.
    pub file_count: u64,
    /// The first of those files.
    pub files: Vec<String>,
    /// Why the row is not usable; empty unless that is the reason.
    pub row_reasons: Vec<RowReason>,
}

/// A step that may be skipped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkippedStep {
    /// The step.
    pub step: StepKey,
    /// `row-launched-none-of-its-kernels`, `row-entered-none-of-its-functions`, or `no-file-of-the-step-changed`.
    pub reason: Reason,
    /// The records whose row lets it go; empty when the step file does.
    pub backends: Vec<Backend>,
}
