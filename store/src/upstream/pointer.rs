//! `latest[.rocm].json`: reading what any collector wrote, and moving it as the native pointer moves.

use super::Place;
use crate::settle::{Mark, settle};
use crate::store::{PointerRead, Store, Swap, Version};
use crate::{Key, StoreError};
use kernrec_schemas::pointer::UpstreamPointer;
use kernrec_schemas::{Backend, DocumentError, Pipeline};

const DOCUMENT: &str = "upstream pointer";

/// A pointer and the version it was read at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionedUpstream {
    /// The document.
    pub pointer: UpstreamPointer,
    /// The store's mark of this version.
    pub version: Version,
}

/// What [`read_pointer`] found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Seen {
    /// Nothing was ever published here.
    Absent,
    /// Still the version that is known.
    Unchanged,
    /// Another version.
    Found(Box<VersionedUpstream>),
}

/// Reads a pointer unless it is still at the version that is known. One that names another pipeline or backend is
/// refused.
pub fn read_pointer(
    store: &dyn Store,
    place: &Place,
    pipeline: &Pipeline,
    backend: Backend,
    known: Option<&Version>,
) -> Result<Seen, StoreError> {
    let key = key(store, place, backend)?;
    let (bytes, version) = match store.read_pointer(&key, known)? {
        PointerRead::Absent => return Ok(Seen::Absent),
        PointerRead::Unchanged => return Ok(Seen::Unchanged),
        PointerRead::Found { bytes, version } => (bytes, version),
    };
    let pointer = UpstreamPointer::parse(&bytes)
        .and_then(|pointer| check(&pointer, pipeline, backend).map(|()| pointer))
        .map_err(|source| StoreError::Document {
            url: store.url().to_owned(),
            key,
            source,
        })?;
    Ok(Seen::Found(Box::new(VersionedUpstream {
        pointer,
        version,
    })))
}

/// Moves a pointer that is still at `expected`, and settles a lost answer.
///
/// `next` has a nonce and a generation. For the ends see [`crate::pointers::swap`].
pub fn swap_pointer(
    store: &dyn Store,
    place: &Place,
    pipeline: &Pipeline,
    backend: Backend,
    expected: Option<&Version>,
    next: &UpstreamPointer,
) -> Result<Swap, StoreError> {
    let key = key(store, place, backend)?;
    let swapped = store.swap_pointer(&key, expected, &next.to_bytes());
    settle(swapped, expected, &mark(next), || {
        Ok(match read_pointer(store, place, pipeline, backend, None)? {
            Seen::Found(found) => Some((mark(&found.pointer), found.version)),
            Seen::Absent | Seen::Unchanged => None,
        })
    })
}

fn mark(pointer: &UpstreamPointer) -> Mark {
    Mark {
        nonce: pointer.nonce.clone(),
        generation: pointer.generation,
    }
}

fn key(store: &dyn Store, place: &Place, backend: Backend) -> Result<Key, StoreError> {
    place
        .pointer(backend)
        .map_err(|error| StoreError::Unavailable {
            url: store.url().to_owned(),
            key: super::pointer_name(backend),
            action: "read",
            source: Box::new(error),
        })
}

fn check(
    pointer: &UpstreamPointer,
    pipeline: &Pipeline,
    backend: Backend,
) -> Result<(), DocumentError> {
    let problem = |place: &str, expected: String, found: String| DocumentError::Rule {
        document: DOCUMENT,
        place: place.to_owned(),
        problem: format!("expected `{expected}`, found `{found}`"),
    };
    if let Some(found) = pointer.backend.filter(|found| *found != backend) {
        return Err(problem("backend", backend.to_string(), found.to_string()));
    }
    match &pointer.pipeline {
        Some(found) if found != pipeline => {
            Err(problem("pipeline", pipeline.to_string(), found.to_string()))
        }
        _ => Ok(()),
    }
}
