//! Questions to a git repository, asked of the `git` program.

use kernrec_schemas::{Commit, Timestamp};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A clone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repo {
    dir: PathBuf,
}

/// What git could not answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RepoError {
    /// The program did not start.
    #[error("run git in `{}`: {source}", dir.display())]
    Git {
        /// The clone.
        dir: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The clone does not hold the commit.
    #[error("`{}` does not hold the commit `{commit}`: {message}", dir.display())]
    NoCommit {
        /// The clone.
        dir: PathBuf,
        /// The commit.
        commit: Commit,
        /// What git said.
        message: String,
    },
    /// The history of the clone is cut, and what is left of it does not connect the two commits.
    #[error("`{}` is a shallow clone that does not connect `{first}` and `{second}`", dir.display())]
    Shallow {
        /// The clone.
        dir: PathBuf,
        /// One commit.
        first: Commit,
        /// The other.
        second: Commit,
    },
    /// Git failed otherwise.
    #[error("git {action} in `{}`: {message}", dir.display())]
    Failed {
        /// The clone.
        dir: PathBuf,
        /// The git command.
        action: &'static str,
        /// What git said.
        message: String,
    },
}

impl RepoError {
    /// The stable word.
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::Git { .. } => "git-not-run",
            Self::NoCommit { .. } => "commit-not-in-repository",
            Self::Shallow { .. } => "shallow-repository",
            Self::Failed { .. } => "git-failed",
        }
    }
}

impl Repo {
    /// The clone in this folder; nothing is looked at yet.
    pub fn new(dir: impl Into<PathBuf>) -> Self {
        Self { dir: dir.into() }
    }

    /// Whether `first` is an ancestor of `second` and not the same commit.
    ///
    /// In a shallow clone a "no" counts only if the reverse is a "yes".
    pub fn is_ancestor(&self, first: &Commit, second: &Commit) -> Result<bool, RepoError> {
        let older = self.resolve(first)?;
        let newer = self.resolve(second)?;
        if older == newer {
            return Ok(false);
        }
        if self.reaches(&older, &newer)? {
            return Ok(true);
        }
        if self.is_shallow()? && !self.reaches(&newer, &older)? {
            return Err(RepoError::Shallow {
                dir: self.dir.clone(),
                first: first.clone(),
                second: second.clone(),
            });
        }
        Ok(false)
    }

    /// When the commit was made, by its committer's clock.
    pub fn commit_time(&self, commit: &Commit) -> Result<Timestamp, RepoError> {
        const ACTION: &str = "show";
        let id = self.resolve(commit)?;
        let output = self.git(&[ACTION, "--no-patch", "--format=%ct", &id])?;
        let text = String::from_utf8_lossy(&output.stdout);
        let time = text.trim().parse().ok().and_then(Timestamp::from_unix);
        match time {
            Some(time) if output.status.success() => Ok(time),
            _ => Err(self.failed(ACTION, &output)),
        }
    }

    /// The full name of a commit.
    fn resolve(&self, commit: &Commit) -> Result<String, RepoError> {
        let spec = format!("{commit}^{{commit}}");
        let output = self.git(&["rev-parse", "--verify", &spec])?;
        if !output.status.success() {
            return Err(RepoError::NoCommit {
                dir: self.dir.clone(),
                commit: commit.clone(),
                message: message(&output),
            });
        }
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    fn reaches(&self, older: &str, newer: &str) -> Result<bool, RepoError> {
        const ACTION: &str = "merge-base";
        let output = self.git(&[ACTION, "--is-ancestor", older, newer])?;
        match output.status.code() {
            Some(0) => Ok(true),
            Some(1) => Ok(false),
            _ => Err(self.failed(ACTION, &output)),
        }
    }

    fn is_shallow(&self) -> Result<bool, RepoError> {
        const ACTION: &str = "rev-parse";
        let output = self.git(&[ACTION, "--is-shallow-repository"])?;
        if !output.status.success() {
            return Err(self.failed(ACTION, &output));
        }
        Ok(output.stdout.starts_with(b"true"))
    }

    fn git(&self, args: &[&str]) -> Result<Output, RepoError> {
        let dir: &Path = &self.dir;
        Command::new("git")
            .arg("-C")
            .arg(dir)
            .args(args)
            // A hook or a wrapper may have set these; the user named a folder.
            .env_remove("GIT_DIR")
            .env_remove("GIT_WORK_TREE")
            .env("LC_ALL", "C")
            .stdin(Stdio::null())
            .output()
            .map_err(|source| RepoError::Git {
                dir: self.dir.clone(),
                source,
            })
    }

    fn failed(&self, action: &'static str, output: &Output) -> RepoError {
        RepoError::Failed {
            dir: self.dir.clone(),
            action,
            message: message(output),
        }
    }
}

/// The first line of what git said, without control characters.
fn message(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let line = text.lines().next().unwrap_or("no message");
    line.chars()
        .take(200)
        .flat_map(char::escape_debug)
        .collect()
}
