//! How a step stands, in the agent's words.

use super::Buildkite;
use super::agent::end_of;
use crate::ci::{CiError, Phase, Poll, State};
use kernrec_schemas::StepKey;
use std::time::Instant;

pub(super) fn poll(agent: &Buildkite, step: &StepKey, until: Instant) -> Poll {
    match word(agent, step, "state", until) {
        Ok(Some(word)) => Poll::State(state(agent, step, word, until)),
        Ok(None) => Poll::Absent,
        Err(error) => Poll::Failed(error),
    }
}

/// `None` when the build has no such step.
fn word(
    agent: &Buildkite,
    step: &StepKey,
    attribute: &str,
    until: Instant,
) -> Result<Option<String>, CiError> {
    let what = format!("{attribute} of step `{step}`");
    let left = until.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(CiError::new(what, "there was no time left to ask"));
    }
    let mut command = agent.of_build(&["step", "get", attribute, "--step", step.as_str()]);
    let ended = end_of(&mut command, b"", left)?;
    if ended.is_success() {
        let word = String::from_utf8_lossy(&ended.stdout);
        return Ok(Some(word.trim().trim_matches('"').to_ascii_lowercase()));
    }
    if ended.stderr().contains("404 Not Found") {
        return Ok(None);
    }
    Err(CiError::new(what, ended.complaint()))
}

fn state(agent: &Buildkite, step: &StepKey, word: String, until: Instant) -> State {
    let phase = phase(&word);
    let mut state = State {
        phase: phase.unwrap_or(Phase::Running),
        word,
        passed: None,
    };
    let may_be_over = matches!(phase, None | Some(Phase::Ended));
    if may_be_over && let Ok(Some(outcome)) = self::word(agent, step, "outcome", until) {
        match outcome.as_str() {
            // Not over, or over in a way that is neither.
            "" | "neutral" => {}
            outcome => {
                state.passed = Some(matches!(outcome, "passed" | "soft_failed"));
                state.phase = Phase::Ended;
                outcome.clone_into(&mut state.word);
            }
        }
    }
    state
}

/// The agent tells the states of steps; those of jobs are known too, as they differ between its versions. `None` for a
/// word that nobody knows.
fn phase(word: &str) -> Option<Phase> {
    Some(match word {
        "waiting_for_dependencies" | "waiting" | "creating" | "pending" => Phase::Waiting,
        "ready" | "running" | "failing" | "scheduled" | "assigned" | "accepted" | "reserved"
        | "limiting" | "limited" | "canceling" | "cancelling" | "timing_out" | "unblocked"
        | "platform_limiting" | "platform_limited" => Phase::Running,
        "finished" | "passed" | "failed" | "timed_out" | "soft_failed" | "hard_failed"
        | "errored" => Phase::Ended,
        "ignored" | "skipped" | "broken" | "canceled" | "cancelled" | "expired" | "blocked"
        | "blocked_failed" | "unblocked_failed" | "waiting_failed" | "dependency_failed"
        | "not_run" => Phase::CannotRun,
        _ => return None,
    })
}
