//! One changed file.

use super::{ChangedPath, Edit};
use kernrec_git::{BlobId, Blobs, EntryKind, FileChange, GitError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What happened to a file.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum FileStatus {
    /// It was named as changed, and nothing else is known.
    Named,
    /// It came: a new file, or the new name of a renamed one.
    Added,
    /// It went: a removed file, or the old name of a renamed one.
    Deleted,
    /// It has another content or mode.
    Modified,
    /// It is a submodule or a link on one side: what it stands for may be many files.
    Indirect,
    /// Its path is no UTF-8, which is what maps and patterns are.
    Unspellable,
}

/// A changed file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedFile {
    /// The file.
    pub path: ChangedPath,
    /// What happened to it.
    pub status: FileStatus,
    /// What happened to its lines; `None`: not known, so all of them count as changed.
    pub edit: Option<Edit>,
    /// Both contents, of a file that is modified.
    sides: Option<(BlobId, BlobId)>,
}

impl ChangedFile {
    pub(super) fn named(path: ChangedPath) -> Self {
        Self::without_sides(path, FileStatus::Named)
    }

    pub(super) fn diffed(file: &FileChange) -> Self {
        let entries = || file.old.iter().chain(&file.new);
        let is_plain = |kind| matches!(kind, EntryKind::File | EntryKind::Executable);
        let spelled = std::str::from_utf8(&file.path).ok();
        let Some(path) = spelled.and_then(|path| ChangedPath::new(path).ok()) else {
            let shown = file.path.escape_ascii().to_string();
            return Self::without_sides(ChangedPath::opaque(shown), FileStatus::Unspellable);
        };
        if !entries().all(|entry| is_plain(entry.kind)) {
            let shown = ChangedPath::opaque(path.to_string());
            return Self::without_sides(shown, FileStatus::Indirect);
        }
        match (&file.old, &file.new) {
            (Some(old), Some(new)) => Self {
                sides: Some((old.id.clone(), new.id.clone())),
                ..Self::without_sides(path, FileStatus::Modified)
            },
            (_, None) => Self::without_sides(path, FileStatus::Deleted),
            (None, Some(_)) => Self::without_sides(path, FileStatus::Added),
        }
    }

    fn without_sides(path: ChangedPath, status: FileStatus) -> Self {
        Self {
            path,
            status,
            edit: None,
            sides: None,
        }
    }

    pub(super) fn read_edit(&mut self, blobs: &mut Blobs) -> Result<(), GitError> {
        let Some((old, new)) = &self.sides else {
            return Ok(());
        };
        if let (Some(old), Some(new)) = (blobs.read(old)?, blobs.read(new)?) {
            self.edit = Edit::between(old, new);
        }
        Ok(())
    }
}
