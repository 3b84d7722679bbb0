//! Whether the documents of one record belong together and may be used: one rule for whoever publishes a
//! record, fetches it or verifies it.

use crate::function_table::FunctionTable;
use crate::id::{Backend, Commit, StepKey, Variant};
use crate::manifest::{Counts, RecordManifest};
use crate::symbol_map::SymbolMap;
use crate::table::{KernelTable, Row};
use std::collections::HashSet;

/// Why table, symbol maps and manifest are no record.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Disagreement {
    /// A document is of another commit, or names none.
    #[error("the {document} is of commit `{found}`, expected `{expected}`")]
    Commit {
        /// Which document.
        document: &'static str,
        /// The record's commit.
        expected: Commit,
        /// The document's commit; empty when it names none.
        found: String,
    },
    /// A row or a map is of another backend. Rows of unknown backend are carried: they only ever veto.
    #[error("{document} is of backend `{found}`, expected `{expected}`")]
    Backend {
        /// Which document, with the row's step.
        document: String,
        /// The record's backend.
        expected: Backend,
        /// The backend found.
        found: Backend,
    },
    /// A map is filed under another variant than it says.
    #[error("the symbol map of variant `{expected}` says that its variant is `{found}`")]
    Variant {
        /// The variant of its role.
        expected: Variant,
        /// The variant it names.
        found: Variant,
    },
    /// A row counts as usable although a variant its jobs ran in has no map.
    #[error("row `{step}` is usable, but there is no symbol map of its variant `{variant}`")]
    VariantWithoutMap {
        /// The row.
        step: StepKey,
        /// The variant.
        variant: Variant,
    },
    /// No row's silence counts.
    #[error("no row of the table is usable")]
    NoUsableRow,
    /// No usable row launched any symbol of a map.
    #[error("no usable row shares a kernel name with a symbol map")]
    NamesDoNotJoin,
    /// The manifest counts something else.
    #[error("the manifest counts {expected} {what}, the documents hold {found}")]
    Counts {
        /// What is counted.
        what: &'static str,
        /// The manifest's count.
        expected: u64,
        /// The documents' count.
        found: u64,
    },
}

impl Disagreement {
    /// The stable word for machines; the words of the publisher's gates where they say the same.
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::Commit { .. } => "commit-mismatch",
            Self::Backend { .. } => "wrong-backend",
            Self::Variant { .. } => "variant-mismatch",
            Self::VariantWithoutMap { .. } => "variant-without-map",
            Self::NoUsableRow => "no-usable-row",
            Self::NamesDoNotJoin => "names-do-not-join",
            Self::Counts { .. } => "counts-mismatch",
        }
    }
}

/// Checks that a table and its maps are what the manifest says, and usable.
///
/// Rows that the loader set aside do not count against the table: they authorise nothing, the rest stays usable.
pub fn check(
    manifest: &RecordManifest,
    table: &KernelTable,
    maps: &[(Variant, &SymbolMap)],
) -> Result<(), Disagreement> {
    check_commit("table", &manifest.commit, table.source.commit.as_ref())?;
    for (variant, map) in maps {
        if map.variant != *variant {
            return Err(Disagreement::Variant {
                expected: variant.clone(),
                found: map.variant.clone(),
            });
        }
        check_commit("symbol map", &manifest.commit, map.commit.as_ref())?;
        check_backend(|| "a symbol map".to_owned(), manifest.backend, map.backend)?;
    }
    for (step, row) in &table.rows {
        if let Some(found) = row.backend.known() {
            check_backend(|| format!("row `{step}`"), manifest.backend, found)?;
        }
    }
    check_variants(table, maps)?;
    let counts = Counts::of(table, maps.iter().map(|(_, map)| *map));
    if counts.usable_rows == 0 {
        return Err(Disagreement::NoUsableRow);
    }
    if counts.joined == 0 {
        return Err(Disagreement::NamesDoNotJoin);
    }
    check_counts(&manifest.counts, &counts)
}

/// Checks that a function table is what the manifest says, and usable. Rows that the loader set aside do not count
/// against it.
pub fn check_functions(
    manifest: &RecordManifest,
    table: &FunctionTable,
) -> Result<(), Disagreement> {
    let commit = table.source.commit.as_ref();
    check_commit("function table", &manifest.commit, commit)?;
    if manifest.backend.has_kernels() {
        return Err(Disagreement::Backend {
            document: "the function table".to_owned(),
            expected: manifest.backend,
            found: Backend::Python,
        });
    }
    let counts = Counts::of_functions(table);
    if counts.usable_rows == 0 {
        return Err(Disagreement::NoUsableRow);
    }
    check_counts(&manifest.counts, &counts)
}

