//! Folders, renames and links that survive a power cut.

use super::FsError;
use super::atomic::parent;
use std::io;
use std::os::unix::fs::symlink;
use std::path::Path;

/// Makes the entries of a folder durable.
pub fn sync_dir(dir: &Path) -> Result<(), FsError> {
    fs_err::File::open(dir)
        .and_then(|dir| dir.sync_all())
        .map_err(FsError::on("sync folder", dir))
}

/// Creates a folder and the missing ones above it, each entry durable.
pub fn create_dir_all(dir: &Path) -> Result<(), FsError> {
    let mut tries = 1;
    loop {
        let is_missing = |dir: &&Path| !dir.as_os_str().is_empty() && !dir.is_dir();
        let missing: Vec<&Path> = dir.ancestors().take_while(is_missing).collect();
        match create_dirs(&missing) {
            // Another process removed the folder above, which was empty, just when it was needed.
            Err(e) if e.source.kind() == io::ErrorKind::NotFound && tries < CREATE_TRIES => {
                tries += 1;
            }
            end => return end,
        }
    }
}

/// How often a folder is tried whose parent goes away meanwhile.
const CREATE_TRIES: u32 = 100;

/// Creates folders, the innermost first in the list. Synced when all stand: until then the outer ones are empty, and
/// whoever cleans up may remove them.
fn create_dirs(dirs: &[&Path]) -> Result<(), FsError> {
    for dir in dirs.iter().rev() {
        match fs_err::create_dir(dir) {
            Ok(()) => {}
            // Another process made it meanwhile.
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists && dir.is_dir() => {}
            Err(e) => return Err(FsError::new("create folder", dir, e)),
        }
    }
    dirs.iter().rev().try_for_each(|dir| sync_dir(parent(dir)))
}

/// Renames within one file system and makes both folders' entries durable.
pub fn rename(from: &Path, to: &Path) -> Result<(), FsError> {
    fs_err::rename(from, to).map_err(FsError::on("rename to", to))?;
    sync_dir(parent(to))?;
    if parent(from) == parent(to) {
        Ok(())
    } else {
        sync_dir(parent(from))
    }
}

/// Points the symbolic link `link` at `target` (relative to the link's folder) in one step.
///
/// A reader sees the old target or the new one; a link that does not exist yet is created. What stands there
/// and is no symbolic link is never replaced. The new link is made in `scratch`, a folder of the caller's on
/// the same file system: a kill leaves nothing beside the link.
pub fn replace_symlink_through(scratch: &Path, link: &Path, target: &Path) -> Result<(), FsError> {
    if fs_err::symlink_metadata(link).is_ok_and(|meta| !meta.is_symlink()) {
        let source = io::Error::new(io::ErrorKind::AlreadyExists, "it is not a symbolic link");
        return Err(FsError::new("replace", link, source));
    }
    let temp = scratch.join("link");
    symlink(target, &temp).map_err(FsError::on("create link", link))?;
    fs_err::rename(&temp, link).map_err(FsError::on("rename to", link))?;
    // What remains of the scratch folder means nothing, so only the link's own entry has to last.
    sync_dir(parent(link))
}

/// Removes a folder and all below it; one that is gone already is no error.
pub fn remove_dir_all(dir: &Path) -> Result<(), FsError> {
    match fs_err::remove_dir_all(dir) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(FsError::new("remove folder", dir, e)),
        _ => Ok(()),
    }
}
