//! Which lines differ between two texts.
//!
//! Computed here rather than read from git's patches: no setting, attribute or external program of the repository
//! has a say in it.

use imara_diff::{Algorithm, Diff, InternedInput, sources::byte_lines};
use std::ops::Range;

/// Lines that one side has instead of the other's. Counted from 0, ends excluded; one side may be empty, and then
/// says between which lines of that side the others stand.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Hunk {
    /// Lines of the old text.
    pub old: Range<u32>,
    /// Lines of the new text.
    pub new: Range<u32>,
}

/// The lines that differ, first to last. A line is what ends at a line feed; all its bytes count, a carriage return
/// or a missing last line feed too.
pub fn changed_lines(old: &[u8], new: &[u8]) -> Vec<Hunk> {
    let input = InternedInput::new(byte_lines(old), byte_lines(new));
    let diff = Diff::compute(Algorithm::Histogram, &input);
    let hunks = diff.hunks().map(|hunk| Hunk {
        old: hunk.before,
        new: hunk.after,
    });
    hunks.collect()
}