impl Counts {
    /// Counts what a function table holds.
    pub fn of_functions(table: &FunctionTable) -> Self {
        let mut entered = vec![false; table.functions.len()];
        for &index in table.rows.values().flat_map(|row| &row.functions) {
            if let Some(entered) = entered.get_mut(index as usize) {
                *entered = true;
            }
        }
        Self {
            rows: table.rows.len() as u64,
            usable_rows: table.usable_rows(),
            functions: entered.into_iter().filter(|&entered| entered).count() as u64,
            ..Self::default()
        }
    }

    /// Counts what a table and its maps hold.
    pub fn of<'a>(
        table: &KernelTable,
        maps: impl IntoIterator<Item = &'a SymbolMap, IntoIter: Clone>,
    ) -> Self {
        let maps = maps.into_iter();
        let usable = launched(table, Row::is_usable);
        let objects = maps.clone().flat_map(|map| &map.objects);
        // Most names are in one object each, or in nearly all: the largest is a fair guess at how many there are.
        let most = objects.clone().map(|object| object.symbols.len()).max();
        let hasher = foldhash::fast::RandomState::default();
        let mut symbols: HashSet<&str, _> =
            HashSet::with_capacity_and_hasher(most.unwrap_or(0), hasher);
        for object in objects {
            symbols.extend(object.symbols.iter().map(crate::KernelName::as_str));
        }
        let joined = table
            .names
            .iter()
            .zip(&usable)
            .filter(|(name, launched)| **launched && symbols.contains(name.as_str()))
            .count();
        Self {
            rows: table.rows.len() as u64,
            usable_rows: table.usable_rows(),
            kernels: launched(table, |_| true).into_iter().filter(|&l| l).count() as u64,
            objects: maps.map(|map| map.objects.len() as u64).sum(),
            symbols: symbols.len() as u64,
            joined: joined as u64,
            functions: 0,
        }
    }
}

/// For each name of the table, whether a row that passes the filter launched it.
fn launched(table: &KernelTable, filter: fn(&Row) -> bool) -> Vec<bool> {
    let mut launched = vec![false; table.names.len()];
    for row in table.rows.values().filter(|row| filter(row)) {
        for &index in &row.kernels {
            if let Some(launched) = launched.get_mut(index as usize) {
                *launched = true;
            }
        }
    }
    launched
}

fn check_commit(
    document: &'static str,
    expected: &Commit,
    found: Option<&Commit>,
) -> Result<(), Disagreement> {
    if found == Some(expected) {
        return Ok(());
    }
    Err(Disagreement::Commit {
        document,
        expected: expected.clone(),
        found: found.map_or("", Commit::as_str).to_owned(),
    })
}

/// A row's silence says nothing about a variant whose kernels are in no map. A row that names no variant ran in
/// the default one.
fn check_variants(table: &KernelTable, maps: &[(Variant, &SymbolMap)]) -> Result<(), Disagreement> {
    let unmapped = |variant: &&Variant| !maps.iter().any(|(known, _)| known == *variant);
    let default = Variant::default();
    for (step, row) in table.rows.iter().filter(|(_, row)| row.is_usable()) {
        let ran_in_default = row.variants.is_empty().then_some(&default);
        if let Some(variant) = row.variants.iter().chain(ran_in_default).find(unmapped) {
            return Err(Disagreement::VariantWithoutMap {
                step: step.clone(),
                variant: variant.clone(),
            });
        }
    }
    Ok(())
}

fn check_backend(
    document: impl FnOnce() -> String,
    expected: Backend,
    found: Backend,
) -> Result<(), Disagreement> {
    if found == expected {
        return Ok(());
    }
    Err(Disagreement::Backend {
        document: document(),
        expected,
        found,
    })
}

fn check_counts(expected: &Counts, found: &Counts) -> Result<(), Disagreement> {
    let pairs = [
        ("rows", expected.rows, found.rows),
        ("usable rows", expected.usable_rows, found.usable_rows),
        ("kernels", expected.kernels, found.kernels),
        ("functions", expected.functions, found.functions),
        ("objects", expected.objects, found.objects),
        ("symbols", expected.symbols, found.symbols),
        ("joined names", expected.joined, found.joined),
    ];
    match pairs
        .into_iter()
        .find(|(_, expected, found)| expected != found)
    {
        Some((what, expected, found)) => Err(Disagreement::Counts {
            what,
            expected,
            found,
        }),
        None => Ok(()),
    }
}
