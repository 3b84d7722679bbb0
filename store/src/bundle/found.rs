//! Finding jobs: raw folders of both layouts and bundles, mixed in one folder.

use super::folder::JobFolder;
use super::read::SUFFIX;
use super::{BundleError, OriginLayout, part};
use crate::fsio::FsError;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// What a folder of recordings holds; every list is sorted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    /// Raw job folders.
    pub jobs: Vec<JobFolder>,
    /// Bundle files.
    pub bundles: Vec<PathBuf>,
    /// Folders where a job's should be, with neither recording nor sidecar in them.
    pub empty: Vec<PathBuf>,
    /// What was not looked into: links, and files that are no bundles.
    pub ignored: Vec<PathBuf>,
}

/// Searches a folder for jobs.
///
/// - `<dir>/<job>/` with a sidecar or a recording, of kernels or of Python, is a job
///   ([`OriginLayout::InBuild`]); so is `dir` itself.
/// - `<dir>/<step>/<job>/` is one ([`OriginLayout::StepJob`]) where `<step>` has no sidecar of its own. A
///   hidden `<step>`, such as `.kernrec`, is no step: the jobs below it are as in their build.
/// - `*.tar.zst` beside job folders is a bundle.
///
/// Links are not followed below `dir`. A folder that cannot be listed is an error; a job whose files cannot
/// be read is found all the same, so that reading it reports what is wrong with that one job.
pub fn job_folders(dir: &Path) -> Result<Found, BundleError> {
    let mut found = Found::default();
    let top = list(dir)?;
    if top.is_job {
        found.jobs.push(JobFolder::open(dir, OriginLayout::InBuild));
    }
    for folder in top.folders {
        search(&dir.join(folder), &mut found)?;
    }
    found.bundles.extend(top.bundles);
    if !top.is_job {
        found.ignored.extend(top.ignored);
    }
    found.jobs.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    found.bundles.sort_unstable();
    found.empty.sort_unstable();
    found.ignored.sort_unstable();
    Ok(found)
}

/// A folder in `dir`: a job's, a step's, or an empty one.
fn search(path: &Path, found: &mut Found) -> Result<(), BundleError> {
    // A folder with a sidecar is one job, whole, and need not be listed: the common case.
    if let Some(job) = JobFolder::with_sidecar(path, OriginLayout::InBuild) {
        found.jobs.push(job);
        return Ok(());
    }
    let listing = list(path)?;
    let holds_nothing = !listing.is_job && listing.folders.is_empty() && listing.bundles.is_empty();
    if listing.is_job {
        found
            .jobs
            .push(JobFolder::open(path, OriginLayout::InBuild));
    } else if holds_nothing {
        found.empty.push(path.to_path_buf());
    }
    let hidden = path
        .file_name()
        .is_some_and(|name| name.as_bytes().starts_with(b"."));
    let layout = if hidden {
        OriginLayout::InBuild
    } else {
        OriginLayout::StepJob
    };
    // Also below a folder that holds recordings of its own: they do not take the place of its jobs'.
    for folder in listing.folders {
        let job = path.join(folder);
        match JobFolder::with_sidecar(&job, layout) {
            Some(job) => found.jobs.push(job),
            None if list(&job)?.is_job => found.jobs.push(JobFolder::open(&job, layout)),
            None => found.empty.push(job),
        }
    }
    found.bundles.extend(listing.bundles);
    if !listing.is_job {
        found.ignored.extend(listing.ignored);
    }
    Ok(())
}

/// The entries of one folder by kind.
#[derive(Default)]
struct Listing {
    is_job: bool,
    folders: Vec<OsString>,
    bundles: Vec<PathBuf>,
    ignored: Vec<PathBuf>,
}

fn list(dir: &Path) -> Result<Listing, BundleError> {
    let on_error = |e| FsError::new("list", dir, e);
    let mut listing = Listing::default();
    for item in fs_err::read_dir(dir).map_err(on_error)? {
        let item = item.map_err(on_error)?;
        let name = item.file_name();
        if part::is_evidence(name.as_bytes()) {
            listing.is_job = true;
            continue;
        }
        let kind = item
            .file_type()
            .map_err(FsError::on("read", &item.path()))?;
        if kind.is_dir() {
            listing.folders.push(name);
        } else if kind.is_file() && name.as_bytes().ends_with(SUFFIX.as_bytes()) {
            listing.bundles.push(item.path());
        } else {
            listing.ignored.push(item.path());
        }
    }
    Ok(listing)
}
