//! Which folder a job's recordings go to, and making it.

use super::record::STATE;
use crate::environment::Environment;
use crate::identity::LOCAL;
use fs_err::os::unix::fs::OpenOptionsExt as _;
use kernrec_store::bundle::Part;
use kernrec_store::fsio::FsError;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// The folder of all jobs, in the current one.
const ABOVE: &str = ".kernrec";

/// Local runs kept side by side.
const MAX_LOCAL: u32 = 1_000;

/// The folder, absolute. Runs outside CI get one each, made here so that no two take the same: `local`,
/// `local-2`, and so on.
pub(crate) fn choose(dir: Option<&Path>, job_id: &str, environment: &Environment) -> PathBuf {
    if let Some(dir) = dir {
        return environment.absolute(dir);
    }
    let above = environment.absolute(Path::new(ABOVE));
    let first = above.join(job_id);
    if job_id != LOCAL || make(&above).is_err() {
        return first;
    }
    let others = (2..MAX_LOCAL).map(|n| above.join(format!("{LOCAL}-{n}")));
    std::iter::once(first.clone())
        .chain(others)
        .find(|folder| fs_err::create_dir(folder).is_ok())
        .unwrap_or(first)
}

/// Whether no job has left anything in a folder.
pub(crate) fn is_fresh(folder: &Path) -> bool {
    let Ok(mut entries) = fs_err::read_dir(folder) else {
        return !folder.exists();
    };
    !entries.any(|entry| {
        entry.is_ok_and(|entry| {
            let name = entry.file_name();
            let is_recording = name.as_bytes().starts_with(b"kern.");
            is_recording || name == STATE || Part::of(name.as_bytes()).is_some()
        })
    })
}

/// Makes a folder and those above it that are missing, and opens them to everyone, so that another user can
/// add to them and clean them up.
pub(crate) fn make(folder: &Path) -> Result<(), FsError> {
    let missing: Vec<&Path> = folder
        .ancestors()
        .take_while(|path| !path.is_dir())
        .collect();
    for path in missing.into_iter().rev() {
        match fs_err::create_dir(path) {
            Ok(()) => open_to_everyone(path, 0o777)?,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => {}
            Err(error) => return Err(FsError::new("create folder", path, error)),
        }
    }
    // Made under a mask, or somebody else's. The latter may stay as it is: writing will show whether that is enough.
    // A folder that a caller names and that holds other things is the caller's, and not opened.
    let above = folder.parent().filter(|above| holds_jobs(above));
    if above.is_some() || is_empty(folder) {
        let _ = open_to_everyone(folder, 0o777);
    }
    if let Some(above) = above {
        let _ = open_to_everyone(above, 0o777);
    }
    Ok(())
}

/// Whether a folder is the one of all jobs.
pub(crate) fn holds_jobs(folder: &Path) -> bool {
    folder.ends_with(ABOVE)
}

fn is_empty(folder: &Path) -> bool {
    fs_err::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none())
}

/// Gives a file or folder a mode, unless it is a link: what that leads to is not ours.
pub(crate) fn open_to_everyone(path: &Path, mode: u32) -> Result<(), FsError> {
    let fail = |error| FsError::new("open to everyone", path, error);
    let file = fs_err::OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY)
        .open(path)
        .map_err(fail)?;
    file.file()
        .set_permissions(std::fs::Permissions::from_mode(mode))
        .map_err(fail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ci_jobs_have_their_folder_and_local_runs_one_each() {
        let root = tempfile::tempdir().unwrap();
        let environment = Environment::default().in_folder(root.path());
        let above = root.path().join(".kernrec");
        assert_eq!(choose(None, "j-1", &environment), above.join("j-1"));
        for name in ["local", "local-2", "local-3"] {
            let folder = choose(None, "local", &environment);
            assert_eq!(folder, above.join(name));
        }
        let named = choose(Some(Path::new("x/y")), "local", &environment);
        assert_eq!(named, root.path().join("x/y"));
    }

    #[test]
    fn folders_made_are_open_to_everyone() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("a/b");
        make(&folder).unwrap();
        for path in ["a", "a/b"] {
            let mode = fs_err::metadata(root.path().join(path))
                .unwrap()
                .permissions()
                .mode();
            assert_eq!(mode & 0o777, 0o777);
        }
    }

    #[test]
    fn a_folder_that_is_somebodys_and_what_a_link_leads_to_keep_their_modes() {
        let root = tempfile::tempdir().unwrap();
        let private = root.path().join("private");
        fs_err::create_dir(&private).unwrap();
        fs_err::set_permissions(&private, std::fs::Permissions::from_mode(0o700)).unwrap();
        let link = root.path().join(".kernrec");
        std::os::unix::fs::symlink("private", &link).unwrap();
        make(&link.join("j-1")).unwrap();
        make(&private).unwrap();
        make(&link).unwrap();
        let mode = |path: &Path| fs_err::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&private), 0o700);
        assert_eq!(mode(&private.join("j-1")), 0o777);
    }
}
