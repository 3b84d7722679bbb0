//! What is asked of a row, whether of kernels or of functions.

use kernrec_publish::Table;
use kernrec_schemas::StepKey;
use kernrec_schemas::table::{RowReason, Shards};
use std::collections::{BTreeMap, BTreeSet};

/// A row, as far as a collection looks at it.
#[derive(Debug)]
pub(crate) struct RowFacts {
    /// Jobs folded.
    pub(crate) jobs: u64,
    /// Shards declared and seen.
    pub(crate) shards: Shards,
    /// Why its silence lets nothing be skipped; nothing when it is usable.
    pub(crate) reasons: BTreeSet<RowReason>,
}

/// The rows of a table.
pub(crate) fn rows(table: &Table) -> BTreeMap<StepKey, RowFacts> {
    let facts = |step: &StepKey, jobs, shards, reasons| {
        let facts = RowFacts {
            jobs,
            shards,
            reasons,
        };
        (step.clone(), facts)
    };
    match table {
        Table::Kernels(table) => {
            let rows = table.rows.iter();
            rows.map(|(step, row)| facts(step, row.jobs, row.shards, row.unusable_reasons()))
                .collect()
        }
        Table::Functions(table) => {
            let rows = table.rows.iter();
            rows.map(|(step, row)| facts(step, row.jobs, row.shards, row.unusable_reasons()))
                .collect()
        }
    }
}

impl RowFacts {
    /// Whether it may let its step be skipped.
    pub(crate) fn is_usable(&self) -> bool {
        self.reasons.is_empty()
    }
}
