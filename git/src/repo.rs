//! One clone, and the questions to it.

use crate::GitError;
use crate::program::{message, run};
use kernrec_schemas::{Commit, Timestamp};
use std::fmt;
use std::path::{Path, PathBuf};

/// A clone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repo {
    dir: PathBuf,
}

/// The full name of a commit that the repository holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectId(String);

impl ObjectId {
    /// The least digits of a commit's name that are looked up; git's own default.
    const MIN_DIGITS: usize = 7;

    pub(crate) fn new(text: &str) -> Option<Self> {
        let is_hex = |b: u8| matches!(b, b'0'..=b'9' | b'a'..=b'f');
        // SHA-1 and SHA-256 repositories.
        let is_id = matches!(text.len(), 40 | 64) && text.bytes().all(is_hex);
        is_id.then(|| Self(text.to_owned()))
    }

    /// Whether the commit is spelt by the first digits of this name.
    fn is_named_by(&self, commit: &Commit) -> bool {
        let text = commit.as_str();
        text.len() >= Self::MIN_DIGITS && self.0.starts_with(text)
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Repo {
    /// The clone in this folder; nothing is looked at yet.
    pub fn new(dir: impl Into<PathBuf>) -> Self {
        Self { dir: dir.into() }
    }

    /// Its folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Whether its history is cut: then "is an ancestor" can be believed, and "is none" cannot.
    pub fn is_shallow(&self) -> Result<bool, GitError> {
        let output = run(&self.dir, &["rev-parse", "--is-shallow-repository"], "")?;
        if output.status.success() {
            return Ok(output.stdout.starts_with(b"true"));
        }
        Err(GitError::Repository {
            repository: self.dir.clone(),
            message: message(&output),
        })
    }

    /// The commit that a revision names: a branch, a tag, `HEAD~3`, a commit.
    pub fn resolve(&self, revision: &str) -> Result<ObjectId, GitError> {
        let commit = format!("{revision}^{{commit}}");
        let arguments = [
            "rev-parse",
            "--verify",
            "--quiet",
            "--end-of-options",
            &commit,
        ];
        let output = run(&self.dir, &arguments, "")?;
        let text = String::from_utf8_lossy(&output.stdout);
        if let (true, Some(id)) = (output.status.success(), ObjectId::new(text.trim())) {
            return Ok(id);
        }
        // No commit there, or no repository at all?
        self.is_shallow()?;
        Err(GitError::Revision {
            revision: revision.to_owned(),
            repository: self.dir.clone(),
        })
    }

    /// The full name of each commit that the repository has; at most 256 are asked about.
    ///
    /// The commits come from a store. Anything but (the start of) an object name is passed over: `HEAD` or a branch
    /// name would be an ancestor of everything.
    pub fn known(&self, commits: &[&Commit]) -> Result<Vec<Option<ObjectId>>, GitError> {
        const ACTION: &str = "cat-file";
        let mut questions = String::new();
        for commit in commits {
            questions.extend([commit.as_str(), "^{commit}\n"]);
        }
        let output = run(
            &self.dir,
            &[ACTION, "--batch-check=%(objectname)"],
            &questions,
        )?;
        let text = String::from_utf8_lossy(&output.stdout);
        let answers: Vec<&str> = text.lines().collect();
        if !output.status.success() || answers.len() != commits.len() {
            return Err(self.failed(ACTION, message(&output)));
        }
        let id_of = |(commit, answer): (&&Commit, &str)| {
            ObjectId::new(answer).filter(|id| id.is_named_by(commit))
        };
        Ok(commits.iter().zip(answers).map(id_of).collect())
    }

    /// The full name of one commit, by the same rule.
    pub fn resolve_commit(&self, commit: &Commit) -> Result<ObjectId, GitError> {
        let unknown = || GitError::Revision {
            revision: commit.to_string(),
            repository: self.dir.clone(),
        };
        let id = self.resolve(commit.as_str())?;
        Some(id)
            .filter(|id| id.is_named_by(commit))
            .ok_or_else(unknown)
    }

    /// Whether `older` is `newer` or can be reached from it.
    pub fn reaches(&self, older: &ObjectId, newer: &ObjectId) -> Result<bool, GitError> {
        const ACTION: &str = "merge-base";
        let arguments = [ACTION, "--is-ancestor", &older.0, &newer.0];
        let output = run(&self.dir, &arguments, "")?;
        match output.status.code() {
            Some(0) => Ok(true),
            Some(1) => Ok(false),
            _ => Err(self.failed(ACTION, message(&output))),
        }
    }

    /// Whether `first` is an ancestor of `second` and not the same commit.
    ///
    /// In a shallow clone a "no" counts only if the reverse is a "yes".
    pub fn is_ancestor(&self, first: &Commit, second: &Commit) -> Result<bool, GitError> {
        let older = self.resolve_commit(first)?;
        let newer = self.resolve_commit(second)?;
        if older == newer {
            return Ok(false);
        }
        if self.reaches(&older, &newer)? {
            return Ok(true);
        }
        if self.is_shallow()? && !self.reaches(&newer, &older)? {
            return Err(GitError::Shallow {
                repository: self.dir.clone(),
                first: first.to_string(),
                second: second.to_string(),
            });
        }
        Ok(false)
    }

    /// When the commit was made, by its committer's clock.
    pub fn commit_time(&self, commit: &Commit) -> Result<Timestamp, GitError> {
        const ACTION: &str = "show";
        let id = self.resolve_commit(commit)?;
        let output = run(
            &self.dir,
            &[ACTION, "--no-patch", "--format=%ct", &id.0],
            "",
        )?;
        let text = String::from_utf8_lossy(&output.stdout);
        let time = text.trim().parse().ok().and_then(Timestamp::from_unix);
        match time {
            Some(time) if output.status.success() => Ok(time),
            _ => Err(self.failed(ACTION, message(&output))),
        }
    }

    pub(crate) fn failed(&self, action: &'static str, message: String) -> GitError {
        GitError::Failed {
            action,
            repository: self.dir.clone(),
            message,
        }
    }
}
