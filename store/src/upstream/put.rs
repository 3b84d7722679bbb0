//! Writing the two files of a commit.

use super::pair::{key, read_file};
use super::{Half, Place};
use crate::store::{PutNew, Store};
use crate::{Key, StoreError, artifact};
use kernrec_schemas::{Backend, Commit};

/// The end of [`put_pair`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PutPair {
    /// Both files stand there with this content, seen after they were written.
    Stored,
    /// This file of the commit stands there with another content: readers could mix the two, so nothing of it was
    /// changed. The other file may have been written; no pointer names it.
    Taken(Key),
}

/// How often a put is tried whose key is neither taken nor free: another writer's was in flight and failed.
const TRIES: u32 = 3;

/// Stores both halves of a commit, and reads them back.
///
/// A file that stands there with the same content is left, whatever its compression. One that nobody can decompress
/// is replaced: no reader has ever used it.
pub fn put_pair(
    store: &dyn Store,
    place: &Place,
    backend: Backend,
    commit: &Commit,
    halves: [(Half, &[u8]); 2],
) -> Result<PutPair, StoreError> {
    // Neither is written while the other's name is taken.
    if let Some(taken) = taken(store, place, backend, commit, halves)? {
        return Ok(PutPair::Taken(taken));
    }
    for (half, bytes) in halves {
        let key = key(store, place, commit, half, backend)?;
        if !put_file(store, &key, bytes)? {
            return Ok(PutPair::Taken(key));
        }
    }
    Ok(PutPair::Stored)
}

/// The first file of the commit that stands there with another content. Writes nothing.
pub fn taken(
    store: &dyn Store,
    place: &Place,
    backend: Backend,
    commit: &Commit,
    halves: [(Half, &[u8]); 2],
) -> Result<Option<Key>, StoreError> {
    for (half, bytes) in halves {
        let key = key(store, place, commit, half, backend)?;
        match read_file(store, &key) {
            Ok((found, _)) if found != bytes => return Ok(Some(key)),
            Ok(_) | Err(StoreError::NotFound { .. } | StoreError::Damaged { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

/// Stores one file and reads it back; false when another content stands there.
fn put_file(store: &dyn Store, key: &Key, bytes: &[u8]) -> Result<bool, StoreError> {
    let file = artifact::gzip(bytes);
    let mut tries = 0;
    loop {
        tries += 1;
        let put = store.put_new(key, &file)?;
        match (read_file(store, key), put) {
            (Ok((found, _)), _) => return Ok(found == bytes),
            // S3 answers 409 to a create that raced another one; then the key may still be free.
            (Err(StoreError::NotFound { .. }), _) if tries < TRIES => {}
            (Err(StoreError::Damaged { .. }), PutNew::Exists) if tries < TRIES => {
                store.put(key, &file)?;
            }
            (Err(error), _) => return Err(error),
        }
    }
}
