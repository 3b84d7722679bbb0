//! Past changes replayed: would every step that really failed have been run, and how much would have been skipped?

use crate::report::{RecordState, Report};
use kernrec_schemas::StepKey;
use kernrec_schemas::json::{self, DocumentError, MAX_SMALL_BYTES};
use serde::Deserialize;
use std::collections::BTreeSet;

/// One past change, as the list of them has it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct PastChange {
    /// The commit it started from.
    pub base: String,
    /// Its last commit.
    pub head: String,
    /// The steps that failed because of it. Must be there: a misspelt list would prove everything.
    pub failed: Vec<StepKey>,
    /// The steps that CI ran for it, if that is known.
    #[serde(default)]
    pub ran: Option<Vec<StepKey>>,
}

const DOCUMENT: &str = "list of past changes";

/// Reads the list: `[{"base", "head", "failed": [...], "ran": [...]}]`, `ran` only where it is known.
pub fn past_changes(bytes: &[u8]) -> Result<Vec<PastChange>, DocumentError> {
    json::read(DOCUMENT, bytes, MAX_SMALL_BYTES)
}

/// What became of one past change.
#[derive(Debug, Clone, PartialEq)]
pub struct Replay {
    /// The commit it started from.
    pub base: String,
    /// Its last commit.
    pub head: String,
    /// What the answer to it would have been worth.
    pub end: ReplayEnd,
}

/// What the answer to one past change would have been worth.
#[derive(Debug, Clone, PartialEq)]
pub enum ReplayEnd {
    /// Nothing could have been skipped whatever changed: it proves nothing.
    NotReplayed {
        /// The stable word.
        reason: String,
        /// The words for people.
        problem: String,
    },
    /// There was an answer that could have been wrong.
    Replayed(Scored),
}

/// One answer, held against what happened.
#[derive(Debug, Clone, PartialEq)]
pub struct Scored {
    /// Steps of the record or the step file.
    pub steps: u64,
    /// Steps that would have been skipped.
    pub skipped: u64,
    /// Failed steps that would have been run.
    pub caught: u64,
    /// Failed steps that would have been skipped: each is a wrong skip.
    pub missed: Vec<StepKey>,
    /// Of the steps that CI ran, those that would have been skipped; `None` where nothing says what CI ran.
    pub saved: Option<Vec<StepKey>>,
    /// Steps that would have been run and CI did not run.
    pub added: Option<Vec<StepKey>>,
}

/// All of them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Totals {
    /// Changes given.
    pub changes: u64,
    /// Changes whose answer could have been wrong.
    pub replayed: u64,
    /// Failed steps of those.
    pub failed: u64,
    /// Failed steps that would have been run.
    pub caught: u64,
    /// `caught` of `failed`; `None` when no step failed.
    pub recall: Option<f64>,
    /// The share of steps that would have been skipped, over all replayed changes; `None` when none was.
    pub skipped_share: Option<f64>,
}

impl Replay {
    /// Holds an answer against what happened.
    pub fn of(change: &PastChange, report: &Report) -> Self {
        let end = match proves_nothing(report) {
            Some((reason, problem)) => ReplayEnd::NotReplayed { reason, problem },
            None => ReplayEnd::Replayed(scored(change, report)),
        };
        Self::ended(change, end)
    }

    /// One to which there is no answer.
    pub fn failed(change: &PastChange, reason: &str, problem: String) -> Self {
        let reason = reason.to_owned();
        Self::ended(change, ReplayEnd::NotReplayed { reason, problem })
    }

    fn ended(change: &PastChange, end: ReplayEnd) -> Self {
        Self {
            base: change.base.clone(),
            head: change.head.clone(),
            end,
        }
    }

    /// The score, if it was replayed.
    pub fn score(&self) -> Option<&Scored> {
        match &self.end {
            ReplayEnd::Replayed(scored) => Some(scored),
            ReplayEnd::NotReplayed { .. } => None,
        }
    }
}

/// Why an answer could not have been wrong, though not for what changed.
fn proves_nothing(report: &Report) -> Option<(String, String)> {
    if let Some(stopped) = &report.stopped {
        return Some((stopped.reason.clone(), stopped.problem.clone()));
    }
    // One that is not there holds every step, whatever the others say.
    let gone = report
        .records
        .iter()
        .find_map(|record| match &record.state {
            RecordState::Unavailable { reason, problem } => Some((reason.clone(), problem.clone())),
            RecordState::Ready { .. } => None,
        });
    if gone.is_some() {
        return gone;
    }
    let mut first = None;
    for record in &report.records {
        if let RecordState::Ready { limits, .. } = &record.state {
            let limit = limits.first()?;
            let said = (limit.word().to_owned(), limit.meaning().to_owned());
            first.get_or_insert(said);
        }
    }
    first.or_else(|| Some(("no-record".to_owned(), "there is no record".to_owned())))
}

fn scored(change: &PastChange, report: &Report) -> Scored {
    let skipped: BTreeSet<&StepKey> = report.skipped.iter().map(|step| &step.step).collect();
    let failed: BTreeSet<&StepKey> = change.failed.iter().collect();
    let missed: Vec<StepKey> = failed.intersection(&skipped).copied().cloned().collect();
    let ran: Option<BTreeSet<&StepKey>> = change.ran.as_ref().map(|ran| ran.iter().collect());
    let saved = ran.as_ref().map(|ran| ran.intersection(&skipped));
    let to_run = report.steps_to_run();
    let added = ran.as_ref().map(|ran| to_run.difference(ran));
    Scored {
        steps: report.counts.steps,
        skipped: skipped.len() as u64,
        caught: (failed.len() - missed.len()) as u64,
        missed,
        saved: saved.map(|steps| steps.copied().cloned().collect()),
        added: added.map(|steps| steps.copied().cloned().collect()),
    }
}

impl Totals {
    /// Adds up.
    pub fn of(replays: &[Replay]) -> Self {
        let scores = || replays.iter().filter_map(Replay::score);
        let caught: u64 = scores().map(|score| score.caught).sum();
        let missed: u64 = scores().map(|score| score.missed.len() as u64).sum();
        let steps = scores().map(|score| score.steps).sum();
        Self {
            changes: replays.len() as u64,
            replayed: scores().count() as u64,
            failed: caught + missed,
            caught,
            recall: share(caught, caught + missed),
            skipped_share: share(scores().map(|score| score.skipped).sum(), steps),
        }
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counts of steps are far below 2^52"
)]
fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}
