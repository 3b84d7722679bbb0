//! What a run left behind, for assertions.
#![expect(clippy::unwrap_used, reason = "for tests, which a panic fails")]

use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use kernrec_schemas::recording::{ProcessState, Recording, is_recording_name};

/// One recording, owned.
#[derive(Debug)]
pub struct Left {
    /// As it is.
    pub text: String,
    /// The kernels, in order.
    pub names: Vec<String>,
    /// What readers make of it.
    pub state: ProcessState,
    /// The footer's number of launches.
    pub records: Option<u64>,
    /// The footer's number of launches without a name.
    pub unresolved: Option<u64>,
    /// Records lost.
    pub dropped: u64,
}

impl Left {
    /// Every recording in a folder, in no particular order; none where there is no folder.
    ///
    /// # Panics
    /// When one cannot be read, or is not named as recordings are.
    pub fn all(folder: &Path) -> Vec<Self> {
        let Ok(entries) = fs_err::read_dir(folder) else {
            return Vec::new();
        };
        entries.map(|entry| read(&entry.unwrap().path())).collect()
    }

    /// Whether it has this error word.
    pub fn has_error(&self, word: &str) -> bool {
        let line = format!("# error={word}");
        self.text.lines().any(|other| other == line)
    }
}

/// Asserts that a run went as it would have without the recorder.
///
/// # Panics
/// When it did not.
pub fn assert_success(output: &Output) {
    assert!(
        output.status.success() && output.stderr.is_empty(),
        "{:?} signal {:?}\n{}",
        output.status,
        output.status.signal(),
        String::from_utf8_lossy(&output.stderr)
    );
}

fn read(path: &Path) -> Left {
    let name = path.file_name().unwrap().to_str().unwrap();
    assert!(is_recording_name(name), "{name}");
    let bytes = fs_err::read(path).unwrap();
    let recording = Recording::read(&bytes);
    Left {
        names: recording.names.iter().map(ToString::to_string).collect(),
        state: recording.state,
        records: recording.footer.map(|footer| footer.records),
        unresolved: recording.footer.and_then(|footer| footer.unresolved),
        dropped: recording.dropped,
        text: String::from_utf8_lossy(&bytes).into_owned(),
    }
}

/// A shared library of this workspace. Cargo builds every crate type of a dependency, and puts those
/// without a hash in their name (shared libraries) where it puts the test programs; so being listed under
/// `dev-dependencies` is what makes them exist, in a fresh clone and with any profile.
///
/// # Panics
/// When it is not there.
pub fn built_library(name: &str) -> PathBuf {
    let here = std::env::current_exe().unwrap();
    let path = here.parent().unwrap().join(name);
    assert!(path.is_file(), "{} is not built", path.display());
    path
}

/// Builds the library that, preloaded, has the C library refuse things to the recorder of this file name.
///
/// # Panics
/// When it cannot be built.
pub fn build_faults(folder: &Path, recorder: &str) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/faults.c");
    let library = folder.join("libfaults.so");
    let mut compiler = Command::new("cc");
    compiler
        .args(["-shared", "-fPIC", "-O1"])
        .arg(format!("-DRECORDER=\"{recorder}\""))
        .arg("-o");
    compile(compiler.arg(&library).arg(source));
    library
}

/// Runs the C compiler that builds this workspace.
///
/// # Panics
/// When it fails.
pub fn compile(compiler: &mut Command) {
    assert!(compiler.status().unwrap().success(), "{compiler:?}");
}
