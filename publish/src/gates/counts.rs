//! What a record holds, counted for its manifest and for the next publish's gates.

use kernrec_schemas::KernelName;
use kernrec_schemas::manifest::Counts;
use kernrec_schemas::symbol_map::SymbolMap;
use kernrec_schemas::table::{KernelTable, Row};
use std::collections::HashSet;

/// Counts a table and the maps of its backend.
pub fn counts<'a>(
    table: &KernelTable,
    maps: impl Iterator<Item = &'a SymbolMap> + Clone,
) -> Counts {
    let symbols: HashSet<&str, foldhash::fast::RandomState> = maps
        .clone()
        .flat_map(|map| &map.objects)
        .flat_map(|object| &object.symbols)
        .map(KernelName::as_str)
        .collect();
    let joined = launched(table, Row::is_usable)
        .filter(|name| symbols.contains(name.as_str()))
        .count();
    Counts {
        rows: table.rows.len() as u64,
        usable_rows: table.usable_rows(),
        kernels: launched(table, |_| true).count() as u64,
        objects: maps.map(|map| map.objects.len() as u64).sum(),
        symbols: symbols.len() as u64,
        joined: joined as u64,
    }
}

/// The distinct names that the chosen rows launched.
fn launched(table: &KernelTable, chosen: fn(&Row) -> bool) -> impl Iterator<Item = &KernelName> {
    let mut seen = vec![false; table.names.len()];
    for row in table.rows.values().filter(|row| chosen(row)) {
        for &index in &row.kernels {
            if let Some(seen) = seen.get_mut(index as usize) {
                *seen = true;
            }
        }
    }
    table
        .names
        .iter()
        .zip(seen)
        .filter_map(|(name, seen)| seen.then_some(name))
}
