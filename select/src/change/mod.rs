//! What changed: files by name, or the two sides of a diff.
//!
//! `path` spells files as symbol maps do, `file` is one changed file, `edit` what happened to its lines.

mod edit;
mod error;
mod file;
mod path;

pub use edit::Edit;
pub use error::ChangeError;
pub use file::{ChangedFile, FileStatus};
pub use path::ChangedPath;
pub(crate) use path::{Start, lexical, resolved};

use kernrec_git::{Blobs, Diff, GitError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The most files that are judged one by one: a change of more is a new tree, and everything must run.
pub const MAX_CHANGED_FILES: usize = 20_000;

/// What an answer takes for granted about the change. One word per assumption, for machines.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Assumes {
    /// Only device code changed: nothing tells a changed launcher from a changed kernel.
    DeviceCode,
}

impl Assumes {
    /// One sentence for people.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::DeviceCode => {
                "Holds for changed device code only: changed host code in these files is not judged."
            }
        }
    }
}

/// The changed files of one question, sorted and without repetition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    files: BTreeMap<ChangedPath, ChangedFile>,
    range: Option<ChangeRange>,
}

/// Between which commits a change lies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangeRange {
    /// The commit that it starts from.
    pub base: String,
    /// The commit that it leads to.
    pub head: String,
}

impl Change {
    /// A change known by its file names only (`--changed-file`).
    pub fn of_files<P: AsRef<str>>(
        paths: impl IntoIterator<Item = P>,
    ) -> Result<Self, ChangeError> {
        let files: Vec<ChangedFile> = paths
            .into_iter()
            .map(|path| ChangedPath::new(path.as_ref()).map(ChangedFile::named))
            .collect::<Result<_, _>>()?;
        Self::of(files)
    }

    /// A change between two commits. What happened to the lines of a file is read by [`Self::read_edits`].
    pub fn of_diff(diff: &Diff) -> Result<Self, ChangeError> {
        // Before anything is made of them.
        if diff.files.len() > MAX_CHANGED_FILES {
            return Err(ChangeError::TooMany {
                count: diff.files.len(),
            });
        }
        let range = ChangeRange {
            base: diff.base.to_string(),
            head: diff.head.to_string(),
        };
        Ok(Self {
            range: Some(range),
            ..Self::of(diff.files.iter().map(ChangedFile::diffed))?
        })
    }

    /// Between which commits it lies, if it comes from a diff.
    pub fn range(&self) -> Option<&ChangeRange> {
        self.range.as_ref()
    }

    fn of(files: impl IntoIterator<Item = ChangedFile>) -> Result<Self, ChangeError> {
        let files: BTreeMap<ChangedPath, ChangedFile> = files
            .into_iter()
            .map(|file| (file.path.clone(), file))
            .collect();
        match files.len() {
            0 => Err(ChangeError::Nothing),
            1..=MAX_CHANGED_FILES => Ok(Self { files, range: None }),
            count => Err(ChangeError::TooMany { count }),
        }
    }

    /// Reads both sides of the files that are wanted, and which lines differ. A file with one side, or with content
    /// that is no text, stays without an edit: all of it changed.
    pub fn read_edits(
        &mut self,
        blobs: &mut Blobs,
        mut is_wanted: impl FnMut(&ChangedPath) -> bool,
    ) -> Result<(), GitError> {
        for file in self.files.values_mut().filter(|file| is_wanted(&file.path)) {
            file.read_edit(blobs)?;
        }
        Ok(())
    }

    /// The files, sorted by path. At least one.
    pub fn files(&self) -> impl Iterator<Item = &ChangedFile> {
        self.files.values()
    }
}
