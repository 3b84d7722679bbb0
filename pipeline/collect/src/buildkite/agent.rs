//! The program, and what every call of it shares.

use super::{announce, gather, state};
use crate::ci::{Announcement, Ci, CiError, Gathered, Poll};
use crate::parallel::{Patience, each};
use crate::program::{self, Ended};
use crate::step::Step;
use crate::workplace::Workplace;
use kernrec_schemas::{Commit, StepKey};
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

/// The program; found on the PATH.
const AGENT: &str = "buildkite-agent";
/// How long one call may take. The agent tries its requests again itself, for a minute.
pub(super) const LIMIT: Duration = Duration::from_mins(10);
/// Where the first checkout of a build leaves what `git show` says of its commit.
const COMMIT: &str = "buildkite:git:commit";

/// A build, seen from one of its jobs.
#[derive(Debug, Clone)]
pub struct Buildkite {
    /// Another build to collect from; by default the job's own.
    pub build: Option<String>,
    /// How often a call is tried again.
    pub patience: Patience,
}

impl Buildkite {
    /// A call about the build.
    pub(super) fn of_build(&self, args: &[&str]) -> Command {
        let mut command = command(args);
        if let Some(build) = &self.build {
            command.args(["--build", build]);
        }
        command
    }
}

impl Ci for Buildkite {
    fn poll(&self, steps: &[&Step], until: Instant) -> Vec<Poll> {
        each(steps, |step| state::poll(self, &step.key, until))
    }

    fn commit(&self) -> Result<Option<Commit>, CiError> {
        // A build whose jobs check nothing out has no such text; the recordings tell too.
        let Ok(text) = call(&mut self.of_build(&["meta-data", "get", COMMIT]), b"") else {
            return Ok(None);
        };
        let text = String::from_utf8_lossy(&text);
        let mut words = text.split_whitespace();
        Ok(match words.next() {
            Some("commit") => words.next().and_then(|commit| commit.parse().ok()),
            _ => None,
        })
    }

    fn gather(&self, steps: &[Step], map_steps: &[StepKey], place: &Workplace) -> Gathered {
        gather::gather(self, steps, map_steps, place)
    }

    fn announce(&self, announcement: &Announcement<'_>) -> Vec<String> {
        announce::announce(announcement)
    }
}

/// A call that is about no build.
pub(super) fn command(args: &[&str]) -> Command {
    let mut command = Command::new(AGENT);
    command.args(args);
    command
}

/// Runs a call to its end, however it ends.
pub(super) fn end_of(
    command: &mut Command,
    input: &[u8],
    limit: Duration,
) -> Result<Ended, CiError> {
    let what = format!("`{AGENT} {}`", words(command));
    program::run(command, input, limit).map_err(|error| CiError::new(what, error.to_string()))
}

/// Runs a call that has to succeed.
pub(super) fn call(command: &mut Command, input: &[u8]) -> Result<Vec<u8>, CiError> {
    let ended = end_of(command, input, LIMIT)?;
    if ended.is_success() {
        return Ok(ended.stdout);
    }
    let what = format!("`{AGENT} {}`", words(command));
    Err(CiError::new(what, ended.complaint()))
}

/// The words of a call, for messages.
fn words(command: &Command) -> String {
    let words: Vec<String> = command
        .get_args()
        .map(|word| PathBuf::from(word).display().to_string())
        .collect();
    words.join(" ")
}
