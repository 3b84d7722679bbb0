//! From a symbol of the maps to the rows that launched it.
//!
//! Of one commit, names are compared as they are, and a name that the maps do not have in its stable form: two
//! builds of one commit may differ in nvcc's hashes, and a launch that finds no symbol would be a step skipped
//! wrongly. Of different commits the hashes differ although the kernel is the same, so every name is compared in its
//! stable form. That can only add launches, and [`Join::is_of_another_build`] tells where it did.

use super::SymbolId;
use super::lists::Lists;
use foldhash::fast::RandomState;
use kernrec_schemas::KernelName;
use kernrec_schemas::symbol_map::SymbolMap;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

type Ids<'a> = HashMap<&'a str, SymbolId, RandomState>;

/// The distinct symbols of all maps and the rows of each.
#[derive(Debug)]
pub(super) struct Join<'a> {
    symbols: Vec<&'a KernelName>,
    of_objects: Lists<SymbolId>,
    rows_of: Lists<u32>,
    /// The symbols that a row launched under a name that the maps do not have.
    another_build: HashSet<SymbolId, RandomState>,
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
            exact_symbols(&ids, &symbols, names)
        } else {
            stable_symbols(&symbols, names)
        };
        let is_loose = |name: &KernelName| !ids.contains_key(name.as_str());
        let (rows_of, another_build) = joined(symbols.len(), &of_names, rows, |name| {
            names.get(name as usize).is_some_and(is_loose)
        });
        Self {
            symbols,
            of_objects,
            rows_of,
            another_build,
        }
    }

    pub(super) fn name(&self, symbol: SymbolId) -> &'a KernelName {
        self.symbols[symbol.0 as usize]
    }

    /// The names of all symbols, by number.
    pub(super) fn names(&self) -> impl Iterator<Item = &'a KernelName> {
        self.symbols.iter().copied()
    }

    /// The symbols of an object, by its number over all maps.
    pub(super) fn of_object(&self, object: u32) -> &[SymbolId] {
        self.of_objects.list(object)
    }

    pub(super) fn rows_of(&self, symbol: SymbolId) -> &[u32] {
        self.rows_of.list(symbol.0)
    }

    /// Whether a row launched the symbol as another build than that of the maps spells it.
    pub(super) fn is_of_another_build(&self, symbol: SymbolId) -> bool {
        self.another_build.contains(&symbol)
    }

    pub(super) fn len(&self) -> usize {
        self.symbols.len()
    }
}

/// The symbols that each name of the table means: itself if the maps have it, else every one with the same stable
/// form.
fn exact_symbols(ids: &Ids<'_>, symbols: &[&KernelName], names: &[KernelName]) -> Lists<SymbolId> {
    let mut forms = None;
    Lists::of_lists(names.iter().map(|name| {
        if let Some(&symbol) = ids.get(name.as_str()) {
            return vec![symbol];
        }
        // Most names that the maps do not have are of libraries, and have no hash in them.
        match name.stable() {
            Cow::Borrowed(_) => Vec::new(),
            Cow::Owned(form) => forms
                .get_or_insert_with(|| Forms::of(symbols))
                .symbols(&form)
                .to_vec(),
        }
    }))
}

/// The symbols that each name of the table may mean: every one with the same stable form.
fn stable_symbols(symbols: &[&KernelName], names: &[KernelName]) -> Lists<SymbolId> {
    let forms = Forms::of(symbols);
    Lists::of_lists(
        names
            .iter()
            .map(|name| forms.symbols(&name.stable()).iter().copied()),
    )
}

/// Symbols by stable form.
struct Forms<'a>(HashMap<Cow<'a, str>, Vec<SymbolId>, RandomState>);

impl<'a> Forms<'a> {
    fn of(symbols: &[&'a KernelName]) -> Self {
        let mut forms: HashMap<Cow<'a, str>, Vec<SymbolId>, RandomState> = HashMap::default();
        for (id, symbol) in (0_u32..).zip(symbols) {
            forms.entry(symbol.stable()).or_default().push(SymbolId(id));
        }
        Self(forms)
    }

    fn symbols(&self, form: &str) -> &[SymbolId] {
        self.0.get(form).map_or(&[], Vec::as_slice)
    }
}

/// By symbol, the rows that launched it, ascending and each once; and the symbols launched under a loose name, one
/// that the maps do not have as it is.
fn joined<'r>(
    symbols: usize,
    of_names: &Lists<SymbolId>,
    rows: impl Iterator<Item = &'r [u32]>,
    is_loose: impl Fn(u32) -> bool,
) -> (Lists<u32>, HashSet<SymbolId, RandomState>) {
    let mut pairs = Vec::new();
    let mut loose = HashSet::default();
    // The row of each symbol's last pair: several names of one row may mean the same symbol.
    let mut last = vec![None; symbols];
    for (row, kernels) in (0_u32..).zip(rows) {
        for &kernel in kernels {
            let meant = of_names.list(kernel);
            if !meant.is_empty() && is_loose(kernel) {
                loose.extend(meant);
            }
            for symbol in meant {
                let last = &mut last[symbol.0 as usize];
                if *last != Some(row) {
                    *last = Some(row);
                    pairs.push((symbol.0, row));
                }
            }
        }
    }
    (Lists::of_pairs(symbols, &pairs), loose)
}
