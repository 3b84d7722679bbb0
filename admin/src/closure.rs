//! What records name: manifests, their files, their bundles.

use crate::record::Named;
use kernrec_schemas::json::{MAX_RECORD_BYTES, MAX_SMALL_BYTES};
use kernrec_schemas::manifest::RecordManifest;
use kernrec_schemas::{Digest, DocumentError};
use kernrec_store::bundle::MAX_BUNDLE_BYTES;
use kernrec_store::pointers::VersionedPointer;
use kernrec_store::{Key, Store, StoreError, objects};
use rayon::prelude::*;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Everything that some records name.
#[derive(Debug, Default)]
pub(crate) struct Closure {
    /// Each thing and the records that name it. One key may be named with several sizes, of which at most one
    /// is right.
    pub(crate) needs: BTreeMap<(Key, Option<u64>), Need>,
    /// Records whose manifest says nothing.
    pub(crate) problems: Vec<Problem>,
}

/// One thing that records name.
#[derive(Debug)]
pub(crate) struct Need {
    pub(crate) digest: Digest,
    pub(crate) kind: Kind,
    pub(crate) records: Vec<Named>,
}

/// What a thing is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Manifest,
    File,
    Bundle,
}

impl Kind {
    /// The most bytes that any reader takes, uncompressed.
    pub(crate) const fn limit(self) -> u64 {
        match self {
            Self::Manifest => MAX_SMALL_BYTES,
            Self::File => MAX_RECORD_BYTES,
            Self::Bundle => MAX_BUNDLE_BYTES,
        }
    }
}

/// A record whose manifest could not be used.
#[derive(Debug)]
pub(crate) struct Problem {
    pub(crate) record: Named,
    pub(crate) error: ManifestError,
}

/// Why a manifest could not be used.
#[derive(Debug, Clone, thiserror::Error)]
pub(crate) enum ManifestError {
    /// It could not be read, or is damaged or refused by its loader.
    #[error(transparent)]
    Store(Arc<StoreError>),
    /// It says something else than the pointer that names it.
    #[error("`{key}` in `{url}` is of {field} `{found}`, and its pointer says `{expected}`")]
    Mismatch {
        /// The store.
        url: String,
        /// The manifest's key.
        key: Key,
        /// Which field.
        field: &'static str,
        /// What the pointer says.
        expected: String,
        /// What the manifest says.
        found: String,
    },
}

impl ManifestError {
    /// The stable word for machines.
    pub(crate) fn reason(&self) -> &'static str {
        match self {
            Self::Store(error) => error.reason(),
            Self::Mismatch { .. } => "manifest-mismatch",
        }
    }

    /// Whether the manifest was seen to be wrong, rather than not seen.
    pub(crate) fn is_told(&self) -> bool {
        match self {
            Self::Store(error) => is_told(error),
            Self::Mismatch { .. } => true,
        }
    }
}

/// Whether an error says that something is damaged or missing, rather than that it could not be looked at.
pub(crate) const fn is_told(error: &StoreError) -> bool {
    matches!(
        error,
        StoreError::NotFound { .. } | StoreError::Damaged { .. } | StoreError::Document { .. }
    )
}

/// Manifests that were read before: they never change.
#[derive(Debug, Default)]
pub(crate) struct Manifests(HashMap<Digest, Arc<RecordManifest>>);

impl Manifests {
    /// Everything that these pointers' records name, revoked ones included.
    pub(crate) fn closure(&mut self, store: &dyn Store, pointers: &[VersionedPointer]) -> Closure {
        let records: Vec<Named> = pointers
            .iter()
            .flat_map(|found| Named::all(&found.pointer))
            .collect();
        self.closure_of(store, records)
    }

    /// Everything that these records name.
    pub(crate) fn closure_of(&mut self, store: &dyn Store, records: Vec<Named>) -> Closure {
        let results: Vec<_> = records
            .into_par_iter()
            .map(|record| (self.read(store, &record), record))
            .collect();
        let mut closure = Closure::default();
        for (result, record) in results {
            let digest = record.record.manifest;
            closure.need(Key::object(&digest), None, digest, Kind::Manifest, &record);
            match result {
                Ok(manifest) => {
                    closure.files(&manifest, &record);
                    self.0.insert(digest, manifest);
                }
                Err(error) => closure.problems.push(Problem { record, error }),
            }
        }
        closure
    }

    fn read(
        &self,
        store: &dyn Store,
        record: &Named,
    ) -> Result<Arc<RecordManifest>, ManifestError> {
        let manifest = match self.0.get(&record.record.manifest) {
            Some(known) => Arc::clone(known),
            None => Arc::new(read_manifest(store, &record.record.manifest)?),
        };
        check_place(store, record, &manifest)?;
        Ok(manifest)
    }
}

impl Closure {
    fn files(&mut self, manifest: &RecordManifest, record: &Named) {
        for file in manifest.files.values() {
            let key = Key::object(&file.digest);
            self.need(key, Some(file.size), file.digest, Kind::File, record);
        }
        for bundle in &manifest.bundles {
            let key = Key::bundle(&bundle.digest);
            self.need(key, Some(bundle.size), bundle.digest, Kind::Bundle, record);
        }
    }

    fn need(&mut self, key: Key, size: Option<u64>, digest: Digest, kind: Kind, record: &Named) {
        let need = self.needs.entry((key, size)).or_insert_with(|| Need {
            digest,
            kind,
            records: Vec::new(),
        });
        need.records.push(record.clone());
    }

    /// Whether a record names this key.
    pub(crate) fn names(&self, key: &Key) -> bool {
        let from = (key.clone(), None);
        self.needs
            .range(from..)
            .next()
            .is_some_and(|((first, _), _)| first == key)
    }
}

/// Reads a manifest and holds it against its loader.
pub(crate) fn read_manifest(
    store: &dyn Store,
    digest: &Digest,
) -> Result<RecordManifest, ManifestError> {
    let failed = |error| ManifestError::Store(Arc::new(error));
    let bytes = objects::read_bounded(store, digest, MAX_SMALL_BYTES).map_err(failed)?;
    RecordManifest::parse(&bytes)
        .map_err(|source| failed(document_error(store, Key::object(digest), source)))
}

pub(crate) fn document_error(store: &dyn Store, key: Key, source: DocumentError) -> StoreError {
    StoreError::Document {
        url: store.url().to_owned(),
        key,
        source,
    }
}

/// Whether a manifest is that of the record its pointer names.
fn check_place(
    store: &dyn Store,
    named: &Named,
    manifest: &RecordManifest,
) -> Result<(), ManifestError> {
    let record = &named.record;
    let fields = [
        (
            "pipeline",
            named.pipeline.to_string(),
            manifest.pipeline.to_string(),
        ),
        (
            "backend",
            named.backend.to_string(),
            manifest.backend.to_string(),
        ),
        (
            "commit",
            record.commit.to_string(),
            manifest.commit.to_string(),
        ),
        (
            "build",
            record.build.to_string(),
            manifest.build.to_string(),
        ),
    ];
    let differs = fields
        .into_iter()
        .find(|(_, expected, found)| expected != found);
    match differs {
        None => Ok(()),
        Some((field, expected, found)) => Err(ManifestError::Mismatch {
            url: store.url().to_owned(),
            key: Key::object(&record.manifest),
            field,
            expected,
            found,
        }),
    }
}
