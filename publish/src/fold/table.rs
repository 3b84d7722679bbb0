//! All rows.

use super::row::row;
use super::{Filing, FoldOptions};
use crate::collect::Collected;
use kernrec_schemas::table::{KernelTable, TableSource};

/// Folds everything collected into the table of one backend.
///
/// Jobs of another backend are passed over; a job whose backend nobody knows is folded into every backend's
/// table, where its row vetoes and never authorises.
pub fn fold(collected: &Collected, options: &FoldOptions) -> KernelTable {
    let filing = Filing::new(collected, options);
    let rows = filing
        .of_backend(options)
        .map(|(step, jobs)| {
            let row = row(collected, &filing, step, &jobs, options);
            (step.clone(), row)
        })
        .collect();
    KernelTable {
        version: KernelTable::VERSION,
        source: source(options),
        names: collected.names().to_vec(),
        rows,
        faults: Vec::new(),
    }
}

/// Where a folded table comes from.
pub(super) fn source(options: &FoldOptions) -> TableSource {
    TableSource {
        org: options.org.clone(),
        pipeline: options.pipeline.to_string(),
        build: options.build,
        commit: Some(options.commit.clone()),
        recorded_at: options.recorded_at,
    }
}
