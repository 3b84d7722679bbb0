//! Temporary files that a killed writer left.

use crate::fsio::TEMP_PREFIX;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

/// No write of one file takes this long, so whoever wrote it is dead.
const ABANDONED: Duration = Duration::from_hours(24);

/// Removes abandoned temporary files of one folder. Best effort: a failure costs only disk space.
pub(super) fn old_temporaries(folder: &Path) {
    let Ok(entries) = fs_err::read_dir(folder) else {
        return;
    };
    let temporary = |entry: &fs_err::DirEntry| {
        let name = entry.file_name();
        name.as_bytes().starts_with(TEMP_PREFIX.as_bytes())
    };
    // By name first: a folder of many objects is not looked at one by one for each new one.
    for entry in entries.flatten().filter(temporary) {
        let meta = entry.metadata().ok();
        let age = meta.and_then(|meta| meta.modified().ok()?.elapsed().ok());
        if age.is_some_and(|age| age > ABANDONED) {
            let _ = fs_err::remove_file(entry.path());
        }
    }
}
