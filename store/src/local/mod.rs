//! The backend in a folder: right between processes and after a kill at any instant.
//!
//! Objects are written to a temporary file, synced and renamed; a pointer moves under a lock of its own. A
//! kill can leave temporary files behind; they are never read or listed, and old ones are swept.

mod sweep;
mod walk;

use crate::fsio::{self, AtomicFile, FsError, Lock};
use crate::store::{
    Capabilities, Listed, PointerRead, PutNew, Removal, Stat, Store, Swap, Version,
};
use crate::{Key, StoreError};
use kernrec_schemas::{Digest, Timestamp};
use std::collections::HashSet;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Pointers are a few hundred KiB at most; anything larger is refused by the loader later.
const MAX_POINTER_BYTES: u64 = kernrec_schemas::json::MAX_SMALL_BYTES + 1;
/// How long to wait for another writer of the same pointer; each holds the lock for milliseconds.
const LOCK_WAIT: Duration = Duration::from_mins(1);

/// A store in a local folder.
#[derive(Debug)]
pub struct LocalStore {
    root: PathBuf,
    url: String,
    /// Folders whose entries in those above are known to be durable.
    settled: Mutex<HashSet<PathBuf>>,
}

impl LocalStore {
    /// A store in an existing folder.
    pub fn existing(root: &Path) -> Result<Self, StoreError> {
        let store = Self::at(root);
        if root.is_dir() {
            Ok(store)
        } else {
            Err(StoreError::NoStore { url: store.url })
        }
    }

    /// A store in a folder, created if need be.
    pub fn create(root: &Path) -> Result<Self, StoreError> {
        fsio::create_dir_all(root)?;
        Ok(Self::at(root))
    }

    fn at(root: &Path) -> Self {
        Self {
            root: root.to_path_buf(),
            url: root.display().to_string(),
            settled: Mutex::default(),
        }
    }

    fn path(&self, key: &Key) -> PathBuf {
        self.root.join(key.as_str())
    }

    /// The temporary file for a key, written but not yet in place.
    fn staged(&self, key: &Key, bytes: &[u8]) -> Result<AtomicFile, StoreError> {
        let path = self.path(key);
        if let Some(folder) = path.parent() {
            fsio::create_dir_all(folder)?;
            self.settle(folder)?;
            sweep::old_temporaries(folder);
        }
        let mut file = AtomicFile::create(&path)?;
        file.write_all(bytes)
            .map_err(|source| file.write_error(source))?;
        Ok(file)
    }

    /// Makes a folder's entries in those above durable: another process may have made one of them and not have
    /// come to its sync. A pointer that survives a power cut must not name what stood in a folder that did not.
    fn settle(&self, folder: &Path) -> Result<(), FsError> {
        let settled = || self.settled.lock().unwrap_or_else(PoisonError::into_inner);
        if settled().contains(folder) {
            return Ok(());
        }
        let above = folder.ancestors().skip(1);
        for folder in above.take_while(|folder| folder.starts_with(&self.root)) {
            fsio::sync_dir(folder)?;
        }
        settled().insert(folder.to_path_buf());
        Ok(())
    }

    /// As [`Self::settle`] for the entry of a file that somebody else put in place.
    fn settle_entry(&self, path: &Path) -> Result<(), FsError> {
        let Some(folder) = path.parent() else {
            return Ok(());
        };
        self.settle(folder)?;
        fsio::sync_dir(folder)
    }

    /// What stands under a pointer's key, cut off where no pointer ends, and its version.
    fn pointer_bytes(&self, key: &Key) -> Result<Option<(Vec<u8>, Version)>, StoreError> {
        let path = self.path(key);
        let file = match fsio::open_regular(&path) {
            Ok(file) => file,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(FsError::new("open", &path, e).into()),
        };
        let mut bytes = Vec::new();
        let failed = FsError::on("read", &path);
        let read = (&file).take(MAX_POINTER_BYTES).read_to_end(&mut bytes);
        let length = read.and_then(|_| Ok(file.metadata()?.len()));
        let version = version_of(&bytes, length.map_err(failed)?);
        Ok(Some((bytes, version)))
    }

    fn open(&self, key: &Key) -> Result<fs_err::File, StoreError> {
        let path = self.path(key);
        fsio::open_regular(&path).map_err(|e| {
            if e.kind() == io::ErrorKind::NotFound {
                return StoreError::NotFound {
                    url: self.url.clone(),
                    key: key.clone(),
                };
            }
            FsError::new("open", &path, e).into()
        })
    }

