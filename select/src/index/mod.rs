//! A pair made searchable, once: path to objects, object to symbols, symbol to rows.
//!
//! Built in one pass over table and maps; afterwards a changed file costs what it touches, not what the record
//! holds. `paths` finds objects by file, `join` finds rows by symbol.

mod join;
mod paths;

use crate::pair::Pair;
use foldhash::fast::RandomState;
use join::Join;
use kernrec_schemas::symbol_map::{MapError, SymbolMap};
use kernrec_schemas::table::{Row, RowReason};
use kernrec_schemas::{Backend, KernelName, RowBackend, StepKey, Variant};
use paths::Paths;
use std::collections::{BTreeSet, HashSet};

/// A symbol of the pair's maps: an index that means something within one [`Index`] only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SymbolId(u32);

/// A pair whose halves cannot be read together.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnusablePair {
    /// Nothing says where kernels come from.
    #[error("the `{backend}` record has no symbol map")]
    NoMap {
        /// The pair's backend.
        backend: Backend,
    },
    /// Backends are never joined, even with equal names and commits.
    #[error("the `{backend}` record has a symbol map of `{found}`")]
    MapOfAnotherBackend {
        /// The pair's backend.
        backend: Backend,
        /// The map's backend.
        found: Backend,
    },
    /// The loaders refuse the map.
    #[error("the symbol map of the `{backend}` record may not be used: {problem}")]
    MapRefused {
        /// The pair's backend.
        backend: Backend,
        /// The loader's words.
        problem: String,
    },
}

impl UnusablePair {
    /// The stable word for machines.
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::NoMap { .. } => "no-symbol-map",
            Self::MapOfAnotherBackend { .. } => "wrong-backend",
            Self::MapRefused { .. } => "map-refused",
        }
    }
}

/// How far a row belongs to the pair it stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Of the pair's backend.
    Own,
    /// Of no known backend: its launches select, its presence vetoes, its silence says nothing.
    Unknown,
    /// Of another backend: never joined with these maps, no veto against other pairs.
    Foreign,
}

/// One step's row.
#[derive(Debug)]
pub(crate) struct IndexedRow<'a> {
    pub(crate) step: &'a StepKey,
    pub(crate) standing: Standing,
    /// Why its silence does not count; empty for a usable row.
    pub(crate) doubts: BTreeSet<RowReason>,
}

impl IndexedRow<'_> {
    /// Whether the row's silence counts in this pair.
    pub(crate) fn is_usable(&self) -> bool {
        self.standing == Standing::Own && self.doubts.is_empty()
    }
}

/// One object file of the united maps.
#[derive(Debug)]
pub(crate) struct IndexedObject {
    pub(crate) symbols: Vec<SymbolId>,
    pub(crate) unreadable: bool,
}

/// A searchable pair.
#[derive(Debug)]
pub struct Index<'a> {
    pair: &'a Pair,
    matched: bool,
    incomplete: bool,
    paths: Paths<'a>,
    objects: Vec<IndexedObject>,
    join: Join<'a>,
    rows: Vec<IndexedRow<'a>>,
}

impl<'a> Index<'a> {
    /// Indexes a pair.
    pub fn build(pair: &'a Pair) -> Result<Self, UnusablePair> {
        check_maps(pair)?;
        let matched = pair.is_matched();
        let rows: Vec<IndexedRow<'a>> = pair
            .table
            .rows
            .iter()
            .map(|(step, row)| indexed_row(pair, step, row))
            .collect();
        let joined_rows = rows
            .iter()
            .zip(pair.table.rows.values())
            .map(|(indexed, row)| {
                if indexed.standing == Standing::Foreign {
                    &[][..]
                } else {
                    row.kernels.as_slice()
                }
            });
        let (join, symbols) = Join::build(&pair.maps, &pair.table.names, joined_rows, matched);
        let mut incomplete = false;
        let mut objects = Vec::with_capacity(symbols.len());
        let mut symbols = symbols.into_iter();
        for map in &pair.maps {
            let unreadable = Unreadable::of(map);
            incomplete |= map.incomplete || unreadable.unplaced;
            objects.extend(
                map.objects
                    .iter()
                    .zip(symbols.by_ref())
                    .map(|(object, symbols)| IndexedObject {
                        symbols,
                        unreadable: object.error.is_some()
                            || unreadable.objects.contains(object.object.as_str())
                            || unreadable.sources.contains(object.source.as_str()),
                    }),
            );
        }
        let paths = Paths::build(pair.maps.iter().flat_map(|map| &map.objects));
        Ok(Self {
            pair,
            matched,
            incomplete,
            paths,
            objects,
            join,
            rows,
        })
    }

