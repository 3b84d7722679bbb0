//! How one object is made, and what can be wrong with that knowledge.

use std::collections::BTreeSet;
use std::path::PathBuf;

/// One object and what it is compiled from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Recipe {
    /// Absolute path of the object.
    pub(crate) object: PathBuf,
    /// The object's name in its build folder's records.
    pub(crate) output: String,
    /// The source as the record names it, absolute.
    pub(crate) source: PathBuf,
    /// The build target, or the empty text.
    pub(crate) target: String,
    /// Where the compiler ran: relative dependencies are relative to this.
    pub(crate) directory: PathBuf,
    /// Processors named by `--offload-arch`; empty when the command is not known or names none.
    pub(crate) offload_archs: BTreeSet<String>,
}

/// Why an object's entry cannot be made: a stable word, and a sentence for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) word: &'static str,
    pub(crate) text: String,
}

impl Problem {
    pub(crate) fn new(word: &'static str, text: impl Into<String>) -> Self {
        Self {
            word,
            text: text.into(),
        }
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.word, self.text)
    }
}
