//! One step's row and the rule of a usable one.

use super::RowReason;
use crate::id::{RowBackend, Variant};
use crate::recording::ProcessCounts;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Shards of a step.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Shards {
    /// The largest number any job declared; `None` when no job declared shards.
    pub expected: Option<u64>,
    /// Distinct indexes seen.
    pub seen: u64,
}

/// What one step launched, and how good the evidence is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(clippy::struct_excessive_bools, reason = "the fields of the format")]
pub struct Row {
    /// Job folders folded.
    pub jobs: u64,
    /// Every job passed (of several attempts, the last).
    pub passed: bool,
    /// Every declared shard was seen; true when none was declared.
    pub complete: bool,
    /// Recording files.
    pub processes: u64,
    /// Records lost, over the recordings of the jobs that decide: of several attempts, the last.
    pub dropped: u64,
    /// Shards declared and seen.
    #[serde(default)]
    pub shards: Shards,
    /// Kernels launched: ascending indexes into the table's names.
    pub kernels: Vec<u32>,
    /// The backend of all evidence.
    pub backend: RowBackend,
    /// Every process of every job is accounted for.
    pub trace_complete: bool,
    /// Every job left a recording.
    #[serde(default)]
    pub recording_available: bool,
    /// Processes of the jobs that decide, by state; absent in tables of other writers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub health: Option<ProcessCounts>,
    /// Why the row is not usable; empty in tables of other writers.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub reasons: BTreeSet<RowReason>,
    /// The variants its jobs ran in, the default one left out.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub variants: BTreeSet<Variant>,
}

impl Row {
    /// Whether the row's silence may let its step be skipped: nothing speaks against it.
    pub fn is_usable(&self) -> bool {
        self.reasons.is_empty() && self.trace_complete && self.implied().next().is_none()
    }

    /// Every reason why it may not: the stated ones and those its fields imply. Empty for a usable row.
    pub fn unusable_reasons(&self) -> BTreeSet<RowReason> {
        let mut reasons = self.reasons.clone();
        reasons.extend(self.implied());
        if !self.trace_complete && reasons.is_empty() {
            reasons.insert(RowReason::TraceIncomplete);
        }
        reasons
    }

    /// What the fields say against the row, one by one. Fields of a table by another writer may contradict
    /// each other; then the worse one is believed.
    fn implied(&self) -> impl Iterator<Item = RowReason> {
        let shard_missing = self.shards.expected.is_some_and(|n| self.shards.seen < n);
        let unhealthy = self.health.iter().flat_map(|health| {
            let states = health.iter().map(|(state, _)| state);
            states.filter_map(RowReason::of_process)
        });
        [
            (!self.passed, RowReason::NotPassed),
            (!self.complete || shard_missing, RowReason::ShardsIncomplete),
            (self.dropped > 0, RowReason::Dropped),
            (self.backend.known().is_none(), RowReason::BackendUnknown),
            (
                self.jobs == 0 || self.processes == 0,
                RowReason::NoRecording,
            ),
        ]
        .into_iter()
        .filter_map(|(holds, reason)| holds.then_some(reason))
        .chain(unhealthy)
    }
}

/// A row of a table that broke a rule of the format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowFault {
    /// The row's key as it stands in the document.
    pub key: String,
    /// What is wrong with it.
    pub problem: String,
}
