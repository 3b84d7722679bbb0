//! The record that stands in the store now.

use super::{PublishRequest, upstream};
use kernrec_schemas::installed::StoreLayout;
use kernrec_schemas::json::MAX_SMALL_BYTES;
use kernrec_schemas::manifest::{Counts, RecordManifest};
use kernrec_schemas::{Backend, Digest, Pipeline};
use kernrec_store::pointers::{self, VersionedPointer};
use kernrec_store::{Store, StoreError, objects};

/// The pointer with what the gates need of the records it names.
pub(super) struct Current {
    pub(super) versioned: VersionedPointer,
    /// What the current record holds; `None` when its manifest is lost.
    pub(super) counts: Option<Counts>,
    /// What the newest good record holds whose manifest can be read: normally the current one.
    pub(super) baseline: Option<Counts>,
}

/// Reads the pointer and the manifests behind it; `None` when nothing was ever published.
///
/// A lost or damaged manifest is no record that could be protected, and must not keep a good one out: the
/// comparison falls back to the newest record that is whole. A store that does not answer is an error.
pub(super) fn read(
    store: &dyn Store,
    request: &PublishRequest<'_>,
) -> Result<Option<Current>, StoreError> {
    let (pipeline, backend) = (&request.pipeline, request.backend);
    match request.layout {
        StoreLayout::Upstream => upstream::read_current(store, pipeline, backend),
        _ => read_native(store, pipeline, backend),
    }
}

fn read_native(
    store: &dyn Store,
    pipeline: &Pipeline,
    backend: Backend,
) -> Result<Option<Current>, StoreError> {
    let Some(versioned) = pointers::read(store, pipeline, backend)? else {
        return Ok(None);
    };
    let counts = counts(store, &versioned.pointer.current.manifest)?;
    let mut baseline = counts;
    for record in versioned.pointer.good_records() {
        if baseline.is_some() {
            break;
        }
        baseline = self::counts(store, &record.manifest)?;
    }
    Ok(Some(Current {
        versioned,
        counts,
        baseline,
    }))
}

fn counts(store: &dyn Store, manifest: &Digest) -> Result<Option<Counts>, StoreError> {
    let bytes = match objects::read_bounded(store, manifest, MAX_SMALL_BYTES) {
        Ok(bytes) => bytes,
        Err(StoreError::NotFound { .. } | StoreError::Damaged { .. }) => return Ok(None),
        Err(error) => return Err(error),
    };
    Ok(RecordManifest::parse(&bytes)
        .ok()
        .map(|manifest| manifest.counts))
}
