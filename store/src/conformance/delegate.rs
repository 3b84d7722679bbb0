//! A store that does as another one, but for what a test wants otherwise.

use crate::store::{
    Capabilities, Listed, PointerRead, PutNew, Removal, Stat, Store, Swap, Version,
};
use crate::{Key, StoreError};
use kernrec_schemas::Timestamp;
use std::io::Read;

/// Implements [`Store`] by handing every call to another store. A test's store overrides what it watches, delays,
/// falsifies or refuses, and reaches the real thing through [`Self::inner`].
///
/// Its methods are those of [`Store`]; where both traits are imported, calls are ambiguous.
#[expect(missing_docs, reason = "see the methods of `Store`")]
pub trait Delegate: Send + Sync {
    /// The store that does the work.
    fn inner(&self) -> &dyn Store;

    fn capabilities(&self) -> Capabilities {
        self.inner().capabilities()
    }
    fn put_new(&self, key: &Key, bytes: &[u8]) -> Result<PutNew, StoreError> {
        self.inner().put_new(key, bytes)
    }
    fn put(&self, key: &Key, bytes: &[u8]) -> Result<(), StoreError> {
        self.inner().put(key, bytes)
    }
    fn read(&self, key: &Key) -> Result<Box<dyn Read + Send>, StoreError> {
        self.inner().read(key)
    }
    fn read_from(&self, key: &Key, offset: u64) -> Result<Box<dyn Read + Send>, StoreError> {
        self.inner().read_from(key, offset)
    }
    fn stat(&self, key: &Key) -> Result<Option<Stat>, StoreError> {
        self.inner().stat(key)
    }
    fn read_pointer(&self, key: &Key, known: Option<&Version>) -> Result<PointerRead, StoreError> {
        self.inner().read_pointer(key, known)
    }
    fn swap_pointer(
        &self,
        key: &Key,
        expected: Option<&Version>,
        bytes: &[u8],
    ) -> Result<Swap, StoreError> {
        self.inner().swap_pointer(key, expected, bytes)
    }
    fn list(&self, prefix: &Key) -> Result<Vec<Listed>, StoreError> {
        self.inner().list(prefix)
    }
    fn delete(&self, key: &Key) -> Result<(), StoreError> {
        self.inner().delete(key)
    }
    fn delete_old(&self, key: &Key, cutoff: Timestamp) -> Result<Removal, StoreError> {
        self.inner().delete_old(key, cutoff)
    }
    fn discard(&self, scratch: &Key) -> Result<(), StoreError> {
        self.inner().discard(scratch)
    }
    fn refuses_wrong_checksum(&self, key: &Key) -> Result<Option<bool>, StoreError> {
        self.inner().refuses_wrong_checksum(key)
    }
}

impl<D: Delegate> Store for D {
    fn url(&self) -> &str {
        self.inner().url()
    }
    fn capabilities(&self) -> Capabilities {
        Delegate::capabilities(self)
    }
    fn put_new(&self, key: &Key, bytes: &[u8]) -> Result<PutNew, StoreError> {
        Delegate::put_new(self, key, bytes)
    }
    fn put(&self, key: &Key, bytes: &[u8]) -> Result<(), StoreError> {
        Delegate::put(self, key, bytes)
    }
    fn read(&self, key: &Key) -> Result<Box<dyn Read + Send>, StoreError> {
        Delegate::read(self, key)
    }
    fn read_from(&self, key: &Key, offset: u64) -> Result<Box<dyn Read + Send>, StoreError> {
        Delegate::read_from(self, key, offset)
    }
    fn stat(&self, key: &Key) -> Result<Option<Stat>, StoreError> {
        Delegate::stat(self, key)
    }
    fn read_pointer(&self, key: &Key, known: Option<&Version>) -> Result<PointerRead, StoreError> {
        Delegate::read_pointer(self, key, known)
    }
    fn swap_pointer(
        &self,
        key: &Key,
        expected: Option<&Version>,
        bytes: &[u8],
    ) -> Result<Swap, StoreError> {
        Delegate::swap_pointer(self, key, expected, bytes)
    }
    fn prepare_swap(&self) -> Result<(), StoreError> {
        self.inner().prepare_swap()
    }
    fn list(&self, prefix: &Key) -> Result<Vec<Listed>, StoreError> {
        Delegate::list(self, prefix)
    }
    fn delete(&self, key: &Key) -> Result<(), StoreError> {
        Delegate::delete(self, key)
    }
    fn delete_old(&self, key: &Key, cutoff: Timestamp) -> Result<Removal, StoreError> {
        Delegate::delete_old(self, key, cutoff)
    }
    fn discard(&self, scratch: &Key) -> Result<(), StoreError> {
        Delegate::discard(self, scratch)
    }
    fn refuses_wrong_checksum(&self, key: &Key) -> Result<Option<bool>, StoreError> {
        Delegate::refuses_wrong_checksum(self, key)
    }
}
