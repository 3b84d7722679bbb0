//! A pair made searchable, once: path to objects, object to symbols, symbol to rows.
//!
//! Built in one pass over table and maps; afterwards a changed file costs what it touches, not what the record
//! holds. `paths` finds objects by file (`elsewhere` those under another kind of path), `join` finds rows by symbol,
//! `unreadable` the objects nothing is known of.

mod elsewhere;
mod join;
mod lists;
mod paths;
mod symbols;
mod unreadable;

use crate::change::ChangedPath;
use crate::pair::Pair;
use foldhash::fast::RandomState;
use join::Join;
use kernrec_schemas::table::{Row, RowReason};
use kernrec_schemas::{Backend, KernelName, RowBackend, StepKey, Variant};
use paths::Paths;
use std::collections::{BTreeSet, HashSet};
use unreadable::Unreadable;

pub(crate) use lists::Lists;
pub use symbols::SymbolId;
pub(crate) use symbols::SymbolSet;

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
pub(crate) struct IndexedObject<'i> {
    pub(crate) symbols: &'i [SymbolId],
    pub(crate) unreadable: bool,
    /// Something that it was compiled from changed since.
    pub(crate) moved: bool,
}

/// A searchable pair.
#[derive(Debug)]
pub struct Index<'a> {
    pair: &'a Pair,
    matched: bool,
    unreadable: Unreadable,
    /// The numbers of the objects that something changed of since.
    moved: HashSet<u32, RandomState>,
    paths: Paths<'a>,
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
        let join = Join::build(&pair.maps, &pair.table.names, joined_rows, matched);
        let paths = Paths::build(pair.maps.iter().flat_map(|map| &map.objects));
        let moved = pair
            .lineage
            .moved()
            .map(|moved| paths.users_of_moved(moved));
        Ok(Self {
            pair,
            matched,
            unreadable: Unreadable::of(&pair.maps),
            moved: moved.unwrap_or_default(),
            paths,
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
        self.unreadable.is_incomplete() || self.paths.has_short_deps()
    }

    /// The objects compiled from the file or including it; empty when the maps do not know it.
    pub(crate) fn objects_of(&self, path: &ChangedPath) -> impl Iterator<Item = IndexedObject<'_>> {
        let spelled = path
            .is_exact()
            .then(|| self.paths.objects_of(path.as_str()));
        self.objects(spelled.unwrap_or_default())
    }

    /// Objects that use what may be the same file under a path that starts elsewhere.
    pub(crate) fn objects_elsewhere(
        &self,
        path: &ChangedPath,
    ) -> impl Iterator<Item = IndexedObject<'_>> {
        let spelled = path
            .is_exact()
            .then(|| self.paths.objects_elsewhere(path.as_str()));
        self.objects(spelled.unwrap_or_default())
    }

    fn objects(&self, numbers: Vec<u32>) -> impl Iterator<Item = IndexedObject<'_>> {
        numbers.into_iter().map(|object| IndexedObject {
            symbols: self.join.of_object(object),
            unreadable: self.unreadable.contains(object),
            moved: self.moved.contains(&object),
        })
    }

    /// The symbols of an object, by its number over all maps, as plain numbers.
    pub(crate) fn symbol_numbers(&self, object: u32) -> Vec<u32> {
        let symbols = self.join.of_object(object);
        symbols.iter().map(|symbol| symbol.number()).collect()
    }

    /// The exact names of all symbols, by number.
    pub(crate) fn symbol_names(&self) -> impl Iterator<Item = &'a str> {
        self.join.names().map(KernelName::as_str)
    }

    /// Whether any of the files moved between the record and the base of the change.
    pub(crate) fn has_moved(&self, paths: &[String]) -> bool {
        let Some(moved) = self.pair.lineage.moved() else {
            return false;
        };
        paths.iter().any(|path| moved.contains(path))
    }

    /// How many distinct symbols the maps hold.
    pub(crate) fn symbol_count(&self) -> usize {
        self.join.len()
    }

    /// The rows that launched the kernel, as indexes into [`Index::rows`], ascending. Foreign rows are left out.
    pub(crate) fn rows_of(&self, symbol: SymbolId) -> &[u32] {
        self.join.rows_of(symbol)
    }

    /// Whether table and maps are of one commit, and yet a row launched the kernel under a name with other hashes than
    /// the maps': they are not of one build.
    pub(crate) fn is_of_another_build(&self, symbol: SymbolId) -> bool {
        self.matched && self.join.is_of_another_build(symbol)
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
