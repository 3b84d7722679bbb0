//! Between the record and the change: did the sources move on?
//!
//! A row's silence about a file speaks of the file as it was recorded. If the change starts from a later commit, the
//! file and everything compiled together with it must be the same there.

use kernrec_git::{EntryKind, FileChange, GitError, ObjectId, Repo};
use kernrec_schemas::Commit;

/// How the record's commit and the base of the change are related.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Lineage {
    /// Nobody asked a repository.
    #[default]
    Unchecked,
    /// The record's commit is an ancestor of the base, or the base itself.
    Ancestor(Moved),
    /// It is none, or that cannot be told: the whole record may only add steps.
    Broken {
        /// The stable word.
        reason: String,
        /// The words for people.
        problem: String,
    },
}

/// Files that changed between two commits.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Moved {
    /// By path, in the map's spelling.
    files: Vec<String>,
    /// Submodules and links: everything below may be another.
    folders: Vec<String>,
}

impl Lineage {
    /// Asks a clone how the commit of a record and the base of a change are related.
    pub fn between(repo: &Repo, record: Option<&Commit>, base: &ObjectId) -> Self {
        match traced(repo, record, base) {
            Ok(lineage) => lineage,
            Err(error) => Self::Broken {
                reason: error.reason().to_owned(),
                problem: error.to_string(),
            },
        }
    }

    /// The files that moved; `None` when the record's commit and the base are not related as they must be.
    pub(crate) fn moved(&self) -> Option<&Moved> {
        const NOTHING: &Moved = &Moved {
            files: Vec::new(),
            folders: Vec::new(),
        };
        match self {
            Self::Unchecked => Some(NOTHING),
            Self::Ancestor(moved) => Some(moved),
            Self::Broken { .. } => None,
        }
    }
}

impl Moved {
    /// The files of a diff.
    pub fn of(changes: &[FileChange]) -> Self {
        let mut moved = Self::default();
        for change in changes {
            // A map is JSON, so it can name such a file only in this way, if at all.
            let path = String::from_utf8_lossy(&change.path).into_owned();
            let mut entries = change.old.iter().chain(&change.new);
            if entries.any(|entry| matches!(entry.kind, EntryKind::Submodule | EntryKind::Link)) {
                moved.folders.push(format!("{path}/"));
            }
            moved.files.push(path);
        }
        moved
    }

    /// Files by name, in the map's spelling.
    pub fn of_files<P: Into<String>>(files: impl IntoIterator<Item = P>) -> Self {
        Self {
            files: files.into_iter().map(Into::into).collect(),
            folders: Vec::new(),
        }
    }

    pub(crate) fn files(&self) -> &[String] {
        &self.files
    }

    /// Whether a file moved, or something that it lies below.
    pub(crate) fn contains(&self, path: &str) -> bool {
        self.files.iter().any(|file| file == path)
            || self
                .folders
                .iter()
                .any(|folder| path.starts_with(folder.as_str()))
    }

    /// Folders, each with a slash at its end.
    pub(crate) fn folders(&self) -> &[String] {
        &self.folders
    }
}

fn traced(repo: &Repo, record: Option<&Commit>, base: &ObjectId) -> Result<Lineage, GitError> {
    let Some(record) = record else {
        return Ok(Lineage::Broken {
            reason: "record-without-commit".to_owned(),
            problem: "the record names no commit".to_owned(),
        });
    };
    let commit = repo.resolve_commit(record)?;
    if !repo.reaches(&commit, base)? {
        return Ok(Lineage::Broken {
            reason: "record-not-an-ancestor".to_owned(),
            problem: format!(
                "the record's commit `{record}` is no ancestor of the change's base `{base}`"
            ),
        });
    }
    let changes = repo.changed_files(&commit, base)?;
    Ok(Lineage::Ancestor(Moved::of(&changes)))
}
