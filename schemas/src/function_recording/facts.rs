//! What the recordings and notes of a step's jobs say together, and whether its silence may be read.

use super::{FunctionHeader, FunctionRecording, SessionNotes};
use crate::recording::ProcessCounts;
use std::collections::BTreeSet;

/// Why nothing may be concluded from what a step did not enter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ThinReason {
    /// No function was recorded.
    NoFunctions,
    /// No process ended by itself.
    NoCleanExit,
    /// Not every declared shard is there.
    ShardsIncomplete,
    /// A recording has fewer functions than it counted, or could not hold everything and says so.
    LostLines,
    /// A job executed no test, or nothing says that it did.
    RanNoTests,
    /// The end of a session is missing or cannot be read.
    SummaryUnparsed,
    /// A file of a job could not be read.
    Unreadable,
}

impl ThinReason {
    /// Every reason.
    pub const ALL: [Self; 7] = [
        Self::NoFunctions,
        Self::NoCleanExit,
        Self::ShardsIncomplete,
        Self::LostLines,
        Self::RanNoTests,
        Self::SummaryUnparsed,
        Self::Unreadable,
    ];

    /// The stable word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::NoFunctions => "no-functions",
            Self::NoCleanExit => "no-clean-exit",
            Self::ShardsIncomplete => "shards-incomplete",
            Self::LostLines => "lost-lines",
            Self::RanNoTests => "ran-no-tests",
            Self::SummaryUnparsed => "summary-unparsed",
            Self::Unreadable => "unreadable",
        }
    }
}

/// The facts of one job.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JobFacts {
    /// Its processes by what their recordings are worth.
    pub processes: ProcessCounts,
    /// Processes that ended by themselves.
    pub clean_exits: u64,
    /// Functions over all recordings, one that two processes entered counted twice.
    pub functions: u64,
    /// Recordings with fewer functions than they counted, or that say that something is missing.
    pub lossy: u64,
    /// Functions in none of the places their recordings name.
    pub outside_lines: u64,
    /// Lines that no recorder writes.
    pub malformed_lines: u64,
    /// The interpreters' versions.
    pub interpreters: BTreeSet<String>,
    /// Sessions of pytest that ended.
    pub sessions: u64,
    /// Tests whose body was run.
    pub tests_executed: u64,
    /// Sessions without an end, and lines of notes that cannot be read.
    pub unparsed: u64,
    /// Files that could not be read.
    pub unreadable: u64,
}

impl JobFacts {
    /// Adds a process's recording.
    pub fn add_recording(&mut self, recording: &FunctionRecording<'_>) {
        self.processes.add(recording.state);
        self.clean_exits += u64::from(recording.clean_exit);
        self.functions += recording.functions.len() as u64;
        let lossy = recording.lost_lines || recording.first_error.is_some();
        self.lossy += u64::from(lossy || recording.header.is_none());
        self.outside_lines += recording.outside_lines;
        self.malformed_lines += recording.malformed_lines;
        let header = recording.header.as_ref();
        let interpreter = header.and_then(FunctionHeader::interpreter);
        self.interpreters.extend(interpreter.map(str::to_owned));
    }

    /// Adds a process's notes of pytest's sessions.
    pub fn add_notes(&mut self, notes: &SessionNotes) {
        self.sessions += notes.sessions.len() as u64;
        self.tests_executed = self.tests_executed.saturating_add(notes.executed());
        self.unparsed += notes.unfinished + notes.malformed_lines;
    }
}

/// Why the silence of a step with these jobs may not be read; empty where it may.
pub fn thin_reasons(jobs: &[JobFacts], all_shards: bool) -> BTreeSet<ThinReason> {
    let any = |holds: fn(&JobFacts) -> bool| jobs.iter().any(holds);
    let conditions = [
        (ThinReason::NoFunctions, !any(|job| job.functions > 0)),
        (ThinReason::NoCleanExit, !any(|job| job.clean_exits > 0)),
        (ThinReason::ShardsIncomplete, !all_shards),
        (ThinReason::LostLines, any(|job| job.lossy > 0)),
        (
            ThinReason::RanNoTests,
            jobs.is_empty() || any(|job| job.tests_executed == 0),
        ),
        (ThinReason::SummaryUnparsed, any(|job| job.unparsed > 0)),
        (ThinReason::Unreadable, any(|job| job.unreadable > 0)),
    ];
    let holding = conditions.into_iter().filter(|(_, holds)| *holds);
    holding.map(|(reason, _)| reason).collect()
}
