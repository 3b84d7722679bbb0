//! The recording's file.
//!
//! It is opened anew for every write. A descriptor held for the life of the process would shift the
//! workload's descriptor numbers, be closed by a daemon that closes everything, and then receive our
//! names into whatever file the workload opened under the same number. New names come in a few hundred
//! small batches, so opening costs nothing that can be measured. A path can stop leading there, though
//! (`chroot`, another user, a renamed folder); see [`RecordingFile::keep_in_reach`].

use std::collections::hash_map::RandomState;
use std::fmt;
use std::fs::{File, OpenOptions};
use std::hash::{BuildHasher as _, Hasher as _};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use crate::ffi::{FileSizeSignal, Start, truncate};
use crate::header::MAGIC;

/// What a header becomes when the file cannot be emptied: an error word, as long as the header's magic.
const LOST: &[u8; MAGIC.len()] = b"# error=lost ";

/// A recording could not be started.
#[derive(Debug)]
pub struct CreateError {
    /// The folder or file that refused.
    pub path: PathBuf,
    /// Why.
    pub source: io::Error,
}

impl fmt::Display for CreateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "create a recording at `{}`", self.path.display())
    }
}

impl std::error::Error for CreateError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}

/// An append that did not go through. The file ends at a line's end all the same if that could be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AppendError {
    /// How many bytes, up to a line's end, are in the file.
    pub kept: usize,
}

/// The file of one process's recording. No descriptor is kept open between writes.
#[derive(Debug)]
pub struct RecordingFile {
    path: PathBuf,
    /// Bytes written, all of them whole lines.
    len: u64,
    /// Part of a line could not be cut off again; the next write starts with a line's end.
    torn: bool,
    /// While the file could be read as that of an idle process.
    start: Option<Start>,
}

impl RecordingFile {
    /// Creates a file of a name never used before, made by `name` from a random number. Folders that are
    /// missing are made, open to everyone, since a container's root and the checkout's owner share them.
    pub fn create(folder: &Path, mut name: impl FnMut(u64) -> String) -> Result<Self, CreateError> {
        create_folders(folder)?;
        let pid = std::process::id();
        let mut attempts = 0;
        loop {
            let path = folder.join(name(nonce(pid, attempts)));
            match create_new(&path) {
                Ok(()) => {
                    return Ok(Self {
                        path,
                        len: 0,
                        torn: false,
                        start: None,
                    });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempts < 16 => {
                    attempts += 1;
                }
                Err(source) => return Err(CreateError { path, source }),
            }
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends whole lines: all of them, or as many as fit.
    pub fn append(&mut self, lines: &[u8]) -> Result<(), AppendError> {
        let Ok(mut file) = self.open() else {
            return Err(AppendError { kept: 0 });
        };
        if self.torn {
            if write_counted(&mut file, b"\n") != 1 {
                return Err(AppendError { kept: 0 });
            }
            self.torn = false;
            self.len = file.metadata().map_or(self.len, |data| data.len());
        }
        let written = write_counted(&mut file, lines);
        if written == lines.len() {
            self.len += written as u64;
            return Ok(());
        }
        let kept = lines[..written]
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |end| end + 1);
        self.len += kept as u64;
        if written > kept {
            self.torn = file.set_len(self.len).is_err();
        }
        Err(AppendError { kept })
    }

    /// Sees to it that [`RecordingFile::empty`] works without the path. Call it with the header written; `false`
    /// where that cannot be had.
    pub fn keep_in_reach(&mut self) -> bool {
        let file = self.open_with(OpenOptions::new().read(true).write(true));
        self.start = file
            .ok()
            .and_then(|file| Start::of(&file, MAGIC.as_bytes()));
        self.start.is_some()
    }

    /// The file needs no longer be kept in reach.
    pub fn let_go(&mut self) {
        self.start = None;
    }

    /// Makes the file empty, which no reader takes for anything but a failure. Where that cannot be done the
    /// header becomes an error word.
    pub fn empty(&mut self) {
        // First, and always: what the path leads to now may be another file.
        if let Some(start) = self.start.take() {
            start.overwrite(LOST);
        }
        let emptied = self.open().and_then(|file| file.set_len(0));
        // A process without a descriptor left can still do that.
        if emptied.is_ok() || truncate(&self.path) {
            self.len = 0;
        }
    }

    fn open(&self) -> io::Result<File> {
        self.open_with(OpenOptions::new().append(true))
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "the injection libraries depend on libc alone, and nobody reads these errors"
    )]
    fn open_with(&self, options: &mut OpenOptions) -> io::Result<File> {
        options.custom_flags(libc::O_NOFOLLOW).open(&self.path)
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the injection libraries depend on libc alone; `CreateError` names the path"
)]
fn create_new(path: &Path) -> io::Result<()> {
    let file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .custom_flags(libc::O_NOFOLLOW)
        .mode(0o666)
        .open(path)?;
    // The process's mask may have taken the group's and the others' bits away.
    file.set_permissions(std::fs::Permissions::from_mode(0o666))
}

/// `mkdir -p` with mode 0777 for what it makes.
#[expect(
    clippy::disallowed_methods,
    reason = "the injection libraries depend on libc alone; `CreateError` names the path"
)]
fn create_folders(folder: &Path) -> Result<(), CreateError> {
    let missing: Vec<&Path> = folder
        .ancestors()
        .take_while(|path| !path.as_os_str().is_empty() && !path.is_dir())
        .collect();
    for path in missing.into_iter().rev() {
        let fail = |source| CreateError {
            path: path.to_owned(),
            source,
        };
        match std::fs::DirBuilder::new().mode(0o777).create(path) {
            Ok(()) => std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o777))
                .map_err(fail)?,
            // Another process of the step was faster.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(fail(error)),
        }
    }
    Ok(())
}

/// How many of the bytes were written. A write over the process's file size limit would raise a signal
/// that kills it; the signal is taken back.
fn write_counted(file: &mut File, bytes: &[u8]) -> usize {
    let signal = FileSizeSignal::hold();
    let mut written = 0;
    while let Some(rest) = bytes.get(written..)
        && !rest.is_empty()
    {
        match file.write(rest) {
            Ok(0) => break,
            Ok(count) => written += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                if error.raw_os_error() == Some(libc::EFBIG) {
                    signal.take_back();
                }
                break;
            }
        }
    }
    written
}

/// Random, so that two containers that share a folder and a pid never meet. The standard library's
/// hash keys are the only randomness it offers; the kernel gave them.
fn nonce(pid: u32, attempt: u32) -> u64 {
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u32(pid);
    hasher.write_u32(attempt);
    hasher.finish()
}
