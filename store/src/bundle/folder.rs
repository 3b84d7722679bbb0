//! One job's folder on disk.

use super::identity::{self, Identity};
use super::limits::{MAX_ENTRIES, MAX_ENTRY_BYTES};
use super::{BundleError, BundleMeta, OriginLayout, Part, Refusal};
use super::{file, names};
use crate::fsio::FsError;
use kernrec_schemas::id::Hasher;
use kernrec_schemas::{JobId, StepKey};
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
    ///
    /// Where the kernel recorders left anything theirs is the sidecar, so that what Python left changes nothing. Else
    /// it is the Python recorder's, and without one the first header of its recordings that names the job or its
    /// step.
    pub fn open(path: &Path, layout: OriginLayout) -> Self {
        if let Some(job) = Self::with_sidecar(path, layout) {
            return job;
        }
        let identity = if has_kernels(path) {
            Identity::default()
        } else {
            identity::of_headers(path)
        };
        Self::with_identity(path, layout, identity)
    }

    /// A job that has a sidecar; `None` for a folder without.
    pub(super) fn with_sidecar(path: &Path, layout: OriginLayout) -> Option<Self> {
        if let Some(identity) = identity::of_sidecar(path, Part::Kernels) {
            return Some(Self::with_identity(path, layout, identity));
        }
        let of_python = identity::of_sidecar(path, Part::Python)?;
        let identity = if has_kernels(path) {
            Identity::default()
        } else {
            of_python
        };
        Some(Self::with_identity(path, layout, identity))
    }

    fn with_identity(path: &Path, layout: OriginLayout, identity: Identity) -> Self {
        let job_id = identity
            .job_id
            .filter(|id| !id.is_local())
            .unwrap_or_else(|| id_of_folder(path));
        let step_key = identity.step_key.or_else(|| match layout {
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

    /// The names of its sidecars, recordings and notes, sorted by their bytes.
    ///
    /// One that is a link, a FIFO or anything else but a regular file is an error, as is a recording whose
    /// name no bundle can hold: leaving either out would lose what a process launched or entered.
    pub fn entries(&self) -> Result<Vec<String>, BundleError> {
        self.entries_where(|name| Part::of(name).is_some())
    }

    /// Those of one recorder. Nothing is said of what the other one left.
    pub fn entries_of(&self, part: Part) -> Result<Vec<String>, BundleError> {
        self.entries_where(|name| Part::of(name) == Some(part))
    }

    /// Appends the content of one of its [`entries`](Self::entries) to `out`, at most
    /// [`MAX_ENTRY_BYTES`].
    pub fn read(&self, name: &str, out: &mut Vec<u8>) -> Result<(), BundleError> {
        file::read_member(&self.path.join(name), MAX_ENTRY_BYTES, out)
    }

    /// As [`Self::entries`], with further names where they exist.
    pub(super) fn entries_and(&self, more: &[&str]) -> Result<Vec<String>, BundleError> {
        let is_further = |name: &[u8]| more.iter().any(|more| name == more.as_bytes());
        self.entries_where(|name| Part::of(name).is_some() || is_further(name))
    }

    fn entries_where(&self, wanted: impl Fn(&[u8]) -> bool) -> Result<Vec<String>, BundleError> {
        let on_error = |e| FsError::new("list", &self.path, e);
        let mut entries = Vec::new();
        for item in fs_err::read_dir(&self.path).map_err(on_error)? {
            let item = item.map_err(on_error)?;
            let name = item.file_name();
            if !wanted(name.as_bytes()) {
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

/// Whether the kernel recorders left anything. A folder that cannot be listed is met again by whoever reads it.
fn has_kernels(folder: &Path) -> bool {
    let Ok(items) = fs_err::read_dir(folder) else {
        return false;
    };
    let mut names = items.filter_map(|item| Some(item.ok()?.file_name()));
    names.any(|name| Part::Kernels.is_evidence(name.as_bytes()))
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
