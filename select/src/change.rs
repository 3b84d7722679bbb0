//! What changed: file paths in the spelling that symbol maps use.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;

/// One changed file: relative to the source root, or absolute. Never empty, no `.` or `..` components.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChangedPath(Box<str>);

impl ChangedPath {
    /// Takes a path as a person or a diff spells it: `./` and doubled slashes are dropped.
    pub fn new(path: &str) -> Result<Self, ChangeError> {
        if path.split('/').any(|part| part == "..") {
            return Err(ChangeError::ParentComponent { path: shown(path) });
        }
        match lexical(path) {
            Some(normal) => Ok(Self(normal.into_boxed_str())),
            None => Err(ChangeError::NoFile { path: shown(path) }),
        }
    }

    /// The path.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ChangedPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// What an answer takes for granted about the change. One word per assumption, for machines.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Assumes {
    /// Only device code changed: without a diff nothing tells a changed launcher from a changed kernel.
    DeviceCode,
}

impl Assumes {
    /// One sentence for people.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::DeviceCode => {
                "Holds for changed device code only: without a diff, changed host code in these files is not judged."
            }
        }
    }
}

/// The changed files of one question, sorted and without repetition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    files: BTreeSet<ChangedPath>,
}

impl Change {
    /// A change known by its file names only (`--changed-file`).
    pub fn of_files<P: AsRef<str>>(
        paths: impl IntoIterator<Item = P>,
    ) -> Result<Self, ChangeError> {
        let files: BTreeSet<ChangedPath> = paths
            .into_iter()
            .map(|path| ChangedPath::new(path.as_ref()))
            .collect::<Result<_, _>>()?;
        if files.is_empty() {
            return Err(ChangeError::Nothing);
        }
        Ok(Self { files })
    }

    /// The files, sorted. At least one.
    pub fn files(&self) -> impl Iterator<Item = &ChangedPath> {
        self.files.iter()
    }

    /// What an answer about this change takes for granted.
    pub fn assumes(&self) -> Vec<Assumes> {
        vec![Assumes::DeviceCode]
    }
}

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
            Self::Nothing => "no-changed-file",
        }
    }
}

/// Where the text of a path starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Start {
    /// At the root of the file system.
    Root,
    /// In the source root.
    Source,
    /// Above the source root, by `..`.
    Above,
}

/// Resolves `.`, `..` and doubled slashes by text alone: where the path starts, and what follows.
pub(crate) fn resolved(path: &str) -> (Start, Vec<&str>) {
    let mut start = if path.starts_with('/') {
        Start::Root
    } else {
        Start::Source
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                // Nothing is above the root of the file system: there `..` means the root itself.
                if parts.pop().is_none() && start == Start::Source {
                    start = Start::Above;
                }
            }
            part => parts.push(part),
        }
    }
    (start, parts)
}

/// The plain spelling of a path; `None` when nothing is left or a `..` leaves the source root.
pub(crate) fn lexical(path: &str) -> Option<String> {
    let (start, parts) = resolved(path);
    let joined = parts.join("/");
    match start {
        Start::Root if !parts.is_empty() => Some(format!("/{joined}")),
        Start::Source if !parts.is_empty() => Some(joined),
        Start::Root | Start::Source | Start::Above => None,
    }
}

fn shown(path: &str) -> String {
    path.chars()
        .take(200)
        .flat_map(char::escape_debug)
        .collect()
}
