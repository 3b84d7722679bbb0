//! Writing the two files of a commit.

use super::pair::{decompress, key, unread};
use super::{Half, Place};
use crate::store::{PointerRead, PutNew, Store};
use crate::{Key, StoreError, artifact};
use kernrec_schemas::{Backend, Commit};
use std::io;

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
/// is replaced, if it is still the one that was seen: no reader has ever used it. One that we refuse for its length or for what follows it is not: others may
/// read it.
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

/// Removes both files of a commit, that which readers open last first. Only for a commit that no pointer names and
/// nobody else publishes: whoever reads it meanwhile by its name finds one file, or none.
pub fn remove_pair(
    store: &dyn Store,
    place: &Place,
    backend: Backend,
    commit: &Commit,
) -> Result<(), StoreError> {
    for half in [Half::SymbolMap, Half::Table] {
        store.delete(&key(store, place, commit, half, backend)?)?;
    }
    Ok(())
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
        if stands(store, &key, bytes)? == Stands::Other {
            return Ok(Some(key));
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
        match (stands(store, key, bytes)?, put) {
            (Stands::Same, _) => return Ok(true),
            (Stands::Other, _) => return Ok(false),
            // S3 answers 409 to a create that raced another one; then the key may still be free.
            (Stands::Nothing, _) if tries < TRIES => {}
            (Stands::Undecodable, PutNew::Exists) if tries < TRIES => {
                replace_undecodable(store, key, bytes, &file)?;
            }
            (Stands::Nothing | Stands::Undecodable, _) => {
                return Err(StoreError::Damaged {
                    url: store.url().to_owned(),
                    key: key.clone(),
                    expected: "the file that was put there".to_owned(),
                    found: "another or none".to_owned(),
                });
            }
        }
    }
}

/// Replaces what no decoder gets through, unless another writer did so first: two that replaced each other's file here
/// could each leave one half, and both believe in both.
fn replace_undecodable(
    store: &dyn Store,
    key: &Key,
    bytes: &[u8],
    file: &[u8],
) -> Result<(), StoreError> {
    let PointerRead::Found { version, .. } = store.read_pointer(key, None)? else {
        return Ok(());
    };
    // Looked at after its version was read: what is replaced is nothing newer than what was seen.
    if stands(store, key, bytes)? == Stands::Undecodable {
        // Moved, lost or unknown: the caller looks at what stands there.
        store.swap_pointer(key, Some(&version), file)?;
    }
    Ok(())
}

/// What stands under a key, against what is to stand there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stands {
    Nothing,
    Same,
    Other,
    /// No decoder gets through it.
    Undecodable,
}

fn stands(store: &dyn Store, key: &Key, bytes: &[u8]) -> Result<Stands, StoreError> {
    let found = match decompress(store, key) {
        Ok(found) => found,
        Err(StoreError::NotFound { .. }) => return Ok(Stands::Nothing),
        Err(error) => return Err(error),
    };
    match found {
        Ok((found, _)) if found == bytes => Ok(Stands::Same),
        Ok(_) => Ok(Stands::Other),
        Err(error) => match error.kind() {
            io::ErrorKind::InvalidInput | io::ErrorKind::UnexpectedEof => Ok(Stands::Undecodable),
            // Whole, and not of the form that we read: several members, or very long.
            io::ErrorKind::InvalidData => Ok(Stands::Other),
            _ => Err(unread(store, key, error)),
        },
    }
}
