//! What the recordings and notes of a step's jobs say together, and whether its silence may be read.

use super::{FunctionHeader, FunctionRecording, SessionNotes, TestSession};
use crate::function_table::TestCounts;
use crate::recording::ProcessCounts;
use crate::table::RowReason;
use std::collections::BTreeSet;

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
    /// What pytest's sessions came to.
    pub tests: TestCounts,
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
        for session in &notes.sessions {
            self.tests.merge(&counts(session));
        }
        self.unparsed = self
            .unparsed
            .saturating_add(notes.unfinished)
            .saturating_add(notes.malformed_lines);
    }

    /// Adds another job's facts.
    pub fn merge(&mut self, other: &Self) {
        self.processes.merge(&other.processes);
        for (count, more) in [
            (&mut self.clean_exits, other.clean_exits),
            (&mut self.functions, other.functions),
            (&mut self.lossy, other.lossy),
            (&mut self.outside_lines, other.outside_lines),
            (&mut self.malformed_lines, other.malformed_lines),
            (&mut self.unparsed, other.unparsed),
            (&mut self.unreadable, other.unreadable),
        ] {
            *count = count.saturating_add(more);
        }
        self.interpreters.extend(other.interpreters.iter().cloned());
        self.tests.merge(&other.tests);
    }

    /// What is wrong with this job's evidence, whatever the step's other jobs delivered.
    pub fn faults(&self) -> BTreeSet<RowReason> {
        let conditions = [
            (RowReason::LostLines, self.lossy > 0),
            (RowReason::BrokenLine, self.malformed_lines > 0),
            (RowReason::UnplacedFunctions, self.outside_lines > 0),
            (RowReason::RanNoTests, self.tests.executed == 0),
            (RowReason::SummaryUnparsed, self.unparsed > 0),
            (RowReason::Unreadable, self.unreadable > 0),
        ];
        let states = self.processes.iter().map(|(state, _)| state);
        states
            .filter_map(RowReason::of_python_process)
            .chain(holding(conditions))
            .collect()
    }
}

fn counts(session: &TestSession) -> TestCounts {
    TestCounts {
        sessions: 1,
        collected: session.selected,
        executed: session.executed(),
        passed: session.passed,
        failed: session.failed,
        errors: session.errors,
        skipped: session.skipped,
        xfailed: session.xfailed,
        xpassed: session.xpassed,
    }
}

/// Why the silence of a step with these jobs may not be read; empty where it may.
pub fn thin_reasons(jobs: &[JobFacts], all_shards: bool) -> BTreeSet<RowReason> {
    let any = |holds: fn(&JobFacts) -> bool| jobs.iter().any(holds);
    let of_all = [
        (RowReason::NoFunctions, !any(|job| job.functions > 0)),
        (RowReason::NoCleanExit, !any(|job| job.clean_exits > 0)),
        (RowReason::ShardsIncomplete, !all_shards),
        (RowReason::RanNoTests, jobs.is_empty()),
    ];
    let of_each = jobs.iter().flat_map(JobFacts::faults);
    of_each.chain(holding(of_all)).collect()
}

fn holding<const N: usize>(conditions: [(RowReason, bool); N]) -> impl Iterator<Item = RowReason> {
    let holding = conditions.into_iter().filter(|(_, holds)| *holds);
    holding.map(|(reason, _)| reason)
}
