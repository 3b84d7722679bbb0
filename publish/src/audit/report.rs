//! The audit as data.

use kernrec_schemas::recording::ProcessCounts;
use kernrec_schemas::table::RowReason;
use kernrec_schemas::{JobId, StepKey};
use serde::Serialize;

/// What the health rules cost.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Audit {
    /// Rows.
    pub rows: u64,
    /// Rows that may let their step be skipped.
    pub usable_rows: u64,
    /// Processes of the jobs that decide, by state.
    pub processes: ProcessCounts,
    /// What each rule costs, the most expensive first.
    pub rules: Vec<RuleCost>,
    /// Who is to blame, by step; from a table alone only steps and reasons are known.
    pub blame: Vec<Blame>,
}

/// The cost of one rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RuleCost {
    /// The rule.
    pub reason: RowReason,
    /// Rows it makes unusable.
    pub rows: u64,
    /// Rows that would be usable if it alone were mended.
    pub alone: u64,
}

/// One cause of an unusable row.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Blame {
    /// The step.
    pub step: StepKey,
    /// The rule.
    pub reason: RowReason,
    /// The job; `None` when it is the step as a whole, or nobody knows.
    pub job: Option<JobId>,
    /// The recording's file name.
    pub file: Option<String>,
    /// The process.
    pub pid: Option<u64>,
    /// The program.
    pub exe: Option<String>,
    /// What the recorder or the reader said.
    pub detail: Option<String>,
}