    /// The backend.
    pub fn backend(&self) -> Backend {
        self.pair.backend
    }

    /// The pair that was indexed.
    pub fn pair(&self) -> &'a Pair {
        self.pair
    }

    /// Whether table and maps are of one commit; see [`Pair::is_matched`].
    pub fn is_matched(&self) -> bool {
        self.matched
    }

    /// The kernel's exact name, as the map spells it.
    pub fn name(&self, symbol: SymbolId) -> &'a KernelName {
        self.join.name(symbol)
    }

    /// Something is missing from a map, and nothing says which files that concerns.
    pub(crate) fn is_incomplete(&self) -> bool {
        self.incomplete
    }

    /// The objects compiled from the file or including it; empty when the maps do not know it.
    pub(crate) fn objects_of(&self, path: &str) -> impl Iterator<Item = &IndexedObject> {
        self.paths
            .objects_of(path)
            .into_iter()
            .filter_map(|index| self.objects.get(index as usize))
    }

    /// The rows that launched the kernel, as indexes into [`Index::rows`], ascending. Foreign rows are left out.
    pub(crate) fn rows_of(&self, symbol: SymbolId) -> &[u32] {
        self.join.rows_of(symbol)
    }

    /// Every row, by step key.
    pub(crate) fn rows(&self) -> &[IndexedRow<'a>] {
        &self.rows
    }
}

fn check_maps(pair: &Pair) -> Result<(), UnusablePair> {
    let backend = pair.backend;
    if pair.maps.is_empty() {
        return Err(UnusablePair::NoMap { backend });
    }
    for map in &pair.maps {
        if map.backend != backend {
            return Err(UnusablePair::MapOfAnotherBackend {
                backend,
                found: map.backend,
            });
        }
        map.accept().map_err(|error| UnusablePair::MapRefused {
            backend,
            problem: error.to_string(),
        })?;
    }
    Ok(())
}

fn indexed_row<'a>(pair: &Pair, step: &'a StepKey, row: &'a Row) -> IndexedRow<'a> {
    let mut doubts = row.unusable_reasons();
    if !has_maps_of_its_variants(pair, row) {
        doubts.insert(RowReason::VariantWithoutMap);
    }
    if row
        .kernels
        .iter()
        .any(|&kernel| kernel as usize >= pair.table.names.len())
    {
        doubts.insert(RowReason::MalformedRow);
    }
    let standing = match row.backend {
        RowBackend::Known(backend) if backend == pair.backend => Standing::Own,
        RowBackend::Known(_) => Standing::Foreign,
        RowBackend::Unknown => Standing::Unknown,
    };
    IndexedRow {
        step,
        standing,
        doubts,
    }
}

/// A row whose kernels may come from an image without a map cannot be read by its silence.
fn has_maps_of_its_variants(pair: &Pair, row: &Row) -> bool {
    let mapped = |variant: &Variant| pair.maps.iter().any(|map| map.variant == *variant);
    if row.variants.is_empty() {
        return mapped(&Variant::default());
    }
    row.variants.iter().all(mapped)
}

/// What a map's list of errors says about its objects.
#[derive(Default)]
struct Unreadable<'a> {
    objects: HashSet<&'a str, RandomState>,
    sources: HashSet<&'a str, RandomState>,
    /// An error that no listed object answers to: what it read is not known, so every file is in doubt.
    unplaced: bool,
}

impl<'a> Unreadable<'a> {
    fn of(map: &'a SymbolMap) -> Self {
        let mut found = Self::default();
        for error in &map.errors {
            found.add(map, error);
        }
        found
    }

    fn add(&mut self, map: &SymbolMap, error: &'a MapError) {
        let object = error
            .object
            .as_deref()
            .filter(|name| map.objects.iter().any(|object| object.object == *name));
        let source = error
            .source
            .as_deref()
            .filter(|name| map.objects.iter().any(|object| object.source == *name));
        match (object, source, &error.object) {
            (Some(object), _, _) => {
                self.objects.insert(object);
            }
            (None, Some(source), None) => {
                self.sources.insert(source);
            }
            (None, _, _) => self.unplaced = true,
        }
    }
}
