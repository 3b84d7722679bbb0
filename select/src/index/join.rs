//! From a symbol of the maps to the rows that launched it.
//!
//! Of one commit, names are compared as they are. Of different commits, nvcc's content hashes differ although
//! the kernel is the same, so names are compared in their stable form; that can only add steps.

use super::SymbolId;
use super::lists::Lists;
use foldhash::fast::RandomState;
use kernrec_schemas::KernelName;
use kernrec_schemas::symbol_map::SymbolMap;
use std::borrow::Cow;
use std::collections::HashMap;

type Ids<'a> = HashMap<&'a str, SymbolId, RandomState>;

/// The distinct symbols of all maps and the rows of each.
#[derive(Debug)]
pub(super) struct Join<'a> {
    symbols: Vec<&'a KernelName>,
    of_objects: Lists<SymbolId>,
    rows_of: Lists<u32>,
}

impl<'a> Join<'a> {
    /// Joins maps and rows; a row is its kernels, as indexes into `names`.
    pub(super) fn build<'r>(
        maps: &'a [SymbolMap],
        names: &[KernelName],
        rows: impl Iterator<Item = &'r [u32]>,
        exact: bool,
    ) -> Self {
        let objects = || maps.iter().flat_map(|map| &map.objects);
        let most = objects().map(|object| object.symbols.len()).sum();
        let mut ids = Ids::with_capacity_and_hasher(most, RandomState::default());
        let mut symbols = Vec::with_capacity(most);
        let of_objects = Lists::of_lists(objects().map(|object| {
            let numbered = object.symbols.iter().map(|symbol| {
                *ids.entry(symbol.as_str()).or_insert_with(|| {
                    symbols.push(symbol);
                    // More symbols than u32 counts would need a map of 4 billion names; the loader's bound is 512 MiB.
                    SymbolId(u32::try_from(symbols.len() - 1).unwrap_or(u32::MAX))
                })
            });
            numbered.collect::<Vec<_>>()
        }));
        let of_names = if exact {
            exact_symbols(&ids, names)
        } else {
            stable_symbols(&symbols, names)
        };
        let rows_of = rows_of(symbols.len(), &of_names, rows);
        Self {
            symbols,
            of_objects,
            rows_of,
        }
    }

    pub(super) fn name(&self, symbol: SymbolId) -> &'a KernelName {
        self.symbols[symbol.0 as usize]
    }

    /// The symbols of an object, by its number over all maps.
    pub(super) fn of_object(&self, object: u32) -> &[SymbolId] {
        self.of_objects.list(object)
    }

    pub(super) fn rows_of(&self, symbol: SymbolId) -> &[u32] {
        self.rows_of.list(symbol.0)
    }

    pub(super) fn len(&self) -> usize {
        self.symbols.len()
    }
}

/// The symbols that each name of the table means: itself, if the maps have it.
fn exact_symbols(ids: &Ids<'_>, names: &[KernelName]) -> Lists<SymbolId> {
    Lists::of_lists(names.iter().map(|name| ids.get(name.as_str()).copied()))
}

/// The symbols that each name of the table may mean: every one with the same stable form.
fn stable_symbols(symbols: &[&KernelName], names: &[KernelName]) -> Lists<SymbolId> {
    let mut by_form: HashMap<Cow<'_, str>, Vec<SymbolId>, RandomState> = HashMap::default();
    for (id, symbol) in (0_u32..).zip(symbols) {
        by_form
            .entry(symbol.stable())
            .or_default()
            .push(SymbolId(id));
    }
    Lists::of_lists(
        names
            .iter()
            .map(|name| by_form.get(&name.stable()).into_iter().flatten().copied()),
    )
}

/// By symbol, the rows that launched it, ascending and each once.
fn rows_of<'r>(
    symbols: usize,
    of_names: &Lists<SymbolId>,
    rows: impl Iterator<Item = &'r [u32]>,
) -> Lists<u32> {
    let mut pairs = Vec::new();
    // The row of each symbol's last pair: several names of one row may mean the same symbol.
    let mut last = vec![None; symbols];
    for (row, kernels) in (0_u32..).zip(rows) {
        for symbol in kernels.iter().flat_map(|&kernel| of_names.list(kernel)) {
            let last = &mut last[symbol.0 as usize];
            if *last != Some(row) {
                *last = Some(row);
                pairs.push((symbol.0, row));
            }
        }
    }
    Lists::of_pairs(symbols, &pairs)
}
