//! `A...B` and `A..B`: between which two commits a change lies.

use std::fmt;
use std::str::FromStr;

/// Two revisions to compare, in git's spelling; a missing one is `HEAD`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffRange {
    pub(crate) first: String,
    pub(crate) second: String,
    pub(crate) since_merge_base: bool,
}

/// A text that names no range.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{text}` is no range of revisions: expected `A...B` (what B changed since it left A) or `A..B` (from A to B)"
)]
pub struct RangeError {
    /// The text, control characters escaped.
    text: String,
}

impl RangeError {
    /// The stable word for machines.
    pub const fn reason(&self) -> &'static str {
        "diff-range-malformed"
    }
}

impl FromStr for DiffRange {
    type Err = RangeError;

    fn from_str(text: &str) -> Result<Self, RangeError> {
        let (parts, since_merge_base) = match (text.split_once("..."), text.split_once("..")) {
            (Some(parts), _) => (parts, true),
            (None, Some(parts)) => (parts, false),
            (None, None) => return Err(RangeError::of(text)),
        };
        // No revision has two dots in it, so a second separator is a slip.
        let is_revision = |part: &str| !part.contains("..") && !part.starts_with('.');
        if parts == ("", "") || !is_revision(parts.0) || !is_revision(parts.1) {
            return Err(RangeError::of(text));
        }
        let named = |part: &str| if part.is_empty() { "HEAD" } else { part }.to_owned();
        Ok(Self {
            first: named(parts.0),
            second: named(parts.1),
            since_merge_base,
        })
    }
}

impl fmt::Display for DiffRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dots = if self.since_merge_base { "..." } else { ".." };
        write!(f, "{}{dots}{}", self.first, self.second)
    }
}

impl RangeError {
    fn of(text: &str) -> Self {
        let shown = text.chars().take(200).flat_map(char::escape_debug);
        Self {
            text: shown.collect(),
        }
    }
}
