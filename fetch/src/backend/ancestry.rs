//! Which of several commits is an ancestor of a revision: asked of git, never guessed.

use kernrec_git::{GitError, Repo};
use kernrec_schemas::Commit;
use std::path::{Path, PathBuf};

/// Why there is no record of an ancestor.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AncestryError {
    /// git has no answer.
    #[error(transparent)]
    Git(#[from] GitError),
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
}

impl AncestryError {
    /// The stable word for machines.
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::Git(source) => source.reason(),
            Self::Shallow { .. } => "shallow-repository",
            Self::NoAncestor { .. } => "no-ancestor-record",
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
    let repo = Repo::new(repository);
    let shallow = repo.is_shallow()?;
    let tip = repo.resolve(revision)?;
    let known = repo.known(commits)?;
    for (index, commit) in known.iter().enumerate() {
        if let Some(commit) = commit
            && repo.reaches(commit, &tip)?
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
