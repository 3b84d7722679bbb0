//! A store that breaks one promise.

use kernrec_schemas::Timestamp;
use kernrec_store::{
    Key, Listed, LocalStore, PointerRead, PutNew, Removal, Store, StoreError, Swap, Version,
};
use std::collections::HashMap;
use std::io::{Cursor, Read};
use std::sync::Mutex;

/// The promise that is broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lie {
    /// Overwritten content is still served from a cache.
    StaleRead,
    /// What was never written reads as something.
    Ghost,
    /// The condition of a create is looked at, and then forgotten.
    CreateOverwrites,
    /// The creators of a key all win.
    EveryCreatorWins,
    /// The condition of a move is not looked at.
    SwapOverwrites,
    /// A move that is refused was made all the same.
    RefusedSwapMoves,
    /// A move is acknowledged and lost.
    SwapForgets,
    /// A pointer that moved is told to be unchanged.
    UnchangedThoughMoved,
    /// A pointer that did not move is sent again.
    ChangedThoughStill,
    /// A range begins one byte late.
    RangeOff,
    /// A listing is old.
    ListingMisses,
    /// A listing has what was removed.
    ListingKeeps,
    /// What is removed stays.
    DeleteForgets,
    /// What is young is removed as old.
    YoungIsOld,
    /// A wrong checksum is taken.
    AnyChecksum,
}

pub(crate) struct Liar {
    inner: LocalStore,
    lie: Lie,
    first: Mutex<HashMap<Key, Vec<u8>>>,
    removed: Mutex<Vec<Listed>>,
}

impl Liar {
    pub(crate) fn new(inner: LocalStore, lie: Lie) -> Self {
        Self {
            inner,
            lie,
            first: Mutex::default(),
            removed: Mutex::default(),
        }
    }

    fn lies(&self, lie: Lie) -> bool {
        self.lie == lie
    }

    /// What the local store makes of a move from whatever stands there.
    fn overwrite(&self, key: &Key, bytes: &[u8]) -> Result<Swap, StoreError> {
        loop {
            let version = match self.inner.read_pointer(key, None)? {
                PointerRead::Found { version, .. } => Some(version),
                PointerRead::Absent | PointerRead::Unchanged => None,
            };
            if let Swap::Moved(version) = self.inner.swap_pointer(key, version.as_ref(), bytes)? {
                return Ok(Swap::Moved(version));
            }
        }
    }
}

impl kernrec_store::conformance::Delegate for Liar {
    fn inner(&self) -> &dyn Store {
        &self.inner
    }
    fn put_new(&self, key: &Key, bytes: &[u8]) -> Result<PutNew, StoreError> {
        let mut first = self.first.lock().unwrap();
        first.entry(key.clone()).or_insert_with(|| bytes.to_vec());
        drop(first);
        let put = self.inner.put_new(key, bytes)?;
        if put == PutNew::Exists && self.lies(Lie::CreateOverwrites) {
            self.inner.put(key, bytes)?;
        }
        if self.lies(Lie::EveryCreatorWins) {
            return Ok(PutNew::Created);
        }
        Ok(put)
    }
    fn read(&self, key: &Key) -> Result<Box<dyn Read + Send>, StoreError> {
        let first = self.first.lock().unwrap().get(key).cloned();
        match first {
            Some(first) if self.lies(Lie::StaleRead) => Ok(Box::new(Cursor::new(first))),
            None if self.lies(Lie::Ghost) => Ok(Box::new(Cursor::new(b"<html>".to_vec()))),
            _ => self.inner.read(key),
        }
    }
    fn read_from(&self, key: &Key, offset: u64) -> Result<Box<dyn Read + Send>, StoreError> {
        let off = u64::from(self.lies(Lie::RangeOff) && offset > 0);
        self.inner.read_from(key, offset + off)
    }
    fn read_pointer(&self, key: &Key, known: Option<&Version>) -> Result<PointerRead, StoreError> {
        if known.is_some() && self.lies(Lie::UnchangedThoughMoved) {
            return Ok(PointerRead::Unchanged);
        }
        let known = known.filter(|_| !self.lies(Lie::ChangedThoughStill));
        self.inner.read_pointer(key, known)
    }
    fn swap_pointer(
        &self,
        key: &Key,
        expected: Option<&Version>,
        bytes: &[u8],
    ) -> Result<Swap, StoreError> {
        match self.lie {
            Lie::SwapOverwrites => self.overwrite(key, bytes),
            Lie::SwapForgets if expected.is_some() => {
                let digest = kernrec_schemas::Digest::of(bytes).to_string();
                Ok(Swap::Moved(Version::new(digest)))
            }
            Lie::RefusedSwapMoves => {
                let swap = self.inner.swap_pointer(key, expected, bytes)?;
                if matches!(swap, Swap::Conflict) {
                    self.overwrite(key, bytes)?;
                }
                Ok(swap)
            }
            _ => self.inner.swap_pointer(key, expected, bytes),
        }
    }
    fn list(&self, prefix: &Key) -> Result<Vec<Listed>, StoreError> {
        let mut listed = self.inner.list(prefix)?;
        if self.lies(Lie::ListingMisses) {
            listed.pop();
        }
        if self.lies(Lie::ListingKeeps) {
            let below = format!("{prefix}/");
            let removed = self.removed.lock().unwrap();
            let kept = removed
                .iter()
                .filter(|entry| entry.key.as_str().starts_with(&below));
            listed.extend(kept.cloned());
            listed.sort_unstable_by(|a, b| a.key.cmp(&b.key));
        }
        Ok(listed)
    }
    fn delete(&self, key: &Key) -> Result<(), StoreError> {
        if self.lies(Lie::DeleteForgets) {
            return Ok(());
        }
        if let Some(stat) = self.inner.stat(key)? {
            let key = key.clone();
            self.removed.lock().unwrap().push(Listed { key, stat });
        }
        self.inner.delete(key)
    }
    fn delete_old(&self, key: &Key, cutoff: Timestamp) -> Result<Removal, StoreError> {
        if self.lies(Lie::YoungIsOld) {
            self.inner.delete(key)?;
            return Ok(Removal::Removed);
        }
        self.inner.delete_old(key, cutoff)
    }
    fn discard(&self, scratch: &Key) -> Result<(), StoreError> {
        self.removed.lock().unwrap().clear();
        self.inner.discard(scratch)
    }
    fn refuses_wrong_checksum(&self, _: &Key) -> Result<Option<bool>, StoreError> {
        Ok(Some(!self.lies(Lie::AnyChecksum)))
    }
}
