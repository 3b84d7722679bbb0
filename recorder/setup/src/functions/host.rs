//! The recorder in a folder of the job's own, first on `PYTHONPATH`: `.python/<session>` in the job's folder.

use super::holders::Holders;
use super::{Job, PATH};
use crate::environment::Environment;
use crate::job;
use crate::options::Purpose;
use crate::reason::Unavailable;
use crate::session;
use kernrec_python_payload::{self as payload, Layout};
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// The copies of a job's commands, in its folder.
const COPIES: &str = ".python";
/// Who needs a copy, in its folder.
const HOLDERS: &str = ".holders.json";

/// Puts a copy there and returns the variable's value. Within a set-up that has one there is no second.
pub(super) fn put(
    job: Job<'_>,
    purpose: Purpose<'_>,
    environment: &Environment,
    library: &Path,
) -> Result<OsString, Unavailable> {
    let original = environment.set(PATH).unwrap_or_default();
    let copies = job.folder.join(COPIES);
    let stands =
        |path: &PathBuf| path.starts_with(&copies) && path.join(payload::EXTENSION).exists();
    if std::env::split_paths(original).any(|path| stands(&path)) {
        return Ok(original.to_owned());
    }
    let folder = copies.join(job.id);
    let refuse = |problem: String| Unavailable::PythonFolder {
        path: folder.clone(),
        problem,
    };
    if folder.as_os_str().as_bytes().contains(&b':') {
        return Err(refuse("a list of folders cannot hold a colon".to_owned()));
    }
    fill(&folder, purpose, library).map_err(|problem| {
        withdraw(job.folder, job.id);
        refuse(problem)
    })?;
    let mut value = folder.into_os_string();
    if !original.is_empty() {
        value.push(":");
        value.push(original);
    }
    Ok(value)
}

fn fill(folder: &Path, purpose: Purpose<'_>, library: &Path) -> Result<(), String> {
    job::make(folder).map_err(|error| error.to_string())?;
    let holders = Holders::of(purpose).to_bytes();
    fs_err::write(folder.join(HOLDERS), holders).map_err(|error| error.to_string())?;
    payload::write(folder, Layout::Path, library).map_err(|error| error.to_string())
}

/// Takes a session's copy away.
pub(crate) fn withdraw(job: &Path, id: &str) {
    let copies = job.join(COPIES);
    if is_folder(&copies) {
        // An interpreter that still runs may put a compiled file there meanwhile.
        for _ in 0..3 {
            if fs_err::remove_dir_all(copies.join(id)).is_ok() {
                break;
            }
        }
        // Others' copies keep it.
        let _ = fs_err::remove_dir(copies);
    }
}

/// Takes away what killed set-ups left, of this job and of those beside it.
pub(super) fn sweep(job: &Path) {
    let above = job.parent().filter(|above| job::holds_jobs(above));
    let beside = above.and_then(|above| fs_err::read_dir(above).ok());
    let beside = beside.into_iter().flatten().flatten();
    let mut jobs: Vec<PathBuf> = beside.map(|entry| entry.path()).collect();
    jobs.push(job.to_path_buf());
    for job in jobs.iter().filter(|job| is_folder(job)) {
        let copies = job.join(COPIES);
        if !is_folder(&copies) {
            continue;
        }
        let sessions = fs_err::read_dir(&copies).into_iter().flatten().flatten();
        for entry in sessions {
            let name = entry.file_name();
            let id = name.to_str().filter(|name| session::is_id(name));
            let holders = Holders::read(&entry.path().join(HOLDERS));
            if let (Some(id), Some(holders)) = (id, holders)
                && holders.are_gone(id)
            {
                withdraw(job, id);
            }
        }
    }
}

/// A folder itself, not a link to one.
fn is_folder(path: &Path) -> bool {
    fs_err::symlink_metadata(path).is_ok_and(|found| found.is_dir())
}
