//! What one process's recording is worth as evidence of silence.

use crate::json::is_zero;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The state of one recording. Only `Clean` and `Idle` let a process's silence count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProcessState {
    /// Every rule of a complete recording holds.
    Clean,
    /// ROCm only: proven never to have begun GPU work before it was killed.
    Idle,
    /// The first version's format, which did not count errors: it selects and never drops.
    Legacy,
    /// No footer: the process was killed.
    NoFooter,
    /// A footer that is not last, repeated, incomplete, or does not fit the names above it.
    BadFooter,
    /// A line that a recorder does not write: a name with a control character or a byte that is not UTF-8,
    /// a cut header, a last line without its line end.
    BrokenLine,
    /// Records were lost.
    Dropped,
    /// The recorder reported an error, unresolved names, or a number that is none.
    Error,
    /// No valid header, or names before it.
    BadHeader,
    /// Two headers: two processes shared the file.
    DuplicateHeader,
    /// Nothing in the file: its disk was full.
    Empty,
}

impl ProcessState {
    /// Every state, best first.
    pub const ALL: [Self; 11] = [
        Self::Clean,
        Self::Idle,
        Self::Legacy,
        Self::NoFooter,
        Self::BadFooter,
        Self::BrokenLine,
        Self::Dropped,
        Self::Error,
        Self::BadHeader,
        Self::DuplicateHeader,
        Self::Empty,
    ];

    /// Whether the process's silence may be believed.
    pub const fn is_healthy(self) -> bool {
        matches!(self, Self::Clean | Self::Idle)
    }

    /// The stable word, used as a reason. A row's `health` spells it with underscores.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Clean => "clean",
            Self::Idle => "idle",
            Self::Legacy => "legacy",
            Self::NoFooter => "no-footer",
            Self::BadFooter => "bad-footer",
            Self::BrokenLine => "broken-line",
            Self::Dropped => "dropped",
            Self::Error => "error",
            Self::BadHeader => "bad-header",
            Self::DuplicateHeader => "duplicate-header",
            Self::Empty => "empty",
        }
    }
}

/// How many processes of a row are in each state. Zero counts are left out of the document.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ProcessCounts {
    /// Recordings for which every rule holds. What each state means is told at [`ProcessState`].
    #[serde(skip_serializing_if = "is_zero")]
    pub clean: u64,
    /// ROCm processes that were proven never to have begun GPU work.
    #[serde(skip_serializing_if = "is_zero")]
    pub idle: u64,
    /// Recordings of the first version's format.
    #[serde(skip_serializing_if = "is_zero")]
    pub legacy: u64,
    /// Recordings without a footer.
    #[serde(skip_serializing_if = "is_zero")]
    pub no_footer: u64,
    /// Recordings whose footer does not fit.
    #[serde(skip_serializing_if = "is_zero")]
    pub bad_footer: u64,
    /// Recordings with a line that a recorder does not write.
    #[serde(skip_serializing_if = "is_zero")]
    pub broken_line: u64,
    /// Recordings that lost records.
    #[serde(skip_serializing_if = "is_zero")]
    pub dropped: u64,
    /// Recordings that report an error.
    #[serde(skip_serializing_if = "is_zero")]
    pub error: u64,
    /// Recordings without a valid header.
    #[serde(skip_serializing_if = "is_zero")]
    pub bad_header: u64,
    /// Recordings two processes wrote to.
    #[serde(skip_serializing_if = "is_zero")]
    pub duplicate_header: u64,
    /// Empty recordings.
    #[serde(skip_serializing_if = "is_zero")]
    pub empty: u64,
}

impl ProcessCounts {
    /// Counts one more process.
    pub fn add(&mut self, state: ProcessState) {
        let count = self.slot(state);
        *count = count.saturating_add(1);
    }

    /// Adds another count's processes.
    pub fn merge(&mut self, other: &Self) {
        for (state, more) in other.iter() {
            let count = self.slot(state);
            *count = count.saturating_add(more);
        }
    }

    /// How many processes are in this state.
    pub fn count(&self, state: ProcessState) -> u64 {
        *self.clone().slot(state)
    }

    /// How many processes are in a state whose silence may not be believed.
    pub fn unhealthy(&self) -> u64 {
        self.iter()
            .filter(|(state, _)| !state.is_healthy())
            .fold(0, |sum, (_, count)| sum.saturating_add(count))
    }

    /// The states that occur, best first, with their counts.
    pub fn iter(&self) -> impl Iterator<Item = (ProcessState, u64)> {
        let counts = self.clone();
        ProcessState::ALL
            .into_iter()
            .map(move |state| (state, counts.count(state)))
            .filter(|(_, count)| *count > 0)
    }

    fn slot(&mut self, state: ProcessState) -> &mut u64 {
        match state {
            ProcessState::Clean => &mut self.clean,
            ProcessState::Idle => &mut self.idle,
            ProcessState::Legacy => &mut self.legacy,
            ProcessState::NoFooter => &mut self.no_footer,
            ProcessState::BadFooter => &mut self.bad_footer,
            ProcessState::BrokenLine => &mut self.broken_line,
            ProcessState::Dropped => &mut self.dropped,
            ProcessState::Error => &mut self.error,
            ProcessState::BadHeader => &mut self.bad_header,
            ProcessState::DuplicateHeader => &mut self.duplicate_header,
            ProcessState::Empty => &mut self.empty,
        }
    }
}
