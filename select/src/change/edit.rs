//! What happened to the lines of a file.

use kernrec_git::{Hunk, changed_lines};
use std::sync::Arc;

/// How far into a file a NUL byte says that it is no text; git's own distance.
const TEXT_PROBE: usize = 8000;

/// Both sides of a text file that changed in place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// The text before. Any bytes, not necessarily UTF-8.
    pub old: Arc<[u8]>,
    /// The text after.
    pub new: Arc<[u8]>,
    /// The lines that differ, first to last, counted from 0. Empty when the texts are the same, as after a change of
    /// mode.
    pub hunks: Vec<Hunk>,
}

impl Edit {
    /// Compares two contents; `None` when one is no text.
    pub fn between(old: Vec<u8>, new: Vec<u8>) -> Option<Self> {
        let is_text = |content: &[u8]| !content[..content.len().min(TEXT_PROBE)].contains(&0);
        (is_text(&old) && is_text(&new)).then(|| Self {
            hunks: changed_lines(&old, &new),
            old: old.into(),
            new: new.into(),
        })
    }
}
