//! Opening files that others left: no link is followed, nothing that could block is waited for.

use super::BundleError;
use super::Refusal;
use crate::fsio::FsError;
use fs_err::os::unix::fs::OpenOptionsExt;
use std::fs::FileType;
use std::io::{self, Read};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

/// Opens a bundle file; a link to one is followed, since a user named it.
pub(super) fn open_bundle(path: &Path) -> Result<fs_err::File, BundleError> {
    open(path, 0).map(|(file, _)| file)
}

/// Appends the whole of a regular file of a job folder to `out`, at most `limit` bytes.
pub(super) fn read_member(path: &Path, limit: u64, out: &mut Vec<u8>) -> Result<(), BundleError> {
    let too_large = |found| BundleError::Unpackable {
        path: path.to_path_buf(),
        refusal: Box::new(Refusal::EntryTooLarge { found }),
    };
    let (file, size) = open(path, libc::O_NOFOLLOW)?;
    if size > limit {
        return Err(too_large(size));
    }
    let start = out.len();
    out.reserve(usize::try_from(size + 1).unwrap_or(0));
    // The file may still grow: the bound is on what is read, not on what its size was.
    file.take(limit + 1)
        .read_to_end(out)
        .map_err(FsError::on("read", path))?;
    let read = (out.len() - start) as u64;
    if read > limit {
        out.truncate(start);
        return Err(too_large(read));
    }
    Ok(())
}

/// Opens a regular file of a job folder.
pub(super) fn open_member(path: &Path) -> Result<fs_err::File, BundleError> {
    open(path, libc::O_NOFOLLOW).map(|(file, _)| file)
}

/// What a path is, if it is no regular file.
pub(super) fn irregular(kind: FileType) -> Option<&'static str> {
    if kind.is_file() {
        return None;
    }
    Some(if kind.is_symlink() {
        "symbolic link"
    } else if kind.is_dir() {
        "folder"
    } else if kind.is_fifo() {
        "FIFO"
    } else if kind.is_socket() {
        "socket"
    } else {
        "device"
    })
}

/// Opens without blocking on a FIFO or a device, then looks at what was opened: no window for a swap. Tells the
/// file's size too.
fn open(path: &Path, flags: i32) -> Result<(fs_err::File, u64), BundleError> {
    let opened = fs_err::OpenOptions::new()
        .read(true)
        .custom_flags(flags | libc::O_NONBLOCK | libc::O_NOCTTY)
        .open(path);
    let file = match opened {
        Ok(file) => file,
        Err(error) => return Err(unopened(path, flags, error)),
    };
    let meta = file.metadata().map_err(FsError::on("read", path))?;
    match irregular(meta.file_type()) {
        None => Ok((file, meta.len())),
        Some(kind) => Err(not_regular(path, kind)),
    }
}

/// A link (with `O_NOFOLLOW`) and a socket do not even open; the error says what they are.
fn unopened(path: &Path, flags: i32, error: io::Error) -> BundleError {
    let meta = if flags & libc::O_NOFOLLOW == 0 {
        fs_err::metadata(path)
    } else {
        fs_err::symlink_metadata(path)
    };
    match meta.ok().and_then(|meta| irregular(meta.file_type())) {
        Some(kind) => not_regular(path, kind),
        None => FsError::new("open", path, error).into(),
    }
}

pub(super) fn not_regular(path: &Path, kind: &'static str) -> BundleError {
    BundleError::NotRegular {
        path: path.to_path_buf(),
        kind,
    }
}
