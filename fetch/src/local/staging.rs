//! A folder that nobody sees: everything is made there and renamed from there.

use super::Layout;
use kernrec_store::fsio::{self, FsError, StagedFile};
use std::fs::Permissions;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const PREFIX: &str = ".staging-";

/// Removed on drop; removed by the next fetcher if the process is killed.
#[derive(Debug)]
pub(crate) struct Staging {
    dir: TempDir,
}

impl Staging {
    /// Starts a folder. The output folder's lock must be held: whoever gets it next takes this for abandoned.
    pub(crate) fn create(layout: &Layout) -> Result<Self, FsError> {
        let records = layout.records();
        let dir = tempfile::Builder::new()
            .prefix(PREFIX)
            // It becomes the record folder; who may read that is the umask's business.
            .permissions(Permissions::from_mode(0o777))
            .tempdir_in(&records)
            .map_err(FsError::on("create a folder in", &records))?;
        Ok(Self { dir })
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Writes a small file, durable once the folder is synced.
    pub(crate) fn write(&self, name: &str, bytes: &[u8]) -> Result<std::fs::Metadata, FsError> {
        let mut file = StagedFile::create(&self.file(name))?;
        file.write_all(bytes)
            .map_err(|source| file.write_error(source))?;
        file.finish()
    }

    /// Creates a file without content. A power cut that loses it loses nothing: readers do without.
    pub(crate) fn create_empty(&self, name: &str) -> Result<(), FsError> {
        StagedFile::create(&self.file(name)).map(drop)
    }

    /// Turns the whole folder into `dest`, which must not exist.
    pub(crate) fn become_folder(self, dest: &Path) -> Result<(), FsError> {
        fsio::sync_dir(self.path())?;
        fsio::rename(self.path(), dest)?;
        // The name is gone, so there is nothing left to remove on drop.
        let _ = self.dir.keep();
        Ok(())
    }

    /// Moves one file into an existing folder, replacing the one there.
    pub(crate) fn move_into(&self, name: &str, folder: &Path) -> Result<(), FsError> {
        fsio::rename(&self.file(name), &folder.join(name))
    }

    /// Removes what dead fetchers left. The output folder's lock must be held, and nothing staged by the holder.
    ///
    /// Best effort: what cannot be removed costs only disk space.
    pub(crate) fn sweep(layout: &Layout) {
        let Ok(entries) = fs_err::read_dir(layout.records()) else {
            return;
        };
        for entry in entries.flatten() {
            if entry.file_name().to_string_lossy().starts_with(PREFIX) {
                let _ = fsio::remove_dir_all(&entry.path());
            }
        }
    }
}
