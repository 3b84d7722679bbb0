//! Which of two records is the newer one.

use super::PublishError;
use super::current::Current;
use kernrec_git::Repo;
use kernrec_schemas::{BuildNumber, Commit};
use serde::Serialize;

/// Why the current record counts as the newer one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(tag = "rule", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Supersession {
    /// It is of a later build.
    #[error("build {current} is current")]
    OlderBuild {
        /// The current build.
        current: BuildNumber,
    },
    /// It is of the same build and has more usable rows.
    #[error("the current record of the same build has {current} usable rows, this one {found}")]
    FewerUsableRows {
        /// Usable rows of the record to publish.
        found: u64,
        /// Usable rows of the current one.
        current: u64,
    },
    /// Its commit is a descendant of this one's.
    #[error("the commit is an ancestor of `{current}`, which is current")]
    AncestorCommit {
        /// The current commit.
        current: Commit,
    },
}

/// The rule by which `current` is newer than a record of this commit, build and number of usable rows.
pub(super) fn superseded_by(
    current: &Current,
    commit: &Commit,
    build: BuildNumber,
    usable_rows: u64,
    repo: Option<&Repo>,
) -> Result<Option<Supersession>, PublishError> {
    let record = &current.versioned.pointer.current;
    if build < record.build {
        return Ok(Some(Supersession::OlderBuild {
            current: record.build,
        }));
    }
    if let Some(counts) = current
        .counts
        .filter(|counts| build == record.build && usable_rows < counts.usable_rows)
    {
        return Ok(Some(Supersession::FewerUsableRows {
            found: usable_rows,
            current: counts.usable_rows,
        }));
    }
    let Some(repo) = repo.filter(|_| *commit != record.commit) else {
        return Ok(None);
    };
    Ok(repo
        .is_ancestor(commit, &record.commit)?
        .then(|| Supersession::AncestorCommit {
            current: record.commit.clone(),
        }))
}
