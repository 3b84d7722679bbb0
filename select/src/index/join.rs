//! From a symbol of the maps to the rows that launched it.
//!
//! Of one commit, names are compared as they are. Of different commits, nvcc's content hashes differ although
//! the kernel is the same, so names are compared in their stable form; that can only add steps.

use super::SymbolId;
use foldhash::fast::RandomState;
use kernrec_schemas::KernelName;
use kernrec_schemas::symbol_map::SymbolMap;
use std::borrow::Cow;
use std::collections::HashMap;

/// The distinct symbols of all maps and the rows of each.
#[derive(Debug)]
pub(super) struct Join<'a> {
    symbols: Vec<&'a KernelName>,
    rows_of: Vec<Vec<u32>>,
}

impl<'a> Join<'a> {
    /// Joins maps and rows; a row is its kernels, as indexes into `names`. Also answers the symbols of each object,
    /// in the maps' order.
    pub(super) fn build<'r>(
        maps: &'a [SymbolMap],
        names: &[KernelName],
        rows: impl Iterator<Item = &'r [u32]>,
        exact: bool,
    ) -> (Self, Vec<Vec<SymbolId>>) {
        let mut ids: HashMap<&'a str, SymbolId, RandomState> = HashMap::default();
        let mut symbols = Vec::new();
        let mut of_objects = Vec::new();
        for object in maps.iter().flat_map(|map| &map.objects) {
            let of_object = object.symbols.iter().map(|symbol| {
                *ids.entry(symbol.as_str()).or_insert_with(|| {
                    symbols.push(symbol);
                    // More symbols than u32 counts would need a map of 4 billion names; the loader's bound is 512 MiB.
                    SymbolId(u32::try_from(symbols.len() - 1).unwrap_or(u32::MAX))
                })
            });
            of_objects.push(of_object.collect());
        }
        let of_names = if exact {
            exact_symbols(&ids, names)
        } else {
            stable_symbols(&symbols, names)
        };
        let mut join = Self {
            rows_of: vec![Vec::new(); symbols.len()],
            symbols,
        };
        for (row, kernels) in (0_u32..).zip(rows) {
            for &kernel in kernels {
                join.add_row(
                    row,
                    of_names.get(kernel as usize).map_or(&[], Vec::as_slice),
                );
            }
        }
        (join, of_objects)
    }

    fn add_row(&mut self, row: u32, symbols: &[SymbolId]) {
        for symbol in symbols {
            let rows = &mut self.rows_of[symbol.0 as usize];
            if rows.last() != Some(&row) {
                rows.push(row);
            }
        }
    }

    pub(super) fn name(&self, symbol: SymbolId) -> &'a KernelName {
        self.symbols[symbol.0 as usize]
    }

    pub(super) fn rows_of(&self, symbol: SymbolId) -> &[u32] {
        &self.rows_of[symbol.0 as usize]
    }
}

/// The symbols that each name of the table means: itself, if the maps have it.
fn exact_symbols(
    ids: &HashMap<&str, SymbolId, RandomState>,
    names: &[KernelName],
) -> Vec<Vec<SymbolId>> {
    names
        .iter()
        .map(|name| ids.get(name.as_str()).copied().into_iter().collect())
        .collect()
}

/// The symbols that each name of the table may mean: every one with the same stable form.
fn stable_symbols(symbols: &[&KernelName], names: &[KernelName]) -> Vec<Vec<SymbolId>> {
    let mut by_form: HashMap<Cow<'_, str>, Vec<SymbolId>, RandomState> = HashMap::default();
    for (id, symbol) in (0_u32..).zip(symbols) {
        by_form
            .entry(symbol.stable())
            .or_default()
            .push(SymbolId(id));
    }
    names
        .iter()
        .map(|name| by_form.get(&name.stable()).cloned().unwrap_or_default())
        .collect()
}
