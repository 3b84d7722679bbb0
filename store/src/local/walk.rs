//! Listing a folder as a store.

use crate::fsio::FsError;
use crate::store::{Listed, Stat};
use crate::{Key, StoreError};
use kernrec_schemas::Timestamp;
use std::io;
use std::path::Path;
use std::time::UNIX_EPOCH;

/// The folder of all pointers.
const POINTERS: &str = "pointers";

/// Size and age of a regular file; `None` when there is none.
pub(super) fn stat(path: &Path) -> Result<Option<Stat>, StoreError> {
    match fs_err::metadata(path) {
        Ok(meta) if meta.is_file() => Ok(Some(stat_of(&meta))),
        Ok(_) => Ok(None),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(FsError::new("look at", path, e).into()),
    }
}

/// Every file below the prefix whose path is a key. Dot files (locks, temporaries) are no keys.
///
/// A link to a file reads like a file, so it is listed as one. One that leads to a folder or to nothing is an
/// error, and so is a pipe, socket or device among the pointers: whoever must know them all would not see what should
/// stand there. For the same reason a folder in the place of a pointer is listed, and fails whoever reads it.
pub(super) fn list(root: &Path, prefix: &Key) -> Result<Vec<Listed>, StoreError> {
    let mut found = Vec::new();
    let mut folders = vec![prefix.clone()];
    while let Some(folder) = folders.pop() {
        let path = root.join(folder.as_str());
        let entries = match fs_err::read_dir(&path) {
            Ok(entries) => entries,
            Err(e) if e.kind() == io::ErrorKind::NotFound => continue,
            Err(e) => return Err(FsError::new("list", &path, e).into()),
        };
        for entry in entries {
            let entry = entry.map_err(FsError::on("list", &path))?;
            let name = entry.file_name();
            let Ok(key) = Key::new(&format!("{folder}/{}", name.to_string_lossy())) else {
                continue;
            };
            let kind = entry.file_type().map_err(FsError::on("look at", &path))?;
            let linked = kind.is_symlink();
            let strange = |what: &str| {
                let source = io::Error::other(what);
                Err(FsError::new("list", &entry.path(), source).into())
            };
            if linked && !entry.path().is_file() {
                return strange("it is a link, and not one to a file");
            }
            if kind.is_dir() && is_place_of_pointer(&folder, &key) {
                let meta = fs_err::metadata(entry.path());
                let stat = meta.map(|meta| stat_of(&meta));
                let stat = stat.map_err(FsError::on("look at", &path))?;
                found.push(Listed { key, stat });
            } else if kind.is_dir() {
                folders.push(key);
            } else if kind.is_file() || linked {
                // A file may vanish between listing and looking: a concurrent collection removed it.
                if let Some(stat) = stat(&entry.path())? {
                    found.push(Listed { key, stat });
                }
            } else if folder.as_str().starts_with(POINTERS) {
                return strange("it is neither a file nor a folder");
            }
        }
    }
    found.sort_unstable_by(|a, b| a.key.cmp(&b.key));
    Ok(found)
}

/// Below the folder of a pipeline, whose own name may be any, the pointers' names end so.
fn is_place_of_pointer(folder: &Key, key: &Key) -> bool {
    let is_below_pipeline = folder.as_str().starts_with(POINTERS) && folder.as_str() != POINTERS;
    is_below_pipeline && key.as_str().strip_suffix(".json").is_some()
}

fn stat_of(meta: &std::fs::Metadata) -> Stat {
    let seconds = meta
        .modified()
        .ok()
        .and_then(|time| time.duration_since(UNIX_EPOCH).ok())
        .and_then(|since| i64::try_from(since.as_secs()).ok());
    let modified = seconds
        .and_then(Timestamp::from_unix)
        .unwrap_or_else(Timestamp::now);
    Stat {
        size: meta.len(),
        modified,
        md5: None,
    }
}
