//! The table of a request, and what jobs delivered for it.

use super::{Evidence, PublishRequest, Table};
use crate::fold::{Delivery, FoldOptions, delivery, fold, fold_functions};
use kernrec_schemas::Variant;
use kernrec_schemas::table::{Row, RowReason};
use std::collections::BTreeSet;

/// The table to publish; the delivery is `None` for a ready-made one.
pub(super) fn table(request: &PublishRequest<'_>) -> (Table, Option<Delivery>) {
    match request.evidence {
        Evidence::Recordings(collected) => {
            let options = fold_options(request);
            let table = if request.backend.has_kernels() {
                Table::Kernels(fold(collected, &options))
            } else {
                Table::Functions(fold_functions(collected, &options))
            };
            (table, Some(delivery(collected, &options)))
        }
        Evidence::Table(Table::Functions(table)) => (Table::Functions(table.clone()), None),
        Evidence::Table(Table::Kernels(table)) => {
            let mut table = table.clone();
            let variants = map_variants(request);
            for row in table.rows.values_mut() {
                if lacks_a_map(row, &variants) {
                    row.reasons.insert(RowReason::VariantWithoutMap);
                }
                // Readers that know neither reasons nor health must not take it for a usable one.
                let tells = !row.passed || !row.complete || row.dropped > 0;
                row.trace_complete &= tells || row.is_usable();
            }
            (Table::Kernels(table), None)
        }
    }
}

/// The options of the request's fold.
pub(super) fn fold_options(request: &PublishRequest<'_>) -> FoldOptions {
    FoldOptions {
        backend: request.backend,
        commit: request.commit.clone(),
        build: request.build,
        org: request.org.clone(),
        pipeline: request.pipeline.clone(),
        recorded_at: request.recorded_at,
        jobs: request.jobs.cloned(),
        map_variants: (request.backend.has_kernels()).then(|| map_variants(request)),
    }
}

fn map_variants(request: &PublishRequest<'_>) -> BTreeSet<Variant> {
    request
        .maps
        .of(request.backend)
        .map(|(variant, _)| variant.clone())
        .collect()
}

/// A row names every variant but the default one, so without a map of the default one a row of a ready-made
/// table may always hold a job that has no map.
fn lacks_a_map(row: &Row, variants: &BTreeSet<Variant>) -> bool {
    !variants.contains(&Variant::default()) || !row.variants.is_subset(variants)
}
