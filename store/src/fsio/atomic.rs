//! A file that appears whole or not at all.

use super::{FsError, sync_dir};
use std::fs::Permissions;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tempfile::{Builder, NamedTempFile};

/// Temporary files carry this prefix and stand beside their destination, on the same file system.
pub(crate) const TEMP_PREFIX: &str = ".tmp-";

/// A temporary file beside its destination. Dropped without a commit, it is removed.
#[derive(Debug)]
pub struct AtomicFile {
    temp: NamedTempFile,
    dest: PathBuf,
}

impl AtomicFile {
    /// Starts a file that will be `dest`; its folder must exist.
    ///
    /// A device, pipe or socket that stands there, or at the end of a link that does, is never replaced: for root
    /// `/dev/null` or `/dev/stdout` would be a plain file afterwards, to every program on the machine.
    pub fn create(dest: &Path) -> Result<Self, FsError> {
        if fs_err::metadata(dest).is_ok_and(|meta| !meta.is_file() && !meta.is_dir()) {
            let source = io::Error::other("it is not a regular file");
            return Err(FsError::new("replace", dest, source));
        }
        let temp = Builder::new()
            .prefix(TEMP_PREFIX)
            // What other users may read is the umask's business, as with any program.
            .permissions(Permissions::from_mode(0o666))
            .tempfile_in(parent(dest))
            .map_err(FsError::on("create a temporary file for", dest))?;
        Ok(Self {
            temp,
            dest: dest.to_path_buf(),
        })
    }

    /// Lets every user read and replace the file, whatever the umask: a container's root and the owner of the
    /// checkout share a job's files.
    pub fn open_to_everyone(&self) -> Result<(), FsError> {
        self.temp
            .as_file()
            .set_permissions(Permissions::from_mode(0o666))
            .map_err(FsError::on("open to everyone", &self.dest))
    }

    /// Makes the file durable and puts it under its name, replacing what stood there.
    pub fn commit(self) -> Result<(), FsError> {
        let Self { temp, dest } = self;
        temp.as_file()
            .sync_all()
            .map_err(FsError::on("sync", &dest))?;
        temp.persist(&dest)
            .map_err(|e| FsError::new("rename to", &dest, e.error))?;
        sync_dir(parent(&dest))
    }

    /// Makes the file durable and puts it under its name unless the name is taken; says whether it did.
    pub fn commit_new(self) -> Result<bool, FsError> {
        let Self { temp, dest } = self;
        temp.as_file()
            .sync_all()
            .map_err(FsError::on("sync", &dest))?;
        match temp.persist_noclobber(&dest) {
            Ok(_) => sync_dir(parent(&dest)).map(|()| true),
            Err(e) if e.error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(e) => Err(FsError::new("rename to", &dest, e.error)),
        }
    }

    /// The error type for a write that failed, naming the destination.
    pub fn write_error(&self, source: io::Error) -> FsError {
        FsError::new("write", &self.dest, source)
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.temp.as_file_mut().write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.temp.as_file_mut().flush()
    }
}

/// Writes a whole file atomically and durably.
pub fn write_atomic(dest: &Path, bytes: &[u8]) -> Result<(), FsError> {
    let mut file = AtomicFile::create(dest)?;
    file.write_all(bytes)
        .map_err(|source| file.write_error(source))?;
    file.commit()
}

/// The folder a path stands in; `.` for a bare name.
pub(super) fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}
