//! Which of the expected jobs delivered nothing, step by step.

use crate::rows::{RowFacts, rows};
use crate::step::Step;
use kernrec_publish::Table;
use kernrec_schemas::StepKey;
use serde::Serialize;

/// A step of whose jobs some delivered nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Short {
    /// The step.
    pub step: StepKey,
    /// How many jobs it has.
    pub expected: u64,
    /// How many of them delivered.
    pub delivered: u64,
}

/// The steps that are short of jobs, in the order they were named.
pub(crate) fn short(steps: &[Step], table: &Table) -> Vec<Short> {
    let rows = rows(table);
    let short = |step: &Step| {
        let row = rows.get(&step.key);
        let delivered = row.map_or(0, |row| shards(row, step.jobs));
        (delivered < step.jobs).then(|| Short {
            step: step.key.clone(),
            expected: step.jobs,
            delivered,
        })
    };
    steps.iter().filter_map(short).collect()
}

/// Several attempts of one shard are one.
fn shards(row: &RowFacts, jobs: u64) -> u64 {
    match row.shards.expected {
        Some(_) => row.shards.seen,
        None => row.jobs.min(jobs),
    }
}
