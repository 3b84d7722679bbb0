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

    fn prepare(&self, command: &mut Command) {
        command.current_dir(self.dir.path()).env("CI", "true");
        for variable in kernrec_cli::VARIABLES {
            if variable.name != "CI" {
                command.env_remove(variable.name);
            }
        }
    }

    fn filtered(&self, text: &str) -> String {
        text.replace(self.dir.path().to_str().unwrap(), "[DIR]")
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

/// The repository's root.
pub(crate) fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// A file of the real recordings.
pub(crate) fn ggml(name: &str) -> String {
    let path = repository().join("testdata/ggml-h200").join(name);
    path.to_str().unwrap().to_owned()
}
