//! Whether one process is recorded.

use std::ffi::OsStr;
use std::fs::Metadata;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// What tells a recorded process.
#[derive(Debug, Clone)]
pub(crate) struct Watched {
    /// The variable through which the recorder is loaded.
    pub(crate) variable: &'static str,
    /// The file name of the recorder's library.
    pub(crate) recorder: &'static str,
    /// The variable that says where recordings go.
    pub(crate) folder_variable: &'static str,
    /// Where they have to go.
    pub(crate) folder: PathBuf,
    /// The start of the file name of the library without which no process uses the GPU.
    pub(crate) driver: &'static str,
}

pub(super) enum Verdict {
    /// Its recorder is there and writes into the folder, or will when the driver is.
    Recorded,
    Unrecorded,
    /// Without the driver so far, or it cannot be told.
    Open,
}

/// Judges the process whose folder of the process table this is.
pub(super) fn judge(process: &Path, watched: &Watched) -> Verdict {
    // As of its start; a forked child shows its parent's. A zombie and a process in the middle of exec show
    // none, and no driver below.
    let Ok(environment) = fs_err::read(process.join("environ")) else {
        return Verdict::Open;
    };
    let library = value(&environment, watched.variable)
        .filter(|path| Path::new(path).file_name() == Some(OsStr::new(watched.recorder)));
    let writes_here = writes_here(process, &environment, watched);
    let is_there = |path: &OsStr| !is_missing(&fs_err::metadata(in_root(process, path)));
    if writes_here && library.is_some_and(is_there) {
        return Verdict::Recorded;
    }
    let Ok(maps) = fs_err::read(process.join("maps")) else {
        return Verdict::Open;
    };
    let holds = |file: &str| contains(&maps, format!("/{file}").as_bytes());
    // Without the variable at its start the process set both itself: they cannot be seen.
    if holds(watched.recorder) && (writes_here || library.is_none()) {
        Verdict::Recorded
    } else if holds(watched.driver) {
        Verdict::Unrecorded
    } else {
        Verdict::Open
    }
}

/// Whether the folder that the process's recorder writes to is the job's, whatever it is called there.
fn writes_here(process: &Path, environment: &[u8], watched: &Watched) -> bool {
    let Some(named) = value(environment, watched.folder_variable) else {
        return false;
    };
    let theirs = fs_err::metadata(in_root(process, named));
    let ours = fs_err::metadata(&watched.folder);
    match (&theirs, &ours) {
        (Ok(theirs), Ok(ours)) => {
            (theirs.dev(), theirs.ino()) == (ours.dev(), ours.ino())
                && fs_err::metadata(process).map_or(true, |user| may_write(&user, ours))
        }
        // Made there it would be another.
        (Err(_), Ok(_)) => !is_missing(&theirs),
        (_, Err(_)) => named == watched.folder,
    }
}

/// Whether the owner of a process, which its folder in the process table has, may add to a folder. Lists of further
/// users and groups are not asked: who needs one counts as unrecorded.
fn may_write(process: &Metadata, folder: &Metadata) -> bool {
    let bit = match () {
        () if process.uid() == 0 => return true,
        () if process.uid() == folder.uid() => 0o200,
        () if process.gid() == folder.gid() => 0o020,
        () => 0o002,
    };
    folder.mode() & bit != 0
}

/// A path as the process sees it.
fn in_root(process: &Path, path: &OsStr) -> PathBuf {
    let path = Path::new(path);
    process
        .join("root")
        .join(path.strip_prefix("/").unwrap_or(path))
}

fn is_missing<T>(found: &io::Result<T>) -> bool {
    found
        .as_ref()
        .is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}

fn value<'a>(environment: &'a [u8], name: &str) -> Option<&'a OsStr> {
    let found = environment.split(|byte| *byte == 0).find_map(|variable| {
        let rest = variable.strip_prefix(name.as_bytes())?;
        rest.strip_prefix(b"=")
    });
    found
        .filter(|value| !value.is_empty())
        .map(OsStr::from_bytes)
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}
