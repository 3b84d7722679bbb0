//! One job's folder on disk.

use super::file;
use super::limits::{MAX_ENTRIES, MAX_ENTRY_BYTES};
use super::names::{self, SIDECAR};
use super::{BundleError, BundleMeta, OriginLayout, Refusal};
use crate::fsio::FsError;
use kernrec_schemas::id::Hasher;
use kernrec_schemas::json::MAX_SMALL_BYTES;
use kernrec_schemas::recording::is_recording_name;
use kernrec_schemas::sidecar::Sidecar;
use kernrec_schemas::{JobId, StepKey};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// A raw job folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobFolder {
    /// Where it is.
    pub path: PathBuf,
    /// Whose it is.
    pub meta: BundleMeta,
}

impl JobFolder {
    /// Identifies the job of a folder.
    ///
    /// The job is the sidecar's unless that names none or `local`, else the folder's name. The step is the
    /// sidecar's, else in the step/job layout the name of the folder above. A sidecar that cannot be read
    /// names nothing; whoever reads the folder's content meets the reason.
    pub fn open(path: &Path, layout: OriginLayout) -> Self {
        let sidecar = read_sidecar(path).unwrap_or_default();
        Self::with_sidecar(path, layout, sidecar)
    }

    pub(super) fn with_sidecar(path: &Path, layout: OriginLayout, sidecar: Sidecar) -> Self {
        let job_id = sidecar
            .job_id
            .filter(|id| !id.is_local())
            .unwrap_or_else(|| id_of_folder(path));
        let step_key = sidecar.step_key.or_else(|| match layout {
            OriginLayout::InBuild => None,
            OriginLayout::StepJob => step_of_folder(path),
        });
        Self {
            path: path.to_path_buf(),
            meta: BundleMeta {
                job_id,
                step_key,
                layout,
            },
        }
    }

    /// The names of its sidecar and recordings, sorted by their bytes.
    ///
    /// One that is a link, a FIFO or anything else but a regular file is an error, as is a recording whose
    /// name no bundle can hold: leaving either out would lose what a process launched.
    pub fn entries(&self) -> Result<Vec<String>, BundleError> {
        self.entries_and(&[])
    }

    /// Appends the content of one of its [`entries`](Self::entries) to `out`, at most
    /// [`MAX_ENTRY_BYTES`].
    pub fn read(&self, name: &str, out: &mut Vec<u8>) -> Result<(), BundleError> {
        file::read_member(&self.path.join(name), MAX_ENTRY_BYTES, out)
    }

    /// As [`Self::entries`], with further names where they exist.
    pub(super) fn entries_and(&self, more: &[&str]) -> Result<Vec<String>, BundleError> {
        let on_error = |e| FsError::new("list", &self.path, e);
        let mut entries = Vec::new();
        for item in fs_err::read_dir(&self.path).map_err(on_error)? {
            let item = item.map_err(on_error)?;
            let name = item.file_name();
            let wanted = is_job_file(&name) || more.iter().any(|&more| name == *more);
            if !wanted {
                continue;
            }
            let path = item.path();
            let kind = item.file_type().map_err(FsError::on("read", &path))?;
            if let Some(kind) = file::irregular(kind) {
                return Err(file::not_regular(&path, kind));
            }
            match names::check(name.as_bytes()) {
                Ok(name) => entries.push(name.to_owned()),
                Err(refusal) => {
                    let refusal = Box::new(refusal);
                    return Err(BundleError::Unpackable { path, refusal });
                }
            }
            // One less than a bundle may hold, for `bundle.json`.
            if entries.len() as u64 >= MAX_ENTRIES {
                return Err(BundleError::Unpackable {
                    path: self.path.clone(),
                    refusal: Box::new(Refusal::TooManyEntries),
                });
            }
        }
        entries.sort_unstable();
        Ok(entries)
    }
}

/// True for a name that makes a folder a job's: the sidecar or anything like a recording.
pub(super) fn is_job_file(name: &OsStr) -> bool {
    name == SIDECAR || is_recording_name(name.as_bytes())
}

/// The folder's sidecar: `None` when there is none, an empty one when it cannot be read.
pub(super) fn read_sidecar(folder: &Path) -> Option<Sidecar> {
    let mut bytes = Vec::new();
    match file::read_member(&folder.join(SIDECAR), MAX_SMALL_BYTES, &mut bytes) {
        Ok(()) => Some(Sidecar::parse(&bytes).unwrap_or_default()),
        Err(BundleError::Fs(error)) if error.source.kind() == std::io::ErrorKind::NotFound => None,
        Err(_) => Some(Sidecar::default()),
    }
}

fn id_of_folder(path: &Path) -> JobId {
    let name = last_name(path);
    let bytes = name.as_deref().unwrap_or(path).as_os_str().as_bytes();
    std::str::from_utf8(bytes)
        .ok()
        .and_then(|text| JobId::new(text).ok())
        .unwrap_or_else(|| id_of_bytes(bytes))
}

/// An id for a folder name that cannot be one, different for different names.
#[expect(clippy::expect_used, reason = "letters and digits are a valid id")]
fn id_of_bytes(name: &[u8]) -> JobId {
    let mut hasher = Hasher::new();
    hasher.update(name);
    let id = format!("folder-{}", &hasher.digest().hex()[..16]);
    JobId::new(id).expect("letters and digits are a valid id")
}

/// The folder above as a step key. A hidden one (`.kernrec`) holds jobs of any step.
fn step_of_folder(path: &Path) -> Option<StepKey> {
    let above = last_name(path.parent()?)?;
    let text = above.to_str().filter(|text| !text.starts_with('.'))?;
    StepKey::new(text).ok()
}

/// The last component, also of paths such as `.` that do not spell it.
fn last_name(path: &Path) -> Option<PathBuf> {
    if let Some(name) = path.file_name() {
        return Some(PathBuf::from(name));
    }
    let whole = fs_err::canonicalize(path).ok()?;
    whole.file_name().map(PathBuf::from)
}
