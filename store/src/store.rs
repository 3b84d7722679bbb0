//! What a storage backend promises. The promises are written down as tests in [`crate::conformance`]
//! (feature `conformance`), and every backend runs them.

use crate::{Key, StoreError};
use kernrec_schemas::Timestamp;
use std::io::Read;

/// A place for immutable objects and a few pointers.
pub trait Store: Send + Sync {
    /// The store as the user named it, for messages. Holds no secret.
    fn url(&self) -> &str;

    /// What this backend guarantees beyond the trait.
    fn capabilities(&self) -> Capabilities;

    /// Stores bytes under a key that is not taken; a taken key is left as it is.
    ///
    /// What stands under the key is durable when this returns; new bytes are there whole or not at all.
    fn put_new(&self, key: &Key, bytes: &[u8]) -> Result<PutNew, StoreError>;

    /// Stores bytes under a key whatever stands there: only to heal what no reader can use.
    fn put(&self, key: &Key, bytes: &[u8]) -> Result<(), StoreError>;

    /// Opens what stands under a key. [`StoreError::NotFound`] when nothing does.
    fn read(&self, key: &Key) -> Result<Box<dyn Read + Send>, StoreError>;

    /// As [`Self::read`], from this byte of it on, which must be one of its bytes.
    fn read_from(&self, key: &Key, offset: u64) -> Result<Box<dyn Read + Send>, StoreError> {
        let _ = (key, offset);
        Err(StoreError::Unsupported {
            url: self.url().to_owned(),
            action: "be read from the middle of an object",
        })
    }

    /// Size and age of what stands under a key; `None` when nothing does.
    fn stat(&self, key: &Key) -> Result<Option<Stat>, StoreError>;

    /// Reads a pointer, or learns that it is still the version that is known.
    fn read_pointer(&self, key: &Key, known: Option<&Version>) -> Result<PointerRead, StoreError>;

    /// Moves a pointer if it is still at `expected` (`None`: if it does not exist).
    ///
    /// Exactly one of several writers that expect the same version succeeds. An error says nothing about whether
    /// the pointer moved; [`crate::pointers::swap`] finds out.
    fn swap_pointer(
        &self,
        key: &Key,
        expected: Option<&Version>,
        bytes: &[u8],
    ) -> Result<Swap, StoreError>;

    /// Finds out ahead of [`Self::swap_pointer`] what that would have to find out first, in requests of its own. An error
    /// is one that the move would end with.
    fn prepare_swap(&self) -> Result<(), StoreError> {
        Ok(())
    }

    /// Everything below a prefix, sorted by key. Temporary files and locks are not listed.
    fn list(&self, prefix: &Key) -> Result<Vec<Listed>, StoreError>;

    /// Removes what stands under a key; nothing there is no error.
    fn delete(&self, key: &Key) -> Result<(), StoreError>;

    /// Removes what stands under a key if it was stored at `cutoff` or before.
    ///
    /// A [`Self::put`] that ends before this is called keeps its bytes. A backend that can exclude writers
    /// meanwhile keeps those of one that runs at the same time too; this default cannot.
    fn delete_old(&self, key: &Key, cutoff: Timestamp) -> Result<Removal, StoreError> {
        match self.stat(key)? {
            None => Ok(Removal::Gone),
            Some(stat) if stat.modified > cutoff => Ok(Removal::Younger),
            Some(_) => self.delete(key).map(|()| Removal::Removed),
        }
    }

    /// Removes everything below a scratch prefix ([`Key::scratch`]), which has one user.
    fn discard(&self, scratch: &Key) -> Result<(), StoreError> {
        for entry in self.list(scratch)? {
            self.delete(&entry.key)?;
        }
        Ok(())
    }

    /// Uploads bytes with a checksum that is not theirs, to a scratch key: whether the store refused them.
    /// `None` when uploads of this backend carry no checksum, and are proven by reading back.
    fn refuses_wrong_checksum(&self, key: &Key) -> Result<Option<bool>, StoreError> {
        let _ = key;
        Ok(None)
    }
}

/// The end of [`Store::delete_old`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Removal {
    /// It is removed.
    Removed,
    /// It was stored after the cutoff and stays.
    Younger,
    /// Nothing stood there.
    Gone,
}

/// What a backend guarantees beyond the trait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capabilities {
    /// Pointers can be moved by compare-and-swap.
    pub conditional_writes: bool,
}

/// The end of [`Store::put_new`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PutNew {
    /// The bytes stand there now.
    Created,
    /// Something stood there already and was left alone.
    Exists,
}

/// Size and age.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stat {
    /// Stored size in bytes.
    pub size: u64,
    /// When it was stored.
    pub modified: Timestamp,
    /// The MD5 the store itself computed over the stored bytes, when it tells one. It proves that an upload
    /// arrived whole without reading it back; it is never used to name content.
    pub md5: Option<[u8; 16]>,
}

/// One entry of a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Its key.
    pub key: Key,
    /// Its size and age.
    pub stat: Stat,
}

/// An opaque mark of one version of a pointer: an `ETag`, or the digest of its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version(String);

impl Version {
    /// Takes a backend's mark.
    pub fn new(mark: impl Into<String>) -> Self {
        Self(mark.into())
    }

    /// The mark.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The end of [`Store::read_pointer`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PointerRead {
    /// No such pointer.
    Absent,
    /// Still the version that was known.
    Unchanged,
    /// The bytes and their version.
    Found {
        /// The document.
        bytes: Vec<u8>,
        /// Its version.
        version: Version,
    },
}

/// The end of [`Store::swap_pointer`].
#[derive(Debug)]
pub enum Swap {
    /// The pointer moved.
    Moved(Version),
    /// The pointer is at another version; nothing was changed.
    Conflict,
    /// The answer was lost: it may have moved or not. The caller reads back and compares nonces.
    Unknown(StoreError),
}
