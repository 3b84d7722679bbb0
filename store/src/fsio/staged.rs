//! A file of a folder that nobody sees yet.

use super::FsError;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A new file in a staging folder: durable once finished, visible under its final name when the whole folder
/// is renamed. The caller makes the folder's entries durable, once for all its files.
#[derive(Debug)]
pub struct StagedFile {
    file: std::fs::File,
    path: PathBuf,
}

impl StagedFile {
    /// Creates the file; one that exists is an error.
    pub fn create(path: &Path) -> Result<Self, FsError> {
        let file = fs_err::OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(path)
            .map_err(FsError::on("create", path))?;
        Ok(Self {
            file: file.into_file(),
            path: path.to_path_buf(),
        })
    }

    /// Makes the content durable and says what the system knows of the file.
    pub fn finish(self) -> Result<std::fs::Metadata, FsError> {
        self.file
            .sync_all()
            .map_err(FsError::on("sync", &self.path))?;
        self.file
            .metadata()
            .map_err(FsError::on("look at", &self.path))
    }

    /// The error type for a write that failed, naming the file.
    pub fn write_error(&self, source: io::Error) -> FsError {
        FsError::new("write", &self.path, source)
    }
}

impl Write for StagedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
