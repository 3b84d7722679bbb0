//! Folding a published record again.

use super::{RowDifference, differences, function_differences};
use crate::collect::{self, Collected, Interners, ParsedJob};
use crate::fold::{FoldOptions, fold, fold_functions};
use crate::publishing::read_jobs;
use kernrec_schemas::function_table::FunctionTable;
use kernrec_schemas::manifest::{
    BundleRef, Counts, FileRef, ROLE_FUNCTION_TABLE, ROLE_JOBS, ROLE_TABLE, RecordManifest,
};
use kernrec_schemas::symbol_map::SymbolMap;
use kernrec_schemas::table::{KernelTable, TableSource};
use kernrec_schemas::{Digest, DocumentError, Variant};
use kernrec_store::bundle::BundleError;
use kernrec_store::{Key, Store, StoreError, objects};
use rayon::prelude::*;
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::Path;

/// What folding a record again gave.
#[derive(Debug, Clone, Serialize)]
pub struct Refold {
    /// Whether the table came out the same, byte for byte, and the manifest's counts are the record's.
    pub same: bool,
    /// Bundles folded.
    pub bundles: u64,
    /// The digest of the published table.
    pub published: Digest,
    /// The digest of the table folded again.
    pub refolded: Digest,
    /// The rows that differ: `first` is the published table.
    pub rows: Vec<RowDifference>,
    /// True when something outside the rows differs, such as the table's source.
    pub other_fields: bool,
    /// The counts of manifest and record, when they differ.
    pub counts: Option<CountsDifference>,
}

/// Counts that a manifest states and its record does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct CountsDifference {
    /// What the manifest states.
    pub published: Counts,
    /// What the record holds.
    pub refolded: Counts,
}

/// Why a record could not be folded again.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RefoldError {
    /// The record names no bundles: it was published with `--bundles none` or from a ready-made table.
    #[error("the record names no bundles to fold again")]
    NoBundles,
    /// The store failed, or something in it is damaged or gone.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A stored bundle cannot be read.
    #[error(transparent)]
    Bundle(#[from] BundleError),
    /// A stored bundle is another one than the manifest names.
    #[error(
        "the bundle `{key}` is {found} of {size} bytes, the manifest names {expected} of {expected_size}"
    )]
    OtherBundle {
        /// Where it stands.
        key: Key,
        /// The digest the manifest names.
        expected: Digest,
        /// The size the manifest names, in bytes.
        expected_size: u64,
        /// What its content has.
        found: Digest,
        /// Its size in bytes.
        size: u64,
    },
    /// A document of the record is not accepted.
    #[error(transparent)]
    Document(#[from] DocumentError),
    /// The manifest lacks a document.
    #[error("the record has no {role}")]
    NoFile {
        /// The role.
        role: &'static str,
    },
    /// The table does not say what it was folded with.
    #[error("the table's {field} is not usable for another fold")]
    Source {
        /// The field.
        field: &'static str,
    },
}

impl RefoldError {
    /// The stable word.
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::NoBundles => "no-bundles",
            Self::Store(source) => source.reason(),
            Self::Bundle(source) => source.reason(),
            Self::OtherBundle { .. } => "digest-mismatch",
            Self::Document(source) => source.reason(),
            Self::NoFile { .. } => "no-such-file",
            Self::Source { .. } => "table-source",
        }
    }
}

/// Folds a published record again from its own bundles and compares.
pub fn refold(store: &dyn Store, manifest: &RecordManifest) -> Result<Refold, RefoldError> {
    if manifest.bundles.is_empty() {
        return Err(RefoldError::NoBundles);
    }
    if manifest.backend.has_kernels() {
        refold_kernels(store, manifest)
    } else {
        refold_functions(store, manifest)
    }
}

