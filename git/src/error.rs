//! What git could not answer.

use std::io;
use std::path::PathBuf;

/// Why a question to git has no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GitError {
    /// The program did not start.
    #[error("run `git`: {source}")]
    NotRun {
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
    /// The history of the clone is cut, and what is left of it does not connect two commits.
    #[error(
        "`{}` is a shallow clone that does not connect `{first}` and `{second}`: fetch more history \
         (`git fetch --unshallow`)",
        repository.display()
    )]
    Shallow {
        /// The repository.
        repository: PathBuf,
        /// One commit.
        first: String,
        /// The other.
        second: String,
    },
    /// Two commits have no common ancestor, so nothing says what one changed since it left the other.
    #[error("`{first}` and `{second}` have no common history in `{}`", repository.display())]
    Unrelated {
        /// The repository.
        repository: PathBuf,
        /// One commit.
        first: String,
        /// The other.
        second: String,
    },
    /// git failed in a way that says nothing about the question.
    #[error("`git {action}` in `{}` failed: {message}", repository.display())]
    Failed {
        /// The sub-command.
        action: &'static str,
        /// The repository.
        repository: PathBuf,
        /// What git said.
        message: String,
    },
}

impl GitError {
    /// The stable word for machines.
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::NotRun { .. } => "git-missing",
            Self::Repository { .. } => "repository-unusable",
            Self::Revision { .. } => "revision-unknown",
            Self::Shallow { .. } => "shallow-repository",
            Self::Unrelated { .. } => "histories-unrelated",
            Self::Failed { .. } => "git-failed",
        }
    }
}
