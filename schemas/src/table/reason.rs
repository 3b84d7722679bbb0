//! Why a row's silence does not count: stable words.

use crate::recording::ProcessState;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

macro_rules! reasons {
    ($($(#[$doc:meta])* $name:ident = $word:literal),+ $(,)?) => {
        /// One reason why a row may only select. `Other` keeps words of newer writers.
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
        #[serde(from = "String", into = "String")]
        #[schemars(with = "String")]
        #[non_exhaustive]
        pub enum RowReason {
            $($(#[$doc])* $name,)+
            /// A word this version does not know.
            Other(Box<str>),
        }

        impl RowReason {
            /// Every known reason, in the order they are documented.
            pub const KNOWN: &'static [Self] = &[$(Self::$name,)+];

            /// The stable word.
            pub fn word(&self) -> &str {
                match self {
                    $(Self::$name => $word,)+
                    Self::Other(word) => word,
                }
            }
        }

        impl From<String> for RowReason {
            fn from(word: String) -> Self {
                match word.as_str() {
                    $($word => Self::$name,)+
                    _ => Self::Other(word.into_boxed_str()),
                }
            }
        }
    };
}

reasons! {
    /// A job failed.
    NotPassed = "not-passed",
    /// A declared shard delivered nothing.
    ShardsIncomplete = "shards-incomplete",
    /// Records were lost.
    Dropped = "dropped",
    /// Files or jobs disagree about the backend, or nothing says.
    BackendUnknown = "backend-unknown",
    /// The table says the trace is incomplete, and not why.
    TraceIncomplete = "trace-incomplete",
    /// A process was killed before its footer.
    NoFooter = "no-footer",
    /// A process's footer does not fit its names.
    BadFooter = "bad-footer",
    /// A recording has a line that is none.
    BrokenLine = "broken-line",
    /// A recorder reported an error.
    RecorderError = "error",
    /// A recording has no valid header.
    BadHeader = "bad-header",
    /// Two processes wrote one file.
    DuplicateHeader = "duplicate-header",
    /// A recording is empty.
    EmptyRecording = "empty",
    /// A recording of the first version, which did not count errors.
    LegacyRecording = "legacy",
    /// A job left no recording.
    NoRecording = "no-recording",
    /// A job's sidecar says collection was not available, or failed.
    CollectionUnavailable = "collection-unavailable",
    /// Every process of a job was idle.
    IdleOnly = "idle-only",
    /// A job had processes without a recorder.
    UnrecordedProcesses = "unrecorded-processes",
    /// A job without exit status or commit from its sidecar or the jobs list.
    NoProvenance = "no-provenance",
    /// A job's sidecar is no JSON object, a field of it is of the wrong kind, or it contradicts the job's bundle or
    /// the jobs list.
    BadSidecar = "bad-sidecar",
    /// A job of the step is listed and delivered nothing.
    JobMissing = "job-missing",
    /// A job of another commit.
    ForeignCommit = "foreign-commit",
    /// One job delivered twice, with different content.
    DuplicateJob = "duplicate-job",
    /// A job ran in a variant for which no symbol map was given.
    VariantWithoutMap = "variant-without-map",
    /// No function of a watched package was entered.
    NoFunctions = "no-functions",
    /// No Python process ended by itself.
    NoCleanExit = "no-clean-exit",
    /// A function recording has fewer functions than it counted, or could not hold everything and says so.
    LostLines = "lost-lines",
    /// A function was entered in a file that is in none of the watched places.
    UnplacedFunctions = "unplaced-functions",
    /// A job executed no test, or nothing says that it did.
    RanNoTests = "ran-no-tests",
    /// No test of the checkout was seen to be entered, or a library of a test's name was used: whether the step ran a
    /// certain test is not known. Of a file, not of a row.
    TestsNotWatched = "tests-not-watched",
    /// The end of a session of pytest is missing or cannot be read.
    SummaryUnparsed = "summary-unparsed",
    /// A file of a job could not be read.
    Unreadable = "unreadable",
    /// The row itself is malformed in the table.
    MalformedRow = "malformed-row",
    /// The table is of version 2, whose rows select and never drop.
    LegacyTable = "legacy-table",
}

impl fmt::Display for RowReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

impl From<RowReason> for String {
    fn from(reason: RowReason) -> Self {
        reason.word().to_owned()
    }
}

impl RowReason {
    /// The reason a process in this state gives its row; `None` for a healthy one.
    pub fn of_process(state: ProcessState) -> Option<Self> {
        match state {
            ProcessState::Clean | ProcessState::Idle => None,
            ProcessState::Legacy => Some(Self::LegacyRecording),
            ProcessState::NoFooter => Some(Self::NoFooter),
            ProcessState::BadFooter => Some(Self::BadFooter),
            ProcessState::BrokenLine => Some(Self::BrokenLine),
            ProcessState::Dropped => Some(Self::Dropped),
            ProcessState::Error => Some(Self::RecorderError),
            ProcessState::BadHeader => Some(Self::BadHeader),
            ProcessState::DuplicateHeader => Some(Self::DuplicateHeader),
            ProcessState::Empty => Some(Self::EmptyRecording),
        }
    }

    /// The reason a Python process in this state gives its row. One that was killed gives none by itself: what it
    /// entered was written when it was entered.
    pub fn of_python_process(state: ProcessState) -> Option<Self> {
        match state {
            ProcessState::NoFooter => None,
            ProcessState::Dropped => Some(Self::LostLines),
            other => Self::of_process(other),
        }
    }
}