    /// Excludes who replaces a value and who removes an old one from each other.
    fn replacing(&self) -> Result<Lock, StoreError> {
        Ok(Lock::exclusive(
            &self.root.join(".replacing.lock"),
            LOCK_WAIT,
        )?)
    }

    fn lock_path(&self, key: &Key) -> PathBuf {
        let path = self.path(key);
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        path.with_file_name(format!(".{name}.lock"))
    }
}

impl Store for LocalStore {
    fn url(&self) -> &str {
        &self.url
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            conditional_writes: true,
        }
    }

    fn put_new(&self, key: &Key, bytes: &[u8]) -> Result<PutNew, StoreError> {
        // Most publishes share most objects with the one before: look before writing.
        let path = self.path(key);
        if path.exists() || !self.staged(key, bytes)?.commit_new()? {
            self.settle_entry(&path)?;
            return Ok(PutNew::Exists);
        }
        Ok(PutNew::Created)
    }

    fn put(&self, key: &Key, bytes: &[u8]) -> Result<(), StoreError> {
        let staged = self.staged(key, bytes)?;
        let _lock = self.replacing()?;
        Ok(staged.commit()?)
    }

    fn read(&self, key: &Key) -> Result<Box<dyn Read + Send>, StoreError> {
        // Its reader names the key; an error that names the path as well would say everything twice.
        Ok(Box::new(self.open(key)?.into_file()))
    }

    fn read_from(&self, key: &Key, offset: u64) -> Result<Box<dyn Read + Send>, StoreError> {
        let mut file = self.open(key)?;
        file.seek(SeekFrom::Start(offset))
            .map_err(FsError::on("read", &self.path(key)))?;
        Ok(Box::new(file.into_file()))
    }

    fn stat(&self, key: &Key) -> Result<Option<Stat>, StoreError> {
        walk::stat(&self.path(key))
    }

    fn read_pointer(&self, key: &Key, known: Option<&Version>) -> Result<PointerRead, StoreError> {
        let Some((bytes, version)) = self.pointer_bytes(key)? else {
            return Ok(PointerRead::Absent);
        };
        if known == Some(&version) {
            return Ok(PointerRead::Unchanged);
        }
        Ok(PointerRead::Found { bytes, version })
    }

    fn swap_pointer(
        &self,
        key: &Key,
        expected: Option<&Version>,
        bytes: &[u8],
    ) -> Result<Swap, StoreError> {
        let _lock = Lock::exclusive(&self.lock_path(key), LOCK_WAIT)?;
        let current = self.pointer_bytes(key)?.map(|(_, version)| version);
        if current.as_ref() != expected {
            return Ok(Swap::Conflict);
        }
        self.staged(key, bytes)?.commit()?;
        let most = usize::try_from(MAX_POINTER_BYTES).unwrap_or(usize::MAX);
        let read = &bytes[..bytes.len().min(most)];
        Ok(Swap::Moved(version_of(read, bytes.len() as u64)))
    }

    fn list(&self, prefix: &Key) -> Result<Vec<Listed>, StoreError> {
        walk::list(&self.root, prefix)
    }

    fn delete(&self, key: &Key) -> Result<(), StoreError> {
        let path = self.path(key);
        match fs_err::remove_file(&path) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => {
                Err(FsError::new("remove", &path, e).into())
            }
            _ => Ok(()),
        }
    }

    fn delete_old(&self, key: &Key, cutoff: Timestamp) -> Result<Removal, StoreError> {
        let _lock = self.replacing()?;
        match self.stat(key)? {
            None => Ok(Removal::Gone),
            Some(stat) if stat.modified > cutoff => Ok(Removal::Younger),
            Some(_) => self.delete(key).map(|()| Removal::Removed),
        }
    }

    fn discard(&self, scratch: &Key) -> Result<(), StoreError> {
        if scratch.scratch_prefix().as_ref() != Some(scratch) {
            return Err(StoreError::Unsupported {
                url: self.url.clone(),
                action: "have anything but a scratch prefix discarded",
            });
        }
        // The whole folder: with it go the lock files, which no listing shows.
        let path = self.path(scratch);
        fsio::remove_dir_all(&path)?;
        // The folder of all scratch prefixes, if this was the last one.
        let _ = path.parent().map(fs_err::remove_dir);
        Ok(())
    }
}

/// Two pointer versions are never byte-equal (generation and nonce differ), so the digest of the bytes is a
/// version. What is longer than a pointer is told by its start and its length.
fn version_of(read: &[u8], length: u64) -> Version {
    let digest = Digest::of(read);
    if length == read.len() as u64 {
        Version::new(digest.to_string())
    } else {
        Version::new(format!("{digest} of {length}"))
    }
}
