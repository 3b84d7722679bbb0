//! A folder with the recorder and fake packages, and programs run in it.

use crate::tree::TREE;
use kernrec_python_payload::{Layout, write};
use kernrec_schemas::function_recording::{
    FunctionHeader, FunctionRecording, is_function_recording_name,
};
use kernrec_schemas::recording::ProcessState;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// A place to run programs in.
pub(crate) struct Bench {
    folder: TempDir,
    python: PathBuf,
}

/// One recording, owned. Paths are from the bench's folder on.
#[derive(Debug)]
pub(crate) struct Left {
    pub(crate) text: String,
    pub(crate) functions: BTreeSet<String>,
    pub(crate) packages: BTreeSet<String>,
    pub(crate) state: ProcessState,
    pub(crate) process: u32,
    pub(crate) forked_from: Option<u32>,
    pub(crate) clean_exit: bool,
}

impl Left {
    pub(crate) fn has(&self, function: &str) -> bool {
        self.functions.contains(function)
    }

    pub(crate) fn has_error(&self, word: &str) -> bool {
        self.text
            .lines()
            .any(|line| line == format!("#error\t{word}"))
    }
}

impl Bench {
    pub(crate) fn new(python: &Path) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let bench = Self {
            folder,
            python: python.to_owned(),
        };
        write(&bench.path("host"), Layout::Path, &extension()).unwrap();
        for (path, text) in TREE {
            bench.file(&format!("src/{path}"), text);
        }
        bench
    }

    /// The folder, without links.
    pub(crate) fn base(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.base().join(name)
    }

    pub(crate) fn file(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, text).unwrap();
    }

    /// A command of the interpreter, not armed, that finds the fake packages.
    pub(crate) fn plain(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.python);
        command
            .args(arguments)
            .current_dir(self.base())
            .env("PYTHONPATH", self.path("src"))
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env_remove("KERNREC_PYTHON_DIR")
            .env_remove("KERNREC_PYTHON_ROOTS")
            .env_remove("KERNREC_PYTHON_CHECKOUT");
        command
    }

    /// The same, armed by a folder on `PYTHONPATH`.
    pub(crate) fn armed(&self, arguments: &[&str]) -> Command {
        let path = [self.path("host"), self.path("src")];
        let mut command = self.plain(arguments);
        command
            .env("PYTHONPATH", std::env::join_paths(path).unwrap())
            .env("KERNREC_PYTHON_DIR", self.path("out"));
        command
    }

    /// Runs a program without and with the recorder; it must be the same to whoever looks.
    pub(crate) fn run(&self, program: &str) -> Output {
        self.file("main.py", program);
        let plain = self.plain(&["main.py"]).output().unwrap();
        let armed = self.armed(&["main.py"]).output().unwrap();
        assert_eq!(text(&plain.stderr), text(&armed.stderr), "{program}");
        assert_eq!(text(&plain.stdout), text(&armed.stdout), "{program}");
        assert_eq!(plain.status, armed.status, "{program}");
        armed
    }

    /// What was left, in the order of the process ids.
    pub(crate) fn left(&self) -> Vec<Left> {
        let Ok(entries) = fs_err::read_dir(self.path("out")) else {
            return Vec::new();
        };
        let paths = entries.map(|entry| entry.unwrap().path());
        let mut left: Vec<Left> = paths
            .filter(|path| is_function_recording_name(path.file_name().unwrap().as_encoded_bytes()))
            .map(|path| self.read(&path))
            .collect();
        left.sort_by_key(|left| left.process);
        left
    }

    /// The only recording that was left.
    pub(crate) fn one(&self) -> Left {
        let mut left = self.left();
        assert_eq!(left.len(), 1, "{left:#?}");
        left.remove(0)
    }

    fn read(&self, path: &Path) -> Left {
        let bytes = fs_err::read(path).unwrap();
        let recording = FunctionRecording::read(&bytes);
        let base = format!("{}/", self.base().display());
        let header = recording.header.as_ref();
        Left {
            text: text(&bytes),
            functions: recording
                .functions
                .iter()
                .map(|function| {
                    let file = function.file.strip_prefix(&base).unwrap_or(&function.file);
                    format!("{file} {} {}", function.qualname, function.line)
                })
                .collect(),
            packages: recording.packages,
            state: recording.state,
            process: header.and_then(FunctionHeader::process).unwrap_or(0),
            forked_from: header.and_then(FunctionHeader::forked_from),
            clean_exit: recording.clean_exit,
        }
    }
}

/// Bytes as text.
pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The extension module that cargo built beside this program.
pub(crate) fn extension() -> PathBuf {
    let folder = std::env::current_exe().unwrap();
    let name = "libkernrec_python_extension.so";
    folder.parent().unwrap().join(name)
}

/// What an import and a run of the fake `vllm` enters.
pub(crate) const ENGINE: [&str; 7] = [
    "src/vllm/__init__.py <module> 1",
    "src/vllm/engine.py <module> 1",
    "src/vllm/engine.py Engine 4",
    "src/vllm/engine.py Engine.run 5",
    "src/vllm/engine.py Engine.run.<locals>.inner 6",
    "src/vllm/engine.py Engine.steps 10",
    "src/vllm/engine.py Engine.steps.<locals>.<genexpr> 11",
];

/// The functions of a recording are exactly these.
#[track_caller]
pub(crate) fn assert_functions(left: &Left, expected: &[&str]) {
    let functions: Vec<&str> = left.functions.iter().map(String::as_str).collect();
    let mut expected = expected.to_vec();
    expected.sort_unstable();
    assert_eq!(functions, expected, "{}", left.text);
}
