//! The existing system's layout: what stands there now, the pair of a commit, and the pointer.

use super::current::Current;
use super::record::Record;
use super::{PublishError, PublishRequest};
use crate::gates::Refusal;
use kernrec_schemas::pointer::{Pointer, RecordRef, UpstreamPointer};
use kernrec_schemas::{Backend, BuildNumber, Digest, Generation, Pipeline, Timestamp};
use kernrec_store::pointers::{self, VersionedPointer};
use kernrec_store::upstream::{
    Place, PutPair, Seen, file_name, put_pair, read_pair, read_pointer, remove_pair, swap_pointer,
    taken,
};
use kernrec_store::{Store, StoreError, Swap, Version};
use std::collections::BTreeMap;

/// Reads the pointer and the pair behind it, and tells them as a native pointer would.
///
/// A pair that is lost, damaged or of no loader's liking is no record that could be protected, and must not keep a
/// good one out. A store that does not answer is an error.
pub(super) fn read_current(
    store: &dyn Store,
    pipeline: &Pipeline,
    backend: Backend,
) -> Result<Option<Current>, StoreError> {
    let place = Place::of_pipeline(pipeline.clone());
    let Seen::Found(found) = read_pointer(store, &place, pipeline, backend, None)? else {
        return Ok(None);
    };
    let pointer = found.pointer;
    let digests = &pointer.digests;
    let pair = read_pair(store, &place, pipeline, backend, &pointer.commit, digests);
    let manifest = match pair {
        Ok(pair) => Some(pair.manifest),
        Err(
            StoreError::NotFound { .. } | StoreError::Damaged { .. } | StoreError::Document { .. },
        ) => None,
        Err(error) => return Err(error),
    };
    let counts = manifest.as_ref().map(|manifest| manifest.counts);
    let build = manifest.as_ref().map(|manifest| manifest.build);
    let record = RecordRef {
        // The digest of nothing is no record's.
        manifest: Digest::of(&manifest.map_or(Vec::new(), |manifest| manifest.to_canonical())),
        commit: pointer.commit,
        build: pointer.build.or(build).unwrap_or(BuildNumber(0)),
        published_at: pointer.published_at.unwrap_or(Timestamp::UNIX_EPOCH),
    };
    let nonce = match pointer.nonce {
        Some(nonce) => nonce,
        None => pointers::fresh_nonce()?,
    };
    let mut told = Pointer::first(pipeline.clone(), backend, record, nonce);
    // A collector without generations took the place over, and fetchers may have seen any of ours before. The seconds
    // since 1970 are more than anybody ever counted.
    let seconds = u64::try_from(Timestamp::now().unix()).unwrap_or(0);
    told.generation = pointer.generation.unwrap_or(Generation(seconds));
    Ok(Some(Current {
        versioned: VersionedPointer {
            pointer: told,
            version: found.version,
            seal: found.seal,
        },
        counts,
        baseline: counts,
    }))
}

/// Stores the pair, unless this is a dry run; what refuses it, when something does.
pub(super) fn upload(
    store: &dyn Store,
    request: &PublishRequest<'_>,
    record: &Record,
    current: Option<&Current>,
) -> Result<Option<Refusal>, PublishError> {
    let place = Place::of_pipeline(request.pipeline.clone());
    let halves = record
        .halves()
        .map(|(half, bytes)| (half, bytes.as_slice()));
    let (backend, commit) = (request.backend, &request.commit);
    let put = || -> Result<_, StoreError> {
        Ok(match put_pair(store, &place, backend, commit, halves)? {
            PutPair::Stored => None,
            PutPair::Taken(key) => Some(key),
        })
    };
    let is_named = current.is_some_and(|now| now.versioned.pointer.current.commit == *commit);
    let replaces = request.replace_unnamed && !is_named;
    let taken = if request.dry_run {
        taken(store, &place, backend, commit, halves)?.filter(|_| !replaces)
    } else {
        let taken = put()?;
        if taken.is_some() && replaces {
            remove_pair(store, &place, backend, commit)?;
            put()?
        } else {
            taken
        }
    };
    let key = taken.map(|key| key.to_string());
    Ok(key.map(|key| Refusal::CommitAlreadyPublished { key }))
}

/// When the current record was published, as far as its pointer says.
pub(super) fn published_at(current: &Current) -> Option<Timestamp> {
    let published_at = current.versioned.pointer.current.published_at;
    (published_at != Timestamp::UNIX_EPOCH).then_some(published_at)
}

/// The pointer that names the pair, signed if this publisher signs.
pub(super) fn next_pointer(
    request: &PublishRequest<'_>,
    record: &Record,
    generation: Generation,
    published_at: Option<Timestamp>,
) -> Result<UpstreamPointer, PublishError> {
    let digests: BTreeMap<String, Digest> = record
        .halves()
        .into_iter()
        .map(|(half, bytes)| (file_name(half, request.backend), Digest::of(bytes)))
        .collect();
    let mut next = UpstreamPointer {
        backend: Some(request.backend),
        commit: request.commit.clone(),
        build: Some(request.build),
        pipeline: Some(request.pipeline.clone()),
        published_at,
        files: digests.keys().cloned().collect(),
        generation: Some(generation),
        nonce: Some(pointers::fresh_nonce()?),
        digests,
        signature: None,
    };
    request.signing.sign(&mut next);
    Ok(next)
}

/// Moves the pointer that was read at `expected`.
pub(super) fn move_pointer(
    store: &dyn Store,
    request: &PublishRequest<'_>,
    expected: Option<&Version>,
    next: &UpstreamPointer,
) -> Result<Swap, PublishError> {
    let place = Place::of_pipeline(request.pipeline.clone());
    let (pipeline, backend) = (&request.pipeline, request.backend);
    Ok(swap_pointer(
        store, &place, pipeline, backend, expected, next,
    )?)
}
