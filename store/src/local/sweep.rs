//! Temporary files that a killed writer left.

use crate::fsio::TEMP_PREFIX;
use std::path::Path;
use std::time::Duration;

/// No write of one file takes this long, so whoever wrote it is dead.
const ABANDONED: Duration = Duration::from_hours(24);

/// Removes abandoned temporary files of one folder. Best effort: a failure costs only disk space.
pub(super) fn old_temporaries(folder: &Path) {
    let Ok(entries) = fs_err::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let temporary = entry.file_name().to_string_lossy().starts_with(TEMP_PREFIX);
        let age = entry
            .metadata()
            .ok()
            .and_then(|meta| meta.modified().ok()?.elapsed().ok());
        if temporary && age.is_some_and(|age| age > ABANDONED) {
            let _ = fs_err::remove_file(entry.path());
        }
    }
}
