//! Content named by its digest: a zstd frame (content size and checksum on) of the uncompressed bytes.
//!
//! Whoever reads gets verified bytes or an error; the digest is of the uncompressed content, so how it was
//! compressed does not matter.

mod age;
mod frame;
mod output;

pub use age::{REFRESHED_AFTER, SAFE_GRACE};
pub use frame::{FrameError, compress, decode, decode_teed};

use crate::{Key, PutNew, Stat, Store, StoreError};
use kernrec_schemas::{Digest, Timestamp};
use md5::{Digest as _, Md5};
use std::io::{self, Read};

/// What a writer believes of an object's key. Being wrong costs requests, never an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Likely {
    /// Nothing stands there: the object is sent at once.
    New,
    /// It stands there: the store is asked before anything is sent.
    Stored,
}

/// Stores a document as an object and proves that it can be read back; says under which digest.
///
/// An object that stands there damaged is healed.
pub fn put(store: &dyn Store, bytes: &[u8]) -> Result<Digest, StoreError> {
    put_likely(store, bytes, Likely::New)
}

/// As [`put`], by a writer who believes something of the key.
pub fn put_likely(store: &dyn Store, bytes: &[u8], likely: Likely) -> Result<Digest, StoreError> {
    let digest = Digest::of(bytes);
    let key = Key::object(&digest);
    let frame = compress(bytes);
    put_frame(store, &key, &frame, &digest, bytes.len() as u64, likely)?;
    Ok(digest)
}

/// How often a put is tried whose key is neither taken nor free: another writer's was in flight and failed.
const TRIES: u32 = 3;

/// Stores a ready zstd frame under its content's key and proves it is there.
///
/// The proof is the store's own MD5 of what it holds, or else a full read-back.
pub fn put_frame(
    store: &dyn Store,
    key: &Key,
    frame: &[u8],
    digest: &Digest,
    size: u64,
    likely: Likely,
) -> Result<(), StoreError> {
    let mut tries = 0;
    loop {
        tries += 1;
        let (existed, stored) = create(store, key, frame, likely)?;
        // A collection of old objects may be about to remove one that no pointer names yet.
        let old = |stat: &Stat| age::is_old(stat.modified, Timestamp::now());
        let result = if existed && stored.as_ref().is_some_and(old) {
            replace(store, key, frame, digest, size)
        } else {
            prove(store, key, frame, digest, size, stored)
        };
        match result {
            // S3 answers 409 to a create that raced another one; then the key may still be free.
            Err(StoreError::NotFound { .. }) if tries < TRIES => {}
            Err(StoreError::Damaged { .. }) => return replace(store, key, frame, digest, size),
            result => return result,
        }
    }
}

/// Sends the frame unless the key is taken: whether it was, and what stands there now.
fn create(
    store: &dyn Store,
    key: &Key,
    frame: &[u8],
    likely: Likely,
) -> Result<(bool, Option<Stat>), StoreError> {
    if likely == Likely::Stored
        && let Some(stored) = store.stat(key)?
    {
        return Ok((true, Some(stored)));
    }
    let existed = store.put_new(key, frame)? == PutNew::Exists;
    Ok((existed, store.stat(key)?))
}

fn replace(
    store: &dyn Store,
    key: &Key,
    frame: &[u8],
    digest: &Digest,
    size: u64,
) -> Result<(), StoreError> {
    store.put(key, frame)?;
    let stored = store.stat(key)?;
    prove(store, key, frame, digest, size, stored)
}

fn prove(
    store: &dyn Store,
    key: &Key,
    frame: &[u8],
    digest: &Digest,
    size: u64,
    stored: Option<Stat>,
) -> Result<(), StoreError> {
    let same = stored.is_some_and(|stat| {
        stat.size == frame.len() as u64
            && stat
                .md5
                .is_some_and(|md5| md5 == Md5::digest(frame).as_ref())
    });
    if same {
        Ok(())
    } else {
        verify(store, key, digest, size)
    }
}

/// Reads an object whole, verified against digest and size (the manifest's, which bounds decompression).
pub fn read(store: &dyn Store, digest: &Digest, size: u64) -> Result<Vec<u8>, StoreError> {
    read_teed(store, &Key::object(digest), digest, size, &mut io::sink())
}

/// As [`read`], writing the compressed bytes to `raw` as they pass.
///
/// What was written to `raw` must be thrown away when this fails.
pub fn read_teed(
    store: &dyn Store,
    key: &Key,
    digest: &Digest,
    size: u64,
    raw: &mut dyn io::Write,
) -> Result<Vec<u8>, StoreError> {
    let reader = store.read(key)?;
    decode_teed(reader, digest, size, raw).map_err(|error| error.in_store(store, key, digest))
}

/// Reads an object of unknown size, bounded by `limit`: manifests, which a pointer names by digest alone.
pub fn read_bounded(store: &dyn Store, digest: &Digest, limit: u64) -> Result<Vec<u8>, StoreError> {
    let key = Key::object(digest);
    let reader = store.read(&key)?;
    frame::decode_bounded(reader, digest, limit)
        .map_err(|error| error.in_store(store, &key, digest))
}

/// Proves that an object is there and whole, without keeping it.
pub fn verify(store: &dyn Store, key: &Key, digest: &Digest, size: u64) -> Result<(), StoreError> {
    let reader: Box<dyn Read + Send> = store.read(key)?;
    frame::check(reader, digest, size).map_err(|error| error.in_store(store, key, digest))
}

/// The content size that an object's frame declares: the first bytes alone are read, and nothing is proven.
pub fn declared_size(store: &dyn Store, key: &Key, digest: &Digest) -> Result<u64, StoreError> {
    let reader = store.read(key)?;
    frame::declared_size(reader).map_err(|error| error.in_store(store, key, digest))
}
