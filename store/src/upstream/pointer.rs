//! `latest[.rocm].json`: reading what any collector wrote, and moving it as the native pointer moves.

use super::{Half, Place, file_name};
use crate::settle::{Mark, settle};
use crate::signing::{Seal, SignatureProblem, TrustedKeys};
use crate::store::{PointerRead, Store, Swap, Version};
use crate::{Key, StoreError};
use kernrec_schemas::pointer::UpstreamPointer;
use kernrec_schemas::{Backend, DocumentError, KeyId, Pipeline};

const DOCUMENT: &str = "upstream pointer";

/// A pointer and the version it was read at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionedUpstream {
    /// The document.
    pub pointer: UpstreamPointer,
    /// The store's mark of this version.
    pub version: Version,
    /// Its signature, for who asks for one.
    pub seal: Seal,
}

impl VersionedUpstream {
    /// The key among `trusted` that signed it. The signature has to say whose pointer it is and to cover both files:
    /// other collectors' pointers need not do either.
    pub fn verify(
        &self,
        trusted: &TrustedKeys,
        backend: Backend,
    ) -> Result<KeyId, SignatureProblem> {
        let key = self.seal.verify(trusted)?;
        let pointer = &self.pointer;
        let covers = |half| pointer.digests.contains_key(&file_name(half, backend));
        let problem = if pointer.pipeline.is_none() || pointer.backend.is_none() {
            "the pointer does not say of which pipeline and backend it is"
        } else if !Half::ALL.into_iter().all(covers) {
            "the pointer does not have the digests of both files"
        } else {
            return Ok(key);
        };
        let key = key.to_string();
        Err(SignatureProblem::Invalid { key, problem })
    }
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
        seal: Seal::of(&pointer, &bytes),
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
