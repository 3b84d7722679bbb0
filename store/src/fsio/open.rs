//! Opening what others may have put in place.

use fs_err::os::unix::fs::OpenOptionsExt;
use std::io;
use std::path::Path;

/// Opens a file for reading that must be a regular one, links followed. A FIFO with no writer would hold its reader
/// for ever, a device could give bytes without end: neither is waited for.
pub fn open_regular(path: &Path) -> io::Result<fs_err::File> {
    let file = fs_err::OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY)
        .open(path)?;
    let kind = file.metadata()?.file_type();
    if kind.is_file() {
        Ok(file)
    } else if kind.is_dir() {
        let problem = "it is a folder, not a file";
        Err(io::Error::new(io::ErrorKind::IsADirectory, problem))
    } else {
        Err(io::Error::other("it is not a regular file"))
    }
}
