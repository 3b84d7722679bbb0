//! Waiting for steps: polled less and less often, until all are over or time is.

use crate::ci::{Ci, CiError, Phase, Poll, State};
use crate::step::Step;
use kernrec_schemas::StepKey;
use serde::Serialize;
use std::thread;
use std::time::{Duration, Instant};

/// So many answers in a row that there is no such step are believed: a pipeline that is being uploaded has it soon.
const ABSENT_TIMES: u32 = 3;

/// What a poll may take in any case, so that the last one says how the steps stand.
const LEAST: Duration = Duration::from_mins(2);

/// How long to wait, and how often to ask.
#[derive(Debug, Clone, Copy)]
pub struct WaitOptions {
    /// When to stop, from the start.
    pub deadline: Duration,
    /// The longest pause between two polls; the first is an eighth of it.
    pub longest_pause: Duration,
}

/// How the waiting ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Waited {
    /// The armed steps, in the order they were named.
    pub steps: Vec<StepEnd>,
    /// The steps that build images.
    pub map_steps: Vec<StepEnd>,
    /// How often the steps were asked for.
    pub polls: u64,
    /// Questions without an answer.
    pub failed_polls: u64,
    /// What was wrong with the last of them.
    pub last_failure: Option<String>,
}

/// How one step stood at the end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StepEnd {
    /// Its key.
    pub step: StepKey,
    /// How many jobs it has.
    pub jobs: u64,
    /// How it ended.
    pub end: End,
    /// The CI system's own word; empty when it never said.
    pub state: String,
}

/// How a step ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// It is over.
    Ended,
    /// It did not run, or waits for what may never come.
    CannotRun,
    /// The build has no such step.
    Absent,
    /// It was not over at the deadline.
    Late,
}

impl Waited {
    /// The steps that were not over at the deadline.
    pub fn late(&self) -> impl Iterator<Item = &StepEnd> {
        self.steps.iter().filter(|step| step.end == End::Late)
    }
}

/// Waits for the steps, and for those that build images.
///
/// `open` is told how many steps are not over after each poll that changed the number.
pub fn wait(
    ci: &dyn Ci,
    steps: &[Step],
    maps: &[StepKey],
    options: &WaitOptions,
    open: &dyn Fn(usize),
) -> Waited {
    let deadline = Instant::now() + options.deadline;
    let mut armed: Vec<Watched> = steps.iter().cloned().map(Watched::new).collect();
    let singles = maps.iter().cloned().map(Step::single);
    let mut images: Vec<Watched> = singles.map(Watched::new).collect();
    let mut waited = Waited::default();
    let mut pause = options.longest_pause / 8;
    let mut told = None;
    loop {
        for group in [&mut armed, &mut images] {
            ask(ci, group, deadline, &mut waited);
        }
        if no_image_was_built(&images) {
            armed.iter_mut().for_each(Watched::give_up_waiting);
        }
        let all = armed.iter().chain(&images);
        let left_open = all.filter(|watched| watched.end.is_none()).count();
        if told.replace(left_open) != Some(left_open) {
            open(left_open);
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left_open == 0 || left.is_zero() {
            break;
        }
        thread::sleep(pause.min(left));
        pause = pause.saturating_mul(2).min(options.longest_pause);
    }
    waited.steps = armed.into_iter().map(Watched::end).collect();
    waited.map_steps = images.into_iter().map(Watched::end).collect();
    waited
}

struct Watched {
    step: Step,
    state: Option<State>,
    absent: u32,
    end: Option<End>,
}

impl Watched {
    fn new(step: Step) -> Self {
        Self {
            step,
            state: None,
            absent: 0,
            end: None,
        }
    }

    fn saw(&mut self, state: State) {
        self.absent = 0;
        self.end = match state.phase {
            Phase::Waiting | Phase::Running => None,
            Phase::Ended => Some(End::Ended),
            Phase::CannotRun => Some(End::CannotRun),
        };
        self.state = Some(state);
    }

    fn is_absent(&mut self) {
        self.absent += 1;
        if self.absent >= ABSENT_TIMES {
            self.end = Some(End::Absent);
        }
    }

    fn give_up_waiting(&mut self) {
        let waits = |state: &State| state.phase == Phase::Waiting;
        if self.end.is_none() && self.state.as_ref().is_some_and(waits) {
            self.end = Some(End::CannotRun);
        }
    }

    fn end(self) -> StepEnd {
        StepEnd {
            step: self.step.key,
            jobs: self.step.jobs,
            end: self.end.unwrap_or(End::Late),
            state: self.state.map(|state| state.word).unwrap_or_default(),
        }
    }
}

fn ask(ci: &dyn Ci, group: &mut [Watched], deadline: Instant, waited: &mut Waited) {
    let mut open: Vec<&mut Watched> = group.iter_mut().filter(|one| one.end.is_none()).collect();
    if open.is_empty() {
        return;
    }
    let steps: Vec<Step> = open.iter().map(|watched| watched.step.clone()).collect();
    let until = deadline.max(Instant::now() + LEAST);
    let answers = ci.poll(&steps.iter().collect::<Vec<_>>(), until);
    waited.polls += 1;
    for (watched, answer) in open.iter_mut().zip(answers) {
        match answer {
            Poll::State(state) => watched.saw(state),
            Poll::Absent => watched.is_absent(),
            Poll::Failed(error) => waited.failed(&error),
        }
    }
}

impl Waited {
    fn failed(&mut self, error: &CiError) {
        self.failed_polls += 1;
        self.last_failure = Some(error.to_string());
    }
}

/// A step that waits for an image that nobody builds any more would be waited for until the deadline. With one image
/// of several built, steps may wait for something else.
fn no_image_was_built(images: &[Watched]) -> bool {
    let failed = |watched: &Watched| {
        let passed = watched.state.as_ref().and_then(|state| state.passed);
        match watched.end {
            Some(End::Ended) => passed == Some(false),
            Some(End::CannotRun | End::Absent) => true,
            Some(End::Late) | None => false,
        }
    };
    !images.is_empty() && images.iter().all(failed)
}
