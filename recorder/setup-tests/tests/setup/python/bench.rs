//! A virtual environment with the fake packages, and what a recorded step left.

use crate::bench::{Bench, HOST};
use crate::pythons;
use crate::tree::TREE;
use kernrec_schemas::Backend;
use kernrec_schemas::function_recording::{
    FunctionRecording, SessionNotes, is_function_recording_name, is_session_notes_name,
};
use kernrec_schemas::recording::ProcessState;
use kernrec_schemas::sidecar::Sidecar;
use kernrec_store::bundle::{self, PYTHON_SIDECAR};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What enters something of both packages, in a step.
pub(crate) const PROGRAM: &str =
    "import vllm, aiter.ops\nprint(vllm.Engine().run(), aiter.ops.gemm())\n";
/// What it prints.
pub(crate) const PRINTED: &str = "[0, 1] 1\n";

/// Both ways to put the recorder before a program.
pub(crate) const MODES: [&str; 2] = ["container", "host"];

/// A step's world.
pub(crate) struct Step {
    pub(crate) bench: Bench,
    /// The `site-packages` of its virtual environment.
    pub(crate) site: PathBuf,
}

/// What Python left of a job.
#[derive(Debug)]
pub(crate) struct Left {
    pub(crate) files: BTreeMap<String, Vec<u8>>,
    pub(crate) sidecar: Sidecar,
    /// File, qualified name and line of every function, from the last two folders on, over all recordings.
    pub(crate) functions: Vec<String>,
    pub(crate) states: Vec<ProcessState>,
}

impl Step {
    /// An environment with the packages in `site-packages`.
    pub(crate) fn new(python: &Path) -> Self {
        let step = Self::empty(python);
        for (path, text) in TREE {
            let path = step.site.join(path);
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(path, text).unwrap();
        }
        step
    }

    /// An environment without packages.
    pub(crate) fn empty(python: &Path) -> Self {
        let bench = Bench::new();
        let venv = bench.path("venv");
        let mut command = Command::new(python);
        command.args(["-m", "venv", "--without-pip"]).arg(&venv);
        assert!(command.status().unwrap().success());
        let ask = "import sysconfig; print(sysconfig.get_path('purelib'))";
        let site = PathBuf::from(pythons::ask(&venv.join("bin/python"), ask));
        let step = Self { bench, site };
        step.file("main.py", PROGRAM);
        step
    }

    pub(crate) fn file(&self, name: &str, text: &str) {
        let path = self.bench.path(name);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, text).unwrap();
    }

    pub(crate) fn python(&self) -> PathBuf {
        self.bench.path("venv/bin/python")
    }

    /// A program of the step's, with its environment activated.
    pub(crate) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = self.bench.command(program);
        let path = std::env::var_os("PATH").unwrap();
        let folders = [self.bench.path("venv/bin")].into_iter();
        let path = std::env::join_paths(folders.chain(std::env::split_paths(&path))).unwrap();
        command
            .env("PATH", path)
            .env("VIRTUAL_ENV", self.bench.path("venv"));
        command
    }

    /// `kernrec run` of a command with Python alone recorded.
    pub(crate) fn run(&self, mode: &str, command: &[&str]) -> Command {
        let mut run = self.command(HOST);
        run.args(["run", "--step", "demo", "--backend", "none"])
            .args(["--python", mode, "--"])
            .args(command);
        run
    }

    /// What is in the one bundle.
    pub(crate) fn left(&self) -> Left {
        let bundles = self.bench.bundles();
        assert_eq!(bundles.len(), 1, "{bundles:?}");
        read(&bundles[0])
    }

    /// Every path of the test's folder but job folders' and compiled files.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        list(&self.bench.path("."), &mut found);
        found.sort();
        found
    }

    /// The copies of the recorder in a job's folder.
    pub(crate) fn copies(&self, job: &str) -> usize {
        let copies = self.bench.path(".kernrec").join(job).join(".python");
        fs_err::read_dir(copies).map_or(0, Iterator::count)
    }
}

pub(crate) fn read(bundle: &Path) -> Left {
    let mut files = BTreeMap::new();
    let read = bundle::read_file(bundle, &mut |name, content| {
        files.insert(name.to_owned(), content.to_vec());
    });
    read.unwrap();
    let sidecar = Sidecar::parse(&files[PYTHON_SIDECAR]).unwrap();
    assert!(sidecar.faults.is_empty(), "{:?}", sidecar.faults);
    assert_eq!(sidecar.backend, Some(Backend::Python));
    let mut functions = Vec::new();
    let mut states = Vec::new();
    let recordings = files
        .iter()
        .filter(|(name, _)| is_function_recording_name(name));
    for (_, bytes) in recordings {
        let recording = FunctionRecording::read(bytes);
        states.push(recording.state);
        functions.extend(recording.functions.iter().map(|function| {
            let parts: Vec<_> = function.file.rsplitn(3, '/').collect();
            format!(
                "{}/{} {} {}",
                parts[1], parts[0], function.qualname, function.line
            )
        }));
    }
    Left {
        files,
        sidecar,
        functions,
        states,
    }
}

impl Left {
    #[track_caller]
    pub(crate) fn assert_entered(&self, functions: &[&str]) {
        for function in functions {
            let has = self.functions.iter().any(|other| other == function);
            assert!(has, "no {function} in {:#?}", self.functions);
        }
    }

    /// Every recording is clean, there are so many, and the program's functions are among them.
    #[track_caller]
    pub(crate) fn assert_recorded(&self, processes: usize) {
        assert_eq!(self.states, vec![ProcessState::Clean; processes]);
        self.assert_entered(&["vllm/engine.py Engine.run 5", "aiter/ops.py gemm 1"]);
        assert_eq!(self.sidecar.collection_available, Some(true));
        assert_eq!(self.sidecar.collection_error, None);
        assert_eq!(self.sidecar.unrecorded_processes, 0);
    }

    pub(crate) fn notes(&self) -> Vec<SessionNotes> {
        let notes = self
            .files
            .iter()
            .filter(|(name, _)| is_session_notes_name(name));
        notes.map(|(_, bytes)| SessionNotes::read(bytes)).collect()
    }
}

fn list(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs_err::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.ends_with(".kernrec") || path.ends_with("__pycache__") {
            continue;
        }
        found.push(path.clone());
        if path.is_dir() && !path.is_symlink() {
            list(&path, found);
        }
    }
}
