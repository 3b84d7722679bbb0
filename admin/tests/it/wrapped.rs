//! A store in which something happens just before a chosen operation.

use kernrec_schemas::Timestamp;
use kernrec_store::{
    Key, Listed, PointerRead, PutNew, Removal, Stat, Store, StoreError, Swap, Version,
};
use std::io::Read;

/// What happens before an operation, by its name and key.
type Before<'a> = dyn Fn(&str, &Key) + Send + Sync + 'a;

pub(crate) struct Wrapped<'a> {
    inner: &'a dyn Store,
    before: Box<Before<'a>>,
}

impl<'a> Wrapped<'a> {
    pub(crate) fn new(
        inner: &'a dyn Store,
        before: impl Fn(&str, &Key) + Send + Sync + 'a,
    ) -> Self {
        Self {
            inner,
            before: Box::new(before),
        }
    }
}

impl kernrec_store::conformance::Delegate for Wrapped<'_> {
    fn inner(&self) -> &dyn Store {
        self.inner
    }
    fn put_new(&self, key: &Key, bytes: &[u8]) -> Result<PutNew, StoreError> {
        (self.before)("put_new", key);
        self.inner.put_new(key, bytes)
    }
    fn put(&self, key: &Key, bytes: &[u8]) -> Result<(), StoreError> {
        (self.before)("put", key);
        self.inner.put(key, bytes)
    }
    fn read(&self, key: &Key) -> Result<Box<dyn Read + Send>, StoreError> {
        (self.before)("read", key);
        self.inner.read(key)
    }
    fn read_from(&self, key: &Key, offset: u64) -> Result<Box<dyn Read + Send>, StoreError> {
        (self.before)("read_from", key);
        self.inner.read_from(key, offset)
    }
    fn stat(&self, key: &Key) -> Result<Option<Stat>, StoreError> {
        (self.before)("stat", key);
        self.inner.stat(key)
    }
    fn read_pointer(&self, key: &Key, known: Option<&Version>) -> Result<PointerRead, StoreError> {
        (self.before)("read_pointer", key);
        self.inner.read_pointer(key, known)
    }
    fn swap_pointer(
        &self,
        key: &Key,
        expected: Option<&Version>,
        bytes: &[u8],
    ) -> Result<Swap, StoreError> {
        (self.before)("swap_pointer", key);
        self.inner.swap_pointer(key, expected, bytes)
    }
    fn list(&self, prefix: &Key) -> Result<Vec<Listed>, StoreError> {
        (self.before)("list", prefix);
        self.inner.list(prefix)
    }
    fn delete(&self, key: &Key) -> Result<(), StoreError> {
        (self.before)("delete", key);
        self.inner.delete(key)
    }
    fn delete_old(&self, key: &Key, cutoff: Timestamp) -> Result<Removal, StoreError> {
        (self.before)("delete_old", key);
        self.inner.delete_old(key, cutoff)
    }
    fn discard(&self, scratch: &Key) -> Result<(), StoreError> {
        (self.before)("discard", scratch);
        self.inner.discard(scratch)
    }
}
