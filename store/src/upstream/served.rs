//! A pair in memory, served as the objects of a native record: whoever installs one installs the other.

use super::Pair;
use crate::store::{Capabilities, Listed, PointerRead, PutNew, Stat, Store, Swap, Version};
use crate::{Key, StoreError, objects};
use kernrec_schemas::{Digest, Timestamp};
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::sync::Arc;

/// Manifest, table and symbol map of one pair, by their digests. Nothing can be written to it.
pub struct ServedPair {
    url: String,
    manifest: Digest,
    frames: BTreeMap<Key, Arc<[u8]>>,
}

impl ServedPair {
    /// Serves a pair; `url` is where it came from.
    pub fn new(url: impl Into<String>, pair: &Pair) -> Self {
        let manifest = pair.manifest.to_canonical();
        let documents = [&manifest, &pair.table, &pair.symbol_map];
        let frame = |bytes: &Vec<u8>| {
            let key = Key::object(&Digest::of(bytes));
            (key, Arc::from(objects::compress(bytes)))
        };
        Self {
            url: url.into(),
            manifest: Digest::of(&manifest),
            frames: documents.into_iter().map(frame).collect(),
        }
    }

    /// The digest of the pair's manifest.
    pub const fn manifest(&self) -> Digest {
        self.manifest
    }

    fn unsupported<T>(&self, action: &'static str) -> Result<T, StoreError> {
        Err(StoreError::Unsupported {
            url: self.url.clone(),
            action,
        })
    }
}

impl Store for ServedPair {
    fn url(&self) -> &str {
        &self.url
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            conditional_writes: false,
        }
    }

    fn put_new(&self, _: &Key, _: &[u8]) -> Result<PutNew, StoreError> {
        self.unsupported("be written: it is one record")
    }

    fn put(&self, _: &Key, _: &[u8]) -> Result<(), StoreError> {
        self.unsupported("be written: it is one record")
    }

    fn read(&self, key: &Key) -> Result<Box<dyn Read + Send>, StoreError> {
        match self.frames.get(key) {
            Some(frame) => Ok(Box::new(io::Cursor::new(Arc::clone(frame)))),
            None => Err(StoreError::NotFound {
                url: self.url.clone(),
                key: key.clone(),
            }),
        }
    }

    fn stat(&self, key: &Key) -> Result<Option<Stat>, StoreError> {
        let stat = |frame: &Arc<[u8]>| Stat {
            size: frame.len() as u64,
            modified: Timestamp::now(),
            md5: None,
        };
        Ok(self.frames.get(key).map(stat))
    }

    fn read_pointer(&self, _: &Key, _: Option<&Version>) -> Result<PointerRead, StoreError> {
        Ok(PointerRead::Absent)
    }

    fn swap_pointer(&self, _: &Key, _: Option<&Version>, _: &[u8]) -> Result<Swap, StoreError> {
        self.unsupported("be written: it is one record")
    }

    fn list(&self, _: &Key) -> Result<Vec<Listed>, StoreError> {
        self.unsupported("be listed")
    }

    fn delete(&self, _: &Key) -> Result<(), StoreError> {
        self.unsupported("be written: it is one record")
    }
}