fn refold_kernels(store: &dyn Store, manifest: &RecordManifest) -> Result<Refold, RefoldError> {
    let file = manifest
        .table()
        .ok_or(RefoldError::NoFile { role: ROLE_TABLE })?;
    let published = read(store, file)?;
    let published_table = KernelTable::parse(&published)?;
    let maps = maps(store, manifest)?;
    let variants = maps.iter().map(|(variant, _)| variant.clone()).collect();
    let options = options(store, manifest, &published_table.source, Some(variants))?;
    let table = fold(&bundles(store, &manifest.bundles)?, &options);
    let again = Again {
        published,
        refolded: table.to_canonical(),
        counts: Counts::of(&table, maps.iter().map(|(_, map)| map)),
        rows: differences(&published_table, &table),
    };
    Ok(again.compared(manifest, file))
}

fn refold_functions(store: &dyn Store, manifest: &RecordManifest) -> Result<Refold, RefoldError> {
    let role = ROLE_FUNCTION_TABLE;
    let file = (manifest.function_table()).ok_or(RefoldError::NoFile { role })?;
    let published = read(store, file)?;
    let published_table = FunctionTable::parse(&published)?;
    let options = options(store, manifest, &published_table.source, None)?;
    let table = fold_functions(&bundles(store, &manifest.bundles)?, &options);
    let again = Again {
        published,
        refolded: table.to_canonical(),
        counts: Counts::of_functions(&table),
        rows: function_differences(&published_table, &table),
    };
    Ok(again.compared(manifest, file))
}

/// A published table and what its bundles give now.
struct Again {
    published: Vec<u8>,
    refolded: Vec<u8>,
    counts: Counts,
    rows: Vec<RowDifference>,
}

impl Again {
    fn compared(self, manifest: &RecordManifest, file: &FileRef) -> Refold {
        let same_bytes = self.published == self.refolded;
        Refold {
            same: same_bytes && self.counts == manifest.counts,
            bundles: manifest.bundles.len() as u64,
            published: file.digest,
            refolded: Digest::of(&self.refolded),
            other_fields: !same_bytes && self.rows.is_empty(),
            rows: self.rows,
            counts: (self.counts != manifest.counts).then_some(CountsDifference {
                published: manifest.counts,
                refolded: self.counts,
            }),
        }
    }
}

/// The options the record was folded with: all of them stand in the manifest and the table.
fn options(
    store: &dyn Store,
    manifest: &RecordManifest,
    source: &TableSource,
    map_variants: Option<BTreeSet<Variant>>,
) -> Result<FoldOptions, RefoldError> {
    if source.pipeline != manifest.pipeline.as_str() {
        return Err(RefoldError::Source { field: "pipeline" });
    }
    let jobs = match manifest.files.get(ROLE_JOBS) {
        Some(file) => Some(read_jobs(&read(store, file)?)?),
        None => None,
    };
    Ok(FoldOptions {
        backend: manifest.backend,
        commit: manifest.commit.clone(),
        build: manifest.build,
        org: source.org.clone(),
        pipeline: manifest.pipeline.clone(),
        recorded_at: manifest.recorded_at,
        jobs,
        map_variants,
    })
}

fn maps(
    store: &dyn Store,
    manifest: &RecordManifest,
) -> Result<Vec<(Variant, SymbolMap)>, RefoldError> {
    manifest
        .symbol_maps()
        .map(|(variant, file)| Ok((variant, SymbolMap::load(&read(store, file)?)?)))
        .collect()
}

fn bundles(store: &dyn Store, refs: &[BundleRef]) -> Result<Collected, RefoldError> {
    let interners = Interners::default();
    let parsed: Result<Vec<ParsedJob>, RefoldError> = refs
        .par_iter()
        .map(|bundle| {
            let key = Key::bundle(&bundle.digest);
            let reader = store.read(&key)?;
            let parsed = collect::read_bundle(Path::new(key.as_str()), reader, &interners)?;
            match parsed.bundle() {
                Some((found, size)) if (found, size) != (bundle.digest, bundle.size) => {
                    Err(RefoldError::OtherBundle {
                        key,
                        expected: bundle.digest,
                        expected_size: bundle.size,
                        found,
                        size,
                    })
                }
                _ => Ok(parsed),
            }
        })
        .collect();
    Ok(Collected::of(parsed?, interners))
}

fn read(store: &dyn Store, file: &FileRef) -> Result<Vec<u8>, RefoldError> {
    Ok(objects::read(store, &file.digest, file.size)?)
}
