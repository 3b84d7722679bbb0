//! The canonical bytes.

use super::{CodePath, FunctionName, FunctionRow, FunctionTable, LibraryName};
use crate::id::StepKey;
use crate::json;
use crate::table::TableSource;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// The document as written; also what the JSON Schema is generated from.
#[derive(Serialize, JsonSchema)]
#[schemars(title = "kernrec function table, version 1")]
pub(crate) struct Document {
    #[schemars(extend("const" = "kernrec.functions/1"))]
    schema: &'static str,
    source: TableSource,
    files: Vec<File>,
    libraries: Vec<LibraryName>,
    rows: BTreeMap<StepKey, FunctionRow>,
    stats: Stats,
}

/// A file and those of its functions that some row entered.
#[derive(Serialize, JsonSchema)]
struct File {
    path: CodePath,
    functions: Vec<FunctionName>,
}

/// Informative totals; no reader decides by them.
#[derive(Serialize, JsonSchema)]
struct Stats {
    steps: u64,
    files: u64,
    functions: u64,
    libraries: u64,
    processes: u64,
    rows_usable: u64,
}

pub(super) fn canonical(table: &FunctionTable) -> Vec<u8> {
    let rows = || table.rows.values();
    let functions = Sorted::of(&table.functions, rows().flat_map(|row| &row.functions));
    let libraries = Sorted::of(&table.libraries, rows().flat_map(|row| &row.libraries));
    let processes = rows().fold(0_u64, |sum, row| sum.saturating_add(row.processes));
    let rows = table.rows.iter().map(|(step, row)| {
        let row = FunctionRow {
            functions: functions.renumbered(&row.functions),
            libraries: libraries.renumbered(&row.libraries),
            ..row.clone()
        };
        (step.clone(), row)
    });
    let mut files: Vec<File> = Vec::new();
    for function in &functions.items {
        match files.last_mut() {
            Some(file) if file.path == function.file => file.functions.push(function.name.clone()),
            _ => files.push(File {
                path: function.file.clone(),
                functions: vec![function.name.clone()],
            }),
        }
    }
    json::canonical(&Document {
        schema: FunctionTable::SCHEMA,
        source: table.source.clone(),
        stats: Stats {
            steps: table.rows.len() as u64,
            files: files.len() as u64,
            functions: functions.items.len() as u64,
            libraries: libraries.items.len() as u64,
            processes,
            rows_usable: table.usable_rows(),
        },
        files,
        libraries: libraries.items.iter().copied().cloned().collect(),
        rows: rows.collect(),
    })
}

/// The items that some row refers to, sorted, each once, and the new index of each old one.
struct Sorted<'a, T> {
    items: Vec<&'a T>,
    new_index: Vec<Option<u32>>,
}

impl<'a, T: Ord> Sorted<'a, T> {
    fn of<'i>(items: &'a [T], used: impl Iterator<Item = &'i u32>) -> Self {
        let mut is_used = vec![false; items.len()];
        for &index in used {
            if let Some(is_used) = is_used.get_mut(index as usize) {
                *is_used = true;
            }
        }
        let mut order: Vec<usize> = (0..items.len()).filter(|&index| is_used[index]).collect();
        order.sort_unstable_by(|&a, &b| items[a].cmp(&items[b]));
        let mut sorted: Vec<&T> = Vec::with_capacity(order.len());
        let mut new_index = vec![None; items.len()];
        for old in order {
            if sorted.last() != Some(&&items[old]) {
                sorted.push(&items[old]);
            }
            new_index[old] = u32::try_from(sorted.len() - 1).ok();
        }
        Self {
            items: sorted,
            new_index,
        }
    }

    fn renumbered(&self, indexes: &[u32]) -> Vec<u32> {
        let new = |&old: &u32| self.new_index.get(old as usize).copied().flatten();
        let mut new: Vec<u32> = indexes.iter().filter_map(new).collect();
        new.sort_unstable();
        new.dedup();
        new
    }
}
