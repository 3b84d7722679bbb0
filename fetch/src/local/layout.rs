//! `<out>/<backend>` → `.records/<id>`, the record folders, and the lock.

use crate::error::FetchError;
use kernrec_schemas::{Backend, Digest};
use kernrec_store::fsio::FsError;
use std::ffi::OsStr;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

const RECORDS: &str = ".records";
/// The name of the document in a record folder that says what the folder holds.
pub(crate) const RECORD: &str = "record.json";
/// The file in a record folder that readers lock shared and whoever removes the folder exclusively. It is
/// never rewritten, as every other file may be.
pub(crate) const HOLD: &str = ".hold";

/// The paths below one output folder.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    out: PathBuf,
}

/// A record folder's name: the first 16 hex digits of its manifest's digest.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct RecordId(String);

/// What stands where a link of ours belongs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LinkState {
    /// Nothing.
    Absent,
    /// Our link, to this record.
    Record(RecordId),
    /// Something else, in words.
    Foreign(&'static str),
}

impl Layout {
    pub(crate) fn new(out: &Path) -> Self {
        Self {
            out: out.to_path_buf(),
        }
    }

    pub(crate) fn out(&self) -> &Path {
        &self.out
    }

    pub(crate) fn lock(&self) -> PathBuf {
        self.out.join(".lock")
    }

    pub(crate) fn records(&self) -> PathBuf {
        self.out.join(RECORDS)
    }

    pub(crate) fn expected(&self, backend: Backend) -> PathBuf {
        self.out.join(".expected").join(backend.as_str())
    }

    pub(crate) fn link(&self, backend: Backend) -> PathBuf {
        self.out.join(backend.as_str())
    }

    pub(crate) fn folder(&self, id: &RecordId) -> PathBuf {
        self.records().join(&id.0)
    }

    /// What a link to a record folder says, relative to the output folder.
    pub(crate) fn link_target(id: &RecordId) -> PathBuf {
        Path::new(RECORDS).join(&id.0)
    }

    /// What stands at a backend's link. Following it is left to the caller, who does so once.
    pub(crate) fn link_state(&self, backend: Backend) -> Result<LinkState, FsError> {
        let link = self.link(backend);
        match fs_err::read_link(&link) {
            Ok(target) => Ok(match record_of_target(&target) {
                Some(id) => LinkState::Record(id),
                None => LinkState::Foreign("a link to elsewhere"),
            }),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(LinkState::Absent),
            // Not a link: the error of readlink(2) for everything else that exists.
            Err(e) if e.kind() == io::ErrorKind::InvalidInput => {
                Ok(kind_at(&link)?.map_or(LinkState::Absent, LinkState::Foreign))
            }
            Err(e) => Err(FsError::new("read link", &link, e)),
        }
    }

    /// Refuses to work where something of somebody else stands in the way.
    pub(crate) fn check_ours(&self, backend: Backend) -> Result<(), FetchError> {
        if let LinkState::Foreign(found) = self.link_state(backend)? {
            return Err(FetchError::NotOurs {
                path: self.link(backend),
                found,
                expected: "a link to a record folder",
            });
        }
        check_kind(&self.records(), FOLDER)?;
        check_kind(&self.lock(), FILE)
    }
}

impl RecordId {
    pub(crate) fn of(manifest: &Digest) -> Self {
        let mut hex = manifest.hex();
        hex.truncate(16);
        Self(hex)
    }

    /// Reads a folder's name; `None` for one that is no record's.
    pub(crate) fn from_name(name: &OsStr) -> Option<Self> {
        let name = name.to_str()?;
        let digit = |b| matches!(b, b'0'..=b'9' | b'a'..=b'f');
        (name.len() == 16 && name.bytes().all(digit)).then(|| Self(name.to_owned()))
    }
}

impl fmt::Display for RecordId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// The record a link's target names; `None` when it leads anywhere else.
pub(crate) fn record_of_target(target: &Path) -> Option<RecordId> {
    let mut parts = target.components();
    let (records, name) = (parts.next()?, parts.next()?);
    let ours = records.as_os_str() == RECORDS && parts.next().is_none();
    RecordId::from_name(name.as_os_str()).filter(|_| ours)
}

const FOLDER: &str = "a folder";
const FILE: &str = "a file";

/// What stands at a path, in words, links not followed; `None` for nothing.
fn kind_at(path: &Path) -> Result<Option<&'static str>, FsError> {
    match fs_err::symlink_metadata(path) {
        Ok(meta) if meta.is_dir() => Ok(Some(FOLDER)),
        Ok(meta) if meta.is_file() => Ok(Some(FILE)),
        Ok(meta) if meta.is_symlink() => Ok(Some("a link")),
        Ok(_) => Ok(Some("a special file")),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(FsError::new("look at", path, e)),
    }
}

fn check_kind(path: &Path, expected: &'static str) -> Result<(), FetchError> {
    match kind_at(path)? {
        Some(found) if found != expected => Err(FetchError::NotOurs {
            path: path.to_path_buf(),
            found,
            expected,
        }),
        Some(_) | None => Ok(()),
    }
}
