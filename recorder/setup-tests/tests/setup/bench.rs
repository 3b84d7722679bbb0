//! A folder for each test, the launcher, and what it left.

use kernrec_schemas::recording::{ProcessState, Recording, is_recording_name};
use kernrec_schemas::sidecar::Sidecar;
use kernrec_store::bundle;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

pub(crate) const HOST: &str = env!("CARGO_BIN_EXE_setup-host");
pub(crate) const DRIVER: &str = env!("CARGO_BIN_EXE_setup-fake-driver");
pub(crate) const HOSTILE: &str = env!("CARGO_BIN_EXE_setup-hostile");

/// One test's world.
pub(crate) struct Bench {
    folder: tempfile::TempDir,
}

/// A bundle's content.
#[derive(Debug)]
pub(crate) struct Bundle {
    pub(crate) sidecar: Sidecar,
    pub(crate) sidecar_text: String,
    pub(crate) recordings: Vec<Left>,
}

/// One recording.
#[derive(Debug)]
pub(crate) struct Left {
    pub(crate) state: ProcessState,
    pub(crate) names: Vec<String>,
    pub(crate) text: String,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let fake = library("libkernrec_fake_cupti.so");
        for name in ["libcupti.so.13", "libcuda.so.1"] {
            fs_err::os::unix::fs::symlink(&fake, folder.path().join(name)).unwrap();
        }
        Self { folder }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A program in the test's folder, with nothing of a CI system or of a recorder in its environment.
    pub(crate) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.folder.path());
        let tables = [
            &kernrec_setup::variables::READ[..],
            &kernrec_setup::variables::SET[..],
        ];
        for variable in tables.into_iter().flatten() {
            command.env_remove(variable.name);
        }
        command
            .env("KERNREC_LIB_DIR", libraries())
            .env("LD_LIBRARY_PATH", self.folder.path());
        command
    }

    /// `kernrec run --step demo -- COMMAND...`.
    pub(crate) fn recorded<S: AsRef<OsStr>>(&self, command: &[S]) -> Command {
        let mut run = self.command(HOST);
        run.args(["run", "--step", "demo", "--backend", "cuda", "--"])
            .args(command);
        run
    }

    /// The acts of the fake driver's program after CUPTI and CUDA have started.
    pub(crate) fn driver(&self, acts: &[&str]) -> Vec<OsString> {
        let cupti = format!("load={}", self.path("libcupti.so.13").display());
        let start = [DRIVER, &cupti, "init"];
        start.iter().chain(acts).map(OsString::from).collect()
    }

    /// The bundles beside the job folders.
    pub(crate) fn bundles(&self) -> Vec<PathBuf> {
        let Ok(entries) = fs_err::read_dir(self.path(".kernrec")) else {
            return Vec::new();
        };
        let mut found: Vec<PathBuf> = entries
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.to_str().unwrap().ends_with(".tar.zst"))
            .collect();
        found.sort();
        found
    }

    /// The one bundle.
    pub(crate) fn bundle(&self) -> Bundle {
        let bundles = self.bundles();
        assert_eq!(bundles.len(), 1, "{bundles:?}");
        read_bundle(&bundles[0])
    }

    /// The sidecar of a job's folder.
    pub(crate) fn sidecar(&self, job: &str) -> Sidecar {
        let path = self.path(".kernrec").join(job).join("kernrec.json");
        Sidecar::parse(&fs_err::read(path).unwrap()).unwrap()
    }
}

pub(crate) fn read_bundle(path: &Path) -> Bundle {
    let mut files = BTreeMap::new();
    bundle::read_file(path, &mut |name, content| {
        files.insert(name.to_owned(), content.to_vec());
    })
    .unwrap();
    let sidecar = files.remove("kernrec.json").unwrap();
    files.retain(|name, _| is_recording_name(name));
    let recordings = files.values().map(|bytes| {
        let recording = Recording::read(bytes);
        Left {
            state: recording.state,
            names: recording.names.iter().map(ToString::to_string).collect(),
            text: String::from_utf8_lossy(bytes).into_owned(),
        }
    });
    Bundle {
        recordings: recordings.collect(),
        sidecar_text: String::from_utf8(sidecar.clone()).unwrap(),
        sidecar: Sidecar::parse(&sidecar).unwrap(),
    }
}

/// The status as a shell has it.
pub(crate) fn shell_status(output: &Output) -> i32 {
    use std::os::unix::process::ExitStatusExt as _;
    let status = output.status;
    status
        .code()
        .unwrap_or_else(|| 128 + status.signal().unwrap())
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

pub(crate) fn assert_quiet(output: &Output, status: i32) {
    assert_eq!(
        (shell_status(output), text(&output.stderr).as_str()),
        (status, ""),
        "{}",
        text(&output.stdout)
    );
}

/// The folder of the shared libraries: cargo puts those of a dependency where it puts the test programs.
pub(crate) fn libraries() -> PathBuf {
    std::env::current_exe()
        .unwrap()
        .parent()
        .unwrap()
        .to_path_buf()
}

pub(crate) fn library(name: &str) -> PathBuf {
    let path = libraries().join(name);
    assert!(path.is_file(), "{} is not built", path.display());
    path
}
