//! What a record folder holds: its document, and whether its files are still what the document says.

use super::{Layout, RECORD, RecordId};
use crate::installed::InstalledError;
use kernrec_schemas::installed::{InstalledFile, InstalledRecord, Stamp, file_name};
use kernrec_schemas::json::MAX_SMALL_BYTES;
use kernrec_schemas::{Backend, DocumentError};
use kernrec_store::objects;
use std::fs::Metadata;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::SystemTime;

/// A record folder, looked at closely enough to decide what to do with it.
#[derive(Debug)]
pub(crate) enum FolderState {
    /// There is none.
    Missing,
    /// Its files are what its document says. Their stamps are those of now.
    Whole(Box<InstalledRecord>),
    /// It cannot be used as it is.
    Damaged(InstalledError),
}

/// Looks at a record folder: sizes and times first, content where those differ.
pub(crate) fn inspect(layout: &Layout, id: &RecordId, backend: Backend) -> FolderState {
    let folder = layout.folder(id);
    let mut record = match read_record(&folder, id, backend) {
        Ok(record) => record,
        Err(InstalledError::Missing { path, .. }) if path == folder => return FolderState::Missing,
        Err(error) => return FolderState::Damaged(error),
    };
    for (role, file) in &mut record.files {
        match checked(&folder, role, file) {
            Ok(stamp) => file.stored = stamp,
            Err(error) => return FolderState::Damaged(error),
        }
    }
    FolderState::Whole(Box::new(record))
}

/// Reads a record folder's document and checks that it belongs to this folder.
pub(crate) fn read_record(
    folder: &Path,
    id: &RecordId,
    backend: Backend,
) -> Result<InstalledRecord, InstalledError> {
    match fs_err::symlink_metadata(folder) {
        Ok(meta) if meta.is_dir() => {}
        Ok(_) => return Err(InstalledError::damaged(folder, "it is not a folder")),
        Err(e) => return Err(InstalledError::on("look at", folder, e)),
    }
    let path = folder.join(RECORD);
    let mut bytes = Vec::new();
    open_regular(&path)?
        .take(MAX_SMALL_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|e| InstalledError::on("read", &path, e))?;
    let refused = |source: DocumentError| InstalledError::Document {
        path: path.clone(),
        source,
    };
    let record = InstalledRecord::parse(&bytes).map_err(refused)?;
    if RecordId::of(&record.manifest) != *id || record.backend != backend {
        let problem = format!(
            "it is about manifest {} of `{}`, which does not belong here",
            record.manifest, record.backend
        );
        return Err(InstalledError::damaged(&path, problem));
    }
    Ok(record)
}

/// Opens a file that must be a regular one: a fifo would hold the reader, a link could lead anywhere.
fn open_regular(path: &Path) -> Result<fs_err::File, InstalledError> {
    match fs_err::symlink_metadata(path) {
        Ok(meta) if meta.is_file() => {}
        Ok(_) => return Err(InstalledError::damaged(path, "it is not a regular file")),
        Err(e) => return Err(InstalledError::on("look at", path, e)),
    }
    fs_err::File::open(path).map_err(|e| InstalledError::on("open", path, e))
}

/// Reads an installed file whole, verified.
pub(crate) fn read_file(
    folder: &Path,
    role: &str,
    file: &InstalledFile,
) -> Result<Vec<u8>, InstalledError> {
    let path = folder.join(file_name(role).unwrap_or_default());
    let source = open_regular(&path)?;
    objects::decode(source, &file.digest, file.size).map_err(|error| {
        distrust(&path);
        InstalledError::damaged(&path, error.to_string())
    })
}

/// Takes a damaged file's time away: a fetch goes by sizes and times, and must look at the content of this one
/// although both may be as they were. Nothing is lost if that cannot be done here.
fn distrust(path: &Path) {
    let _ = fs_err::File::open(path).and_then(|file| file.set_modified(SystemTime::UNIX_EPOCH));
}

/// The size and time of a regular file, links not followed; `None` when there is none.
fn stamp_at(path: &Path) -> io::Result<Option<Stamp>> {
    match fs_err::symlink_metadata(path) {
        Ok(meta) if meta.is_file() => Ok(Some(stamp(&meta))),
        Ok(_) => Ok(None),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e),
    }
}

/// The size and time of a file.
pub(crate) fn stamp(meta: &Metadata) -> Stamp {
    let seconds = meta.mtime().saturating_mul(1_000_000_000);
    Stamp {
        size: meta.len(),
        modified_ns: seconds.saturating_add(meta.mtime_nsec()),
    }
}

fn checked(folder: &Path, role: &str, file: &InstalledFile) -> Result<Stamp, InstalledError> {
    let path = folder.join(file_name(role).unwrap_or_default());
    let now = stamp_at(&path).map_err(|e| InstalledError::on("look at", &path, e))?;
    match now {
        Some(stamp) if stamp == file.stored => Ok(stamp),
        Some(stamp) => read_file(folder, role, file).map(|_| stamp),
        None => Err(InstalledError::damaged(&path, "it is not there")),
    }
}

/// Whether every file has the size and time its document says: nothing is read.
pub(crate) fn is_untouched(folder: &Path, record: &InstalledRecord) -> bool {
    let file = |(role, file): (&String, &InstalledFile)| {
        file_name(role).is_some_and(|name| is_stamped(&folder.join(name), &file.stored))
    };
    let twin = |(name, stamp): (&String, &Stamp)| is_stamped(&folder.join(name), stamp);
    record.files.iter().all(file) && record.twins.iter().all(twin)
}

/// Whether a regular file stands there with this size and time.
pub(crate) fn is_stamped(path: &Path, stamp: &Stamp) -> bool {
    matches!(stamp_at(path), Ok(Some(now)) if now == *stamp)
}
