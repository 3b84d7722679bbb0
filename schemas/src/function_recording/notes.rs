//! `pytest.<pid>.jsonl`: what came of a process's pytest sessions.

use serde::Deserialize;

/// A session that ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TestSession {
    /// Tests that passed.
    pub passed: u64,
    /// Tests that failed.
    pub failed: u64,
    /// Tests whose set-up or tear-down failed.
    pub errors: u64,
    /// Tests that were skipped.
    pub skipped: u64,
    /// Tests that failed as expected.
    pub xfailed: u64,
    /// Tests that passed against expectation.
    pub xpassed: u64,
    /// Tests that were selected to be run.
    pub selected: u64,
    /// pytest's own exit status.
    pub exit_status: i64,
}

impl TestSession {
    /// Tests whose body was run.
    pub fn executed(&self) -> u64 {
        [self.passed, self.failed, self.xfailed, self.xpassed]
            .into_iter()
            .fold(0, u64::saturating_add)
    }
}

/// The notes of one process.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionNotes {
    /// Sessions that ended.
    pub sessions: Vec<TestSession>,
    /// Sessions that collected tests and never ended: their process was killed.
    pub unfinished: u64,
    /// Lines that could not be read. What they would have said is not known.
    pub malformed_lines: u64,
}

/// A line, with whatever else a newer writer puts there.
#[derive(Deserialize)]
struct Line {
    event: String,
    #[serde(default)]
    passed: u64,
    #[serde(default)]
    failed: u64,
    #[serde(default)]
    errors: u64,
    #[serde(default)]
    skipped: u64,
    #[serde(default)]
    xfailed: u64,
    #[serde(default)]
    xpassed: u64,
    #[serde(default)]
    selected: u64,
    #[serde(default)]
    exitstatus: i64,
}

impl SessionNotes {
    /// Reads a whole file. Never fails: a line that cannot be read is counted.
    pub fn read(bytes: &[u8]) -> Self {
        let mut notes = Self::default();
        let mut collected = false;
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            if line.trim_ascii().is_empty() {
                continue;
            }
            let whole = line.ends_with(b"\n");
            match serde_json::from_slice::<Line>(line) {
                Ok(line) if whole && line.event == "collected" => {
                    notes.unfinished += u64::from(collected);
                    collected = true;
                }
                Ok(line) if whole && line.event == "session" => {
                    collected = false;
                    notes.sessions.push(line.session());
                }
                // A line of another event is a newer writer's.
                Ok(_) if whole => {}
                _ => notes.malformed_lines += 1,
            }
        }
        notes.unfinished += u64::from(collected);
        notes
    }

    /// Tests whose body was run, in all sessions that ended.
    pub fn executed(&self) -> u64 {
        self.sessions
            .iter()
            .map(TestSession::executed)
            .fold(0, u64::saturating_add)
    }
}

impl Line {
    fn session(&self) -> TestSession {
        TestSession {
            passed: self.passed,
            failed: self.failed,
            errors: self.errors,
            skipped: self.skipped,
            xfailed: self.xfailed,
            xpassed: self.xpassed,
            selected: self.selected,
            exit_status: self.exitstatus,
        }
    }
}
