//! Which of several commits is an ancestor of a revision: asked of git, never guessed.

use kernrec_schemas::Commit;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Why git could not say which record is an ancestor.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AncestryError {
    /// There is no git program.
    #[error("run `git`: {source}")]
    NoGit {
        /// What the system said.
        source: io::Error,
    },
    /// The folder is in no repository that git will use.
    #[error("`{}` is not a usable git repository: {message}", repository.display())]
    Repository {
        /// The folder.
        repository: PathBuf,
        /// What git said.
        message: String,
    },
    /// The revision names no commit of the repository.
    #[error("`{revision}` names no commit in `{}`", repository.display())]
    Revision {
        /// The revision.
        revision: String,
        /// The repository.
        repository: PathBuf,
    },
    /// The history needed is not in the clone.
    #[error(
        "`{}` is a shallow clone, in which none of the recorded commits is an ancestor of `{revision}`: \
         fetch more history (`git fetch --unshallow`)",
        repository.display()
    )]
    Shallow {
        /// The revision.
        revision: String,
        /// The repository.
        repository: PathBuf,
    },
    /// No record is of an ancestor.
    #[error(
        "none of {records} recorded commits is an ancestor of `{revision}`; `{}` does not know {unknown} of them",
        repository.display()
    )]
    NoAncestor {
        /// The revision.
        revision: String,
        /// The repository.
        repository: PathBuf,
        /// How many commits were asked about.
        records: usize,
        /// How many of them the repository does not have.
        unknown: usize,
    },
    /// git failed in a way that says nothing about the question.
    #[error("`git {action}` in `{}` failed: {message}", repository.display())]
    Git {
        /// The sub-command.
        action: &'static str,
        /// The repository.
        repository: PathBuf,
        /// What git said.
        message: String,
    },
}

impl AncestryError {
    /// The stable word for machines.
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::NoGit { .. } => "git-missing",
            Self::Repository { .. } => "repository-unusable",
            Self::Revision { .. } => "revision-unknown",
            Self::Shallow { .. } => "shallow-repository",
            Self::NoAncestor { .. } => "no-ancestor-record",
            Self::Git { .. } => "git-failed",
        }
    }
}

/// The index of the first of `commits` that is the revision or an ancestor of it.
///
/// In a shallow clone a yes is certain and a no is not: there, none at all is reported as the clone's fault.
pub(super) fn newest_ancestor(
    commits: &[&Commit],
    revision: &str,
    repository: &Path,
) -> Result<usize, AncestryError> {
    let git = Git { repository };
    let shallow = git.is_shallow()?;
    let tip = git.resolve(revision)?;
    let known = git.known(commits)?;
    for (index, commit) in known.iter().enumerate() {
        if let Some(commit) = commit
            && git.is_ancestor(commit, &tip)?
        {
            return Ok(index);
        }
    }
    let (revision, repository) = (revision.to_owned(), repository.to_path_buf());
    Err(if shallow {
        AncestryError::Shallow {
            revision,
            repository,
        }
    } else {
        AncestryError::NoAncestor {
            revision,
            repository,
            records: commits.len(),
            unknown: known.iter().filter(|commit| commit.is_none()).count(),
        }
    })
}

struct Git<'a> {
    repository: &'a Path,
}

impl Git<'_> {
    fn is_shallow(&self) -> Result<bool, AncestryError> {
        let output = self.run(&["rev-parse", "--is-shallow-repository"], "")?;
        if output.status.success() {
            return Ok(output.stdout.starts_with(b"true"));
        }
        Err(AncestryError::Repository {
            repository: self.repository.to_path_buf(),
            message: message(&output),
        })
    }

    /// The full id of the commit a revision names.
    fn resolve(&self, revision: &str) -> Result<String, AncestryError> {
        let commit = format!("{revision}^{{commit}}");
        let arguments = [
            "rev-parse",
            "--verify",
            "--quiet",
            "--end-of-options",
            &commit,
        ];
        let output = self.run(&arguments, "")?;
        let id = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        if output.status.success() && is_id(&id) {
            return Ok(id);
        }
        Err(AncestryError::Revision {
            revision: revision.to_owned(),
            repository: self.repository.to_path_buf(),
        })
    }

    /// The full id of each commit that the repository has.
    ///
    /// The commits come from a store. Anything but an object id is passed over: `HEAD` or a branch name would
    /// be an ancestor of everything.
    fn known(&self, commits: &[&Commit]) -> Result<Vec<Option<String>>, AncestryError> {
        let mut questions = String::new();
        for commit in commits {
            questions.extend([commit.as_str(), "^{commit}\n"]);
        }
        let action = "cat-file";
        let output = self.run(&[action, "--batch-check=%(objectname)"], &questions)?;
        let text = String::from_utf8_lossy(&output.stdout);
        let answers: Vec<&str> = text.lines().collect();
        if !output.status.success() || answers.len() != commits.len() {
            return Err(self.failed(action, &output));
        }
        let id_of = |(commit, answer): (&&Commit, &str)| {
            let named = is_id(answer) && answer.starts_with(commit.as_str());
            (named && commit.as_str().len() >= 7).then(|| answer.to_owned())
        };
        Ok(commits.iter().zip(answers).map(id_of).collect())
    }

    fn is_ancestor(&self, commit: &str, tip: &str) -> Result<bool, AncestryError> {
        let action = "merge-base";
        let output = self.run(&[action, "--is-ancestor", commit, tip], "")?;
        match output.status.code() {
            Some(0) => Ok(true),
            Some(1) => Ok(false),
            _ => Err(self.failed(action, &output)),
        }
    }

    fn failed(&self, action: &'static str, output: &Output) -> AncestryError {
        AncestryError::Git {
            action,
            repository: self.repository.to_path_buf(),
            message: message(output),
        }
    }

    /// Runs git in the repository that was named, whatever a surrounding hook has put into the environment.
    fn run(&self, arguments: &[&str], input: &str) -> Result<Output, AncestryError> {
        let no_git = |source| AncestryError::NoGit { source };
        let mut child = Command::new("git")
            .arg("-C")
            .arg(self.repository)
            .args(arguments)
            .env_remove("GIT_DIR")
            .env_remove("GIT_WORK_TREE")
            .env_remove("GIT_OBJECT_DIRECTORY")
            // A partial clone would ask its remote for each commit it does not have.
            .env("GIT_NO_LAZY_FETCH", "1")
            .env("LC_ALL", "C")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(no_git)?;
        if let Some(mut stdin) = child.stdin.take() {
            // git that ends without reading says why on stderr. The questions about a whole history are less
            // than a pipe holds, so writing them all before reading cannot block.
            let _ = stdin.write_all(input.as_bytes());
        }
        child.wait_with_output().map_err(no_git)
    }
}

fn is_id(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

/// The first line of what git said.
fn message(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let line = text.lines().next().unwrap_or_default().trim();
    if line.is_empty() {
        return output.status.to_string();
    }
    line.chars().take(300).filter(|c| !c.is_control()).collect()
}
