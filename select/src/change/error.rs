//! Changes that cannot be judged.

use super::MAX_CHANGED_FILES;

/// A list of changed files that cannot be judged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ChangeError {
    /// A `..` can leave the source root, and what it means depends on links: the caller must resolve it.
    #[error("changed file `{path}` has a `..`: give the path relative to the source root")]
    ParentComponent {
        /// The path as given, control characters escaped.
        path: String,
    },
    /// Nothing is left of the path.
    #[error("changed file `{path}` names no file")]
    NoFile {
        /// The path as given, control characters escaped.
        path: String,
    },
    /// More files than are looked at one by one.
    #[error(
        "{count} files changed, and at most {} are judged one by one",
        MAX_CHANGED_FILES
    )]
    TooMany {
        /// How many there are.
        count: usize,
    },
    /// An empty list is more likely a failed diff than a change of nothing, and would skip everything.
    #[error("no changed file was given")]
    Nothing,
}

impl ChangeError {
    /// The stable word for machines.
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::ParentComponent { .. } => "changed-file-with-parent-component",
            Self::NoFile { .. } => "changed-file-without-name",
            Self::TooMany { .. } => "too-many-changed-files",
            Self::Nothing => "no-changed-file",
        }
    }
}
