//! Removing record folders that no link names and no reader holds.
//!
//! A reader resolves the link, locks the folder's [`HOLD`] shared, and then looks whether the file it locked is
//! still there (see `installed::hold`). Here the same file is locked exclusively before the folder is moved
//! out of sight, so a reader either has its lock first and the folder stays, or finds the folder gone and
//! resolves the link again, which by then names another record: links move only under the output folder's
//! lock, which is held here.

use super::layout::record_of_target;
use super::{HOLD, Layout, RecordId, Staging};
use kernrec_store::fsio::{self, FsError, Lock};
use std::collections::HashSet;
use std::io;
use std::path::Path;

/// Removes every abandoned record. Best effort: what cannot be removed costs only disk space.
pub(crate) fn abandoned_records(layout: &Layout) {
    let (Ok(linked), Ok(entries)) = (linked(layout), fs_err::read_dir(layout.records())) else {
        return;
    };
    for entry in entries.flatten() {
        let Some(id) = RecordId::from_name(&entry.file_name()) else {
            continue;
        };
        if !linked.contains(&id) && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            let _ = remove(layout, &entry.path());
        }
    }
}

/// The records that any link in the output folder names, whatever it is called: a newer version of this
/// program may know backends that this one does not.
fn linked(layout: &Layout) -> Result<HashSet<RecordId>, FsError> {
    let out = layout.out();
    let mut linked = HashSet::new();
    for entry in fs_err::read_dir(out).map_err(FsError::on("list", out))? {
        let entry = entry.map_err(FsError::on("list", out))?;
        if entry
            .file_type()
            .map_err(FsError::on("look at", out))?
            .is_symlink()
        {
            let path = entry.path();
            let target = fs_err::read_link(&path).map_err(FsError::on("read link", &path))?;
            linked.extend(record_of_target(&target));
        }
    }
    Ok(linked)
}

fn remove(layout: &Layout, folder: &Path) -> Result<(), FsError> {
    let hold = folder.join(HOLD);
    let lock = match Lock::try_exclusive_existing(&hold) {
        Ok(Some(lock)) => Some(lock),
        // A folder without the file (a copy made by hand) cannot be held; readers of it start over.
        Err(_) if is_absent(&hold) => None,
        Ok(None) | Err(_) => return Ok(()),
    };
    let staging = Staging::create(layout)?;
    fsio::rename(folder, &staging.file("abandoned"))?;
    drop(lock);
    fsio::remove_dir_all(staging.path())
}

fn is_absent(path: &Path) -> bool {
    matches!(fs_err::symlink_metadata(path), Err(e) if e.kind() == io::ErrorKind::NotFound)
}
