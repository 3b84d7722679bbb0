//! What went wrong on the way to an answer and did not stop it. Each made it run more.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// How many notes of one kind are written out; the rest is counted.
const SHOWN: usize = 8;

/// Kinds of note: stable words.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum NoteReason {
    /// A step of the step file has no key that a row could have.
    StepWithoutKey,
    /// Two steps have one key.
    DuplicateStepKey,
    /// A step is not written as steps are, or says something unknown: its list of files is not relied on.
    MalformedStep,
    /// A pattern cannot be read: what stands beside it is not relied on.
    UnreadablePattern,
    /// Steps depend on each other in a circle.
    DependencyCycle,
    /// There are more patterns and files than are compared: every file proposes every step.
    TooManyPatterns,
    /// The record has rows of steps that are not in the step file.
    RowsWithoutStep,
    /// A file matched a pattern for which everything runs.
    RunAllPattern,
}

impl NoteReason {
    /// Every kind.
    pub const ALL: [Self; 8] = [
        Self::StepWithoutKey,
        Self::DuplicateStepKey,
        Self::MalformedStep,
        Self::UnreadablePattern,
        Self::DependencyCycle,
        Self::TooManyPatterns,
        Self::RowsWithoutStep,
        Self::RunAllPattern,
    ];

    /// The stable word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::StepWithoutKey => "step-without-key",
            Self::DuplicateStepKey => "duplicate-step-key",
            Self::MalformedStep => "malformed-step",
            Self::UnreadablePattern => "unreadable-pattern",
            Self::DependencyCycle => "dependency-cycle",
            Self::TooManyPatterns => "too-many-patterns",
            Self::RowsWithoutStep => "rows-without-step",
            Self::RunAllPattern => "run-all-pattern",
        }
    }
}

/// One note.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Note {
    /// The stable word.
    pub reason: NoteReason,
    /// The words for people.
    pub message: String,
}

/// Notes, sorted by kind and text.
#[derive(Debug, Clone, Default)]
pub(crate) struct Notes(BTreeMap<NoteReason, BTreeSet<String>>);

impl Notes {
    pub(crate) fn add(&mut self, reason: NoteReason, message: impl Into<String>) {
        self.0.entry(reason).or_default().insert(message.into());
    }

    pub(crate) fn extend(&mut self, other: Self) {
        for (reason, messages) in other.0 {
            self.0.entry(reason).or_default().extend(messages);
        }
    }

    /// The first of each kind, and how many more there are.
    pub(crate) fn list(&self) -> Vec<Note> {
        let kinds = self.0.iter().flat_map(|(&reason, messages)| {
            let more = messages.len().saturating_sub(SHOWN);
            let counted = (more > 0).then(|| format!("and {more} more"));
            let messages = messages.iter().take(SHOWN).cloned().chain(counted);
            messages.map(move |message| Note { reason, message })
        });
        kinds.collect()
    }
}
