//! A folder of its own for each test, the programs, and what they said with the changing parts replaced.

use assert_cmd::Command;
use std::path::{Path, PathBuf};

/// One test's world.
pub(crate) struct Context {
    dir: tempfile::TempDir,
}

/// How a program ended and what it said.
pub(crate) struct Ran {
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Context {
    pub(crate) fn new() -> Self {
        Self {
            dir: tempfile::tempdir().unwrap(),
        }
    }

    /// A path in the test's folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Writes a file of the test's folder.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(&path, content).unwrap();
        path
    }

    /// `kernrec`, run in the test's folder with none of the documented variables set.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kernrec"));
        self.prepare(&mut command);
        command
    }

    /// Runs `kernrec`.
    pub(crate) fn kernrec<const N: usize>(&self, args: [&str; N]) -> Ran {
        self.run(self.command().args(args))
    }

    /// Runs a prepared command.
    pub(crate) fn run(&self, command: &mut Command) -> Ran {
        let output = command.output().unwrap();
        let text = |bytes: Vec<u8>| self.filtered(&String::from_utf8(bytes).unwrap());
        Ran {
            status: output.status.code().unwrap(),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }

    /// Every file below the test's folder with its content: to prove that nothing was changed.
    pub(crate) fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut found = Vec::new();
        let mut folders = vec![self.dir.path().to_path_buf()];
        while let Some(folder) = folders.pop() {
            for entry in fs_err::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() && !path.is_symlink() {
                    folders.push(path);
                } else {
                    let content = fs_err::read(&path).unwrap_or_default();
                    found.push((path, content));
                }
            }
        }
        found.sort();
        found
    }

    /// A store with the real record of 129 steps, in the folder `store`.
    pub(crate) fn published() -> Self {
        let context = Self::new();
        let ran = context.publish([]);
        assert_eq!(ran.status, 0, "{ran}");
        context
    }

    /// Publishes the real recordings to the folder `store`, with more arguments.
    pub(crate) fn publish<const N: usize>(&self, more: [&str; N]) -> Ran {
        self.run(self.publisher().args(more))
    }

    /// The command of that.
    pub(crate) fn publisher(&self) -> Command {
        let (recordings, map) = (ggml("recordings"), ggml("kernel_symbol_map.json.gz"));
        let mut command = self.command();
        command.args([
            "publish", "--store", "store", "--commit", COMMIT, "--build", "1001",
        ]);
        command.args([
            "--recordings",
            &recordings,
            "--symbol-map",
            &map,
            "--bundles",
            "none",
        ]);
        command
    }

    /// A store and the data fetched from it, in the folder `coverage-data`.
    pub(crate) fn fetched() -> Self {
        let context = Self::published();
        let ran = context.kernrec(["fetch", "--url", "store", "--backend", "cuda"]);
        assert_eq!(ran.status, 0, "{ran}");
        context
    }

    fn prepare(&self, command: &mut Command) {
        command.current_dir(self.dir.path()).env("CI", "true");
        for variable in kernrec_cli::VARIABLES {
            if variable.name != "CI" {
                command.env_remove(variable.name);
            }
        }
        for variable in kernrec_setup::variables::READ {
            command.env_remove(variable.name);
        }
    }

    fn filtered(&self, text: &str) -> String {
        let text = text.replace(self.dir.path().to_str().unwrap(), "[DIR]");
        without_times(&text.replace(repository().to_str().unwrap(), "[REPOSITORY]"))
    }
}

impl std::fmt::Display for Ran {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "exit status: {}\n----- stdout -----\n{}----- stderr -----\n{}",
            self.status, self.stdout, self.stderr
        )
    }
}

/// Replaces what the wall clock puts into a text: the times of today, and ages.
pub(crate) fn without_times(text: &str) -> String {
    let words = text.split_inclusive([' ', '\n', '"', ',']);
    let mut out = String::with_capacity(text.len());
    let mut words = words.peekable();
    while let Some(word) = words.next() {
        let next = words.peek().map(|next| next.trim_end());
        let unit =
            next.is_some_and(|next| next.starts_with("second") || next.starts_with("minute"));
        let end = word.trim_end_matches([' ', '\n', '"', ',']).len();
        let (core, rest) = word.split_at(end);
        if unit && core.parse::<u64>().is_ok() {
            let unit = words.next().unwrap_or_default();
            out.push_str("[AGE]");
            out.push_str(&unit[unit.trim_end().len()..]);
        } else if core.len() == 20
            && core.ends_with('Z')
            && core.as_bytes()[10] == b'T'
            && !KEPT.contains(&core)
        {
            out.push_str("[TIME]");
            out.push_str(rest);
        } else {
            out.push_str(word);
        }
    }
    out
}

/// Times of the test documents, which no clock made.
const KEPT: [&str; 4] = [
    "2026-11-30T00:00:00Z",
    "2030-01-01T00:00:00Z",
    "2030-01-02T00:00:00Z",
    "2030-01-03T00:00:00Z",
];

/// The commit of the real recordings.
pub(crate) const COMMIT: &str = "d99724f2b141fed9e1a9f402213506c081433465";

/// The repository's root.
pub(crate) fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// A file of the real recordings.
pub(crate) fn ggml(name: &str) -> String {
    let path = repository().join("testdata/ggml-h200").join(name);
    path.to_str().unwrap().to_owned()
}
