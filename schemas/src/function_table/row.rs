//! One step's row and the rule of a usable one.

use crate::id::Commit;
use crate::json::is_zero;
use crate::recording::{ProcessCounts, ProcessState};
use crate::table::{RowReason, Shards};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// What pytest's sessions came to. Zero counts are left out of the document.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct TestCounts {
    /// Sessions that ended.
    #[serde(skip_serializing_if = "is_zero")]
    pub sessions: u64,
    /// Tests that were selected to be run.
    #[serde(skip_serializing_if = "is_zero")]
    pub collected: u64,
    /// Tests whose body was run.
    #[serde(skip_serializing_if = "is_zero")]
    pub executed: u64,
    /// Tests that passed.
    #[serde(skip_serializing_if = "is_zero")]
    pub passed: u64,
    /// Tests that failed.
    #[serde(skip_serializing_if = "is_zero")]
    pub failed: u64,
    /// Tests whose set-up or tear-down failed.
    #[serde(skip_serializing_if = "is_zero")]
    pub errors: u64,
    /// Tests that were skipped.
    #[serde(skip_serializing_if = "is_zero")]
    pub skipped: u64,
    /// Tests that failed as expected.
    #[serde(skip_serializing_if = "is_zero")]
    pub xfailed: u64,
    /// Tests that passed against expectation.
    #[serde(skip_serializing_if = "is_zero")]
    pub xpassed: u64,
}

impl TestCounts {
    /// Adds another count's tests.
    pub fn merge(&mut self, other: &Self) {
        for (count, more) in [
            (&mut self.sessions, other.sessions),
            (&mut self.collected, other.collected),
            (&mut self.executed, other.executed),
            (&mut self.passed, other.passed),
            (&mut self.failed, other.failed),
            (&mut self.errors, other.errors),
            (&mut self.skipped, other.skipped),
            (&mut self.xfailed, other.xfailed),
            (&mut self.xpassed, other.xpassed),
        ] {
            *count = count.saturating_add(more);
        }
    }
}

/// What one step entered, and how good the evidence is. Of several attempts of a job the last decides how good it is;
/// functions and libraries are those of all.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FunctionRow {
    /// Jobs folded.
    pub jobs: u64,
    /// Every job passed (of several attempts, the last).
    pub passed: bool,
    /// Every declared shard was seen; true when none was declared.
    pub complete: bool,
    /// Shards declared and seen.
    pub shards: Shards,
    /// Recordings.
    pub processes: u64,
    /// Processes of the jobs that decide that ended by themselves.
    pub clean_exits: u64,
    /// Recordings of the jobs that decide that have fewer functions than they counted, or could not hold everything.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub lost_lines: u64,
    /// Functions entered: ascending indexes into the functions of the table's files, counted through.
    pub functions: Vec<u32>,
    /// Third-party packages entered: ascending indexes into the table's libraries.
    pub libraries: Vec<u32>,
    /// What pytest's sessions came to, in the jobs that decide.
    pub tests: TestCounts,
    /// Processes of the jobs that decide, by state.
    pub health: ProcessCounts,
    /// The interpreters' versions, `3.12.1`.
    pub interpreters: BTreeSet<String>,
    /// The commits that the jobs recorded.
    pub commits: BTreeSet<Commit>,
    /// Why the row is thin: nothing may be concluded from what it did not enter.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub reasons: BTreeSet<RowReason>,
}

impl FunctionRow {
    /// Whether the row's silence may let its step be skipped: it is not thin.
    pub fn is_usable(&self) -> bool {
        self.unusable_reasons().is_empty()
    }

    /// Every reason why it may not: the stated ones and those its fields imply. Where fields contradict each other
    /// the worse one is believed.
    pub fn unusable_reasons(&self) -> BTreeSet<RowReason> {
        let shard_missing = self.shards.expected.is_some_and(|n| self.shards.seen < n);
        let implied = [
            (!self.passed, RowReason::NotPassed),
            (!self.complete || shard_missing, RowReason::ShardsIncomplete),
            (self.jobs == 0, RowReason::NoRecording),
            (self.functions.is_empty(), RowReason::NoFunctions),
            (self.clean_exits == 0, RowReason::NoCleanExit),
            (self.lost_lines > 0, RowReason::LostLines),
            (self.tests.executed == 0, RowReason::RanNoTests),
            (self.commits.is_empty(), RowReason::NoProvenance),
            (self.commits.len() > 1, RowReason::ForeignCommit),
        ];
        let states = ProcessState::ALL.into_iter();
        let states = states.filter(|state| self.health.count(*state) > 0);
        let mut reasons = self.reasons.clone();
        reasons.extend(states.filter_map(RowReason::of_python_process));
        let holding = implied.into_iter().filter(|(holds, _)| *holds);
        reasons.extend(holding.map(|(_, reason)| reason));
        reasons
    }
}
