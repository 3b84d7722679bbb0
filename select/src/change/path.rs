//! File paths in the spelling that symbol maps use.

use super::ChangeError;
use std::fmt;

/// One changed path: relative to the source root, or absolute. Never empty, no `.` or `..` components.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChangedPath {
    text: Box<str>,
    is_exact: bool,
}

impl ChangedPath {
    /// Takes a path as a person or a diff spells it: `./` and doubled slashes are dropped.
    pub fn new(path: &str) -> Result<Self, ChangeError> {
        if path.split('/').any(|part| part == "..") {
            return Err(ChangeError::ParentComponent { path: shown(path) });
        }
        match lexical(path) {
            Some(normal) => Ok(Self {
                text: normal.into_boxed_str(),
                is_exact: true,
            }),
            None => Err(ChangeError::NoFile { path: shown(path) }),
        }
    }

    /// A path that is not what a map or a pattern could name: of no text, or of more than one file. `text` is for
    /// people.
    pub(super) fn opaque(text: String) -> Self {
        Self {
            text: text.into_boxed_str(),
            is_exact: false,
        }
    }

    /// The path; of one that is not [exact](Self::is_exact), what can be shown of it.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether the path names one file. If not (it is no UTF-8, a submodule, a link), nothing can be looked up by it,
    /// and any file may have changed.
    pub fn is_exact(&self) -> bool {
        self.is_exact
    }
}

impl fmt::Display for ChangedPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
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
