//! Running git in the repository that was named, whatever surrounds this process.

use crate::GitError;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

/// Where a repository is, or what its history is cut by. A hook or a wrapper may have set these; the user named a
/// folder.
const PLACES: [&str; 8] = [
    "GIT_DIR",
    "GIT_COMMON_DIR",
    "GIT_WORK_TREE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_GRAFT_FILE",
    "GIT_SHALLOW_FILE",
    "GIT_REPLACE_REF_BASE",
];

/// Runs git and waits for its end; `input` is all it can read.
///
/// The input must be less than a pipe holds (64 KiB): it is written before anything is read.
pub(crate) fn run(repository: &Path, arguments: &[&str], input: &str) -> Result<Output, GitError> {
    let mut child = start(repository, arguments, Stdio::piped())?;
    if let Some(mut stdin) = child.stdin.take() {
        // git that ends without reading says why on stderr.
        let _ = stdin.write_all(input.as_bytes());
    }
    child
        .wait_with_output()
        .map_err(|source| GitError::NotRun { source })
}

/// Starts git with pipes to its input and from its output.
pub(crate) fn start(
    repository: &Path,
    arguments: &[&str],
    errors: Stdio,
) -> Result<Child, GitError> {
    let mut command = Command::new("git");
    for name in PLACES {
        command.env_remove(name);
    }
    command
        .arg("-C")
        .arg(repository)
        .args(arguments)
        // A partial clone would ask its remote for each object it does not have.
        .env("GIT_NO_LAZY_FETCH", "1")
        // An older git fetches all the same; it must not wait for a password.
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("LC_ALL", "C")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(errors)
        .spawn()
        .map_err(|source| GitError::NotRun { source })
}

/// The first line of what git said, without control characters.
pub(crate) fn message(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let line = text.lines().next().unwrap_or_default().trim();
    if line.is_empty() {
        return output.status.to_string();
    }
    line.chars().take(300).filter(|c| !c.is_control()).collect()
}
