//! One file under two kinds of path.
//!
//! A map names the files of the source root relative to it and all others absolutely. Where that went wrong for some
//! objects (a second mount of the tree, a compiler run in another folder), looking for one spelling would miss the
//! objects that use the other. Text alone cannot tell them from objects of another file whose path ends the same, so
//! whoever finds some knows only that the file's objects are in doubt.

use crate::change::{Start, resolved};

/// The paths that do not start in the source root, by file name.
#[derive(Debug)]
pub(super) struct Elsewhere<'a> {
    sorted: Vec<(&'a str, &'a str)>,
}

impl<'a> Elsewhere<'a> {
    pub(super) fn of(paths: impl Iterator<Item = &'a str>) -> Self {
        let mut sorted: Vec<_> = paths
            .filter(|path| path.starts_with('/') || path.contains(".."))
            .filter_map(|path| Some((name(path)?, path)))
            .collect();
        sorted.sort_unstable();
        Self { sorted }
    }

    /// Those that may be the file of this path, given that they are spelled otherwise.
    pub(super) fn like(&self, path: &str) -> impl Iterator<Item = &'a str> {
        let wanted = name(path).unwrap_or_default();
        let from = self.sorted.partition_point(|(name, _)| *name < wanted);
        self.sorted[from..]
            .iter()
            .take_while(move |(name, _)| *name == wanted)
            .map(|(_, path)| *path)
            .filter(move |other| may_be_same(path, other))
    }
}

/// Whether two paths that start in different places may lead to one file: all of the shorter is the end of the
/// other. Two that start in one place are one file only if they are spelled the same.
pub(super) fn may_be_same(one: &str, other: &str) -> bool {
    if name(one) != name(other) {
        return false;
    }
    let ((start, parts), (other_start, other_parts)) = (resolved(one), resolved(other));
    match (start, other_start) {
        (Start::Root, Start::Root) | (Start::Source, Start::Source) => false,
        (Start::Root, _) => parts.ends_with(&other_parts),
        (_, Start::Root) => other_parts.ends_with(&parts),
        // How many folders lie between is not known: either may be the longer one.
        _ => parts.ends_with(&other_parts) || other_parts.ends_with(&parts),
    }
}

fn name(path: &str) -> Option<&str> {
    match path.rsplit('/').next() {
        Some("" | "." | "..") | None => resolved(path).1.pop(),
        name => name,
    }
}
