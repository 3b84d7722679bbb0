//! The canonical version 3.

use super::{KernelTable, Row, TableSource};
use crate::id::{KernelName, StepKey};
use crate::json;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// The document as written; also what the JSON Schema is generated from.
#[derive(Serialize, JsonSchema)]
#[schemars(title = "kernrec kernel table, version 3")]
pub(crate) struct Document<'a> {
    #[schemars(extend("const" = 3))]
    version: u64,
    source: TableSource,
    names: Vec<&'a KernelName>,
    rows: BTreeMap<StepKey, Row>,
    stats: Stats,
}

/// Informative totals; no reader decides by them.
#[derive(Serialize, JsonSchema)]
struct Stats {
    steps: u64,
    unique_kernels: u64,
    processes: u64,
    rows_usable: u64,
    rows_incomplete: u64,
    rows_with_drops: u64,
}

pub(super) fn canonical(table: &KernelTable) -> Vec<u8> {
    let (names, new_index) = sorted_names(table);
    let rows = table
        .rows
        .iter()
        .map(|(step, row)| (step.clone(), renumbered(row, &new_index)))
        .collect();
    json::canonical(&Document {
        version: KernelTable::VERSION,
        source: table.source.clone(),
        stats: stats(table, names.len() as u64),
        names,
        rows,
    })
}

/// Names some row refers to, sorted by bytes, each once, and the new index of each old one.
fn sorted_names(table: &KernelTable) -> (Vec<&KernelName>, Vec<Option<u32>>) {
    let mut used = vec![false; table.names.len()];
    for &index in table.rows.values().flat_map(|row| &row.kernels) {
        if let Some(used) = used.get_mut(index as usize) {
            *used = true;
        }
    }
    let mut order: Vec<usize> = (0..table.names.len())
        .filter(|&index| used[index])
        .collect();
    order.sort_unstable_by(|&a, &b| table.names[a].cmp(&table.names[b]));
    let mut names: Vec<&KernelName> = Vec::with_capacity(order.len());
    let mut new_index = vec![None; table.names.len()];
    for old in order {
        let name = &table.names[old];
        if names.last() != Some(&name) {
            names.push(name);
        }
        new_index[old] = u32::try_from(names.len() - 1).ok();
    }
    (names, new_index)
}

fn renumbered(row: &Row, new_index: &[Option<u32>]) -> Row {
    let mut kernels: Vec<u32> = row
        .kernels
        .iter()
        .filter_map(|&old| new_index.get(old as usize).copied().flatten())
        .collect();
    kernels.sort_unstable();
    kernels.dedup();
    Row {
        kernels,
        ..row.clone()
    }
}

fn stats(table: &KernelTable, unique_kernels: u64) -> Stats {
    let count =
        |holds: fn(&Row) -> bool| table.rows.values().filter(|row| holds(row)).count() as u64;
    Stats {
        steps: table.rows.len() as u64,
        unique_kernels,
        processes: table
            .rows
            .values()
            .fold(0, |sum, row| sum.saturating_add(row.processes)),
        rows_usable: table.usable_rows(),
        rows_incomplete: count(|row| !row.complete),
        rows_with_drops: count(|row| row.dropped > 0),
    }
}
