//! All pairs' words on each step become one.
//!
//! A launch in any pair selects. Otherwise a step may be skipped only if some pair lets it go, no pair with a
//! voice keeps it, and no backend is unavailable. A pair without a row for the step has no say, and neither has
//! one whose row is of another known backend, so that a step recorded in one pair only is judged by it alone.
//!
//! With a step file, its steps are decided on and no others, and one that no changed file proposes may be skipped
//! unless the record adds it. At last, what a step needs that runs, runs too.

use super::verdict::verdicts;
use super::{Fate, Policy, Reason, Verdict};
use crate::evidence::PairEvidence;
use crate::index::Index;
use crate::steps::{Plan, PlannedStep, Proposal};
use kernrec_schemas::{Backend, StepKey};
use std::collections::{BTreeMap, BTreeSet};

/// One step.
#[derive(Debug)]
pub struct StepDecision<'e> {
    /// The deciding reason.
    pub reason: Reason,
    /// What each pair with a row for it says, by backend.
    pub verdicts: Vec<Verdict<'e>>,
}

/// Every step that any pair has a row for; with a step file, every step that has a key there.
#[derive(Debug)]
pub struct Decision<'e> {
    /// By step key.
    pub steps: BTreeMap<&'e StepKey, StepDecision<'e>>,
    indexes: BTreeMap<Backend, &'e Index<'e>>,
}

impl Decision<'_> {
    /// The steps of one fate, sorted.
    pub fn of(&self, fate: Fate) -> impl Iterator<Item = (&StepKey, &StepDecision<'_>)> {
        self.steps
            .iter()
            .filter(move |(_, step)| step.reason.fate() == fate)
            .map(|(key, step)| (*key, step))
    }

    /// The index in which a verdict's kernels have their names.
    pub(crate) fn index(&self, backend: Backend) -> Option<&Index<'_>> {
        self.indexes.get(&backend).copied()
    }
}

/// Decides over all pairs, in any order. `unavailable`: a backend that was asked for, or has a folder in the data,
/// cannot be loaded.
pub(crate) fn decide<'e>(
    pairs: &'e [PairEvidence<'e>],
    unavailable: bool,
    policy: &Policy,
    plan: Option<&'e Plan<'e>>,
) -> Decision<'e> {
    let mut collected: BTreeMap<&StepKey, Vec<Verdict<'e>>> = BTreeMap::new();
    for step in plan.into_iter().flat_map(|plan| plan.steps.keys()) {
        collected.insert(step, Vec::new());
    }
    for pair in pairs {
        for (step, verdict) in verdicts(pair, policy, plan) {
            collected.entry(step).or_default().push(verdict);
        }
    }
    let steps = collected.into_iter().map(|(step, mut verdicts)| {
        verdicts.sort_by_key(|verdict| verdict.backend);
        let reason = match plan.and_then(|plan| Some((plan, plan.steps.get(step)?))) {
            Some((plan, planned)) => planned_reason(&verdicts, unavailable, plan, planned),
            None => combined(&verdicts, unavailable),
        };
        (step, StepDecision { reason, verdicts })
    });
    let mut steps = steps.collect();
    if let Some(plan) = plan {
        keep_what_is_needed(&mut steps, plan);
    }
    Decision {
        steps,
        indexes: pairs
            .iter()
            .map(|pair| (pair.index.backend(), pair.index))
            .collect(),
    }
}

fn planned_reason(
    verdicts: &[Verdict<'_>],
    unavailable: bool,
    plan: &Plan<'_>,
    step: &PlannedStep,
) -> Reason {
    if step.is_ambiguous {
        return Reason::UnmappableStepId;
    }
    let reason = match &step.proposal {
        Proposal::Files(files) if files.is_empty() => unproposed(verdicts, unavailable),
        Proposal::Files(_) | Proposal::All => combined(verdicts, unavailable),
    };
    if plan.runs_all && reason.fate() != Fate::Selected {
        return reason.min(Reason::SelectedWithoutAFile);
    }
    reason
}

/// The step file lets the step go, unless a record adds it, or might have.
fn unproposed(verdicts: &[Verdict<'_>], unavailable: bool) -> Reason {
    match voiced(verdicts).min() {
        None | Some(Reason::NoFileOfTheStepChanged) if unavailable => Reason::PairUnavailable,
        None => Reason::NoFileOfTheStepChanged,
        Some(reason) => reason,
    }
}

fn combined(verdicts: &[Verdict<'_>], unavailable: bool) -> Reason {
    if verdicts.is_empty() {
        return Reason::NoRow;
    }
    let selected = Reason::RowLaunchedAKernelFromAChangedFile;
    if verdicts.iter().any(|verdict| verdict.reason == selected) {
        return selected;
    }
    // The reason to skip is the last of all, so it is the smallest only if no voice keeps the step.
    match voiced(verdicts).min() {
        Some(Reason::RowLaunchedNoneOfItsKernels) if unavailable => Reason::PairUnavailable,
        Some(reason) => reason,
        None => Reason::RowAndMapFromDifferentBackends,
    }
}

fn voiced(verdicts: &[Verdict<'_>]) -> impl Iterator<Item = Reason> {
    let with_voice = verdicts.iter().filter(|verdict| verdict.has_voice);
    with_voice.map(|verdict| verdict.reason)
}

/// Steps of a circle, and whatever a step needs that runs.
fn keep_what_is_needed(steps: &mut BTreeMap<&StepKey, StepDecision<'_>>, plan: &Plan<'_>) {
    keep(steps, plan, &plan.circles, Reason::InADependencyCycle);
    let running = steps
        .iter()
        .filter(|(_, decision)| decision.reason.fate() != Fate::Skipped)
        .filter_map(|(key, _)| plan.steps.get(*key))
        .flat_map(|step| step.numbers.iter().copied());
    let unkeyed = plan.unkeyed.iter().map(|(number, _)| *number);
    let needed = plan.needs.closure(running.chain(unkeyed));
    keep(steps, plan, &needed, Reason::NeededByAStepThatRuns);
}

/// Keeps those of the steps with these numbers that would be skipped.
fn keep(
    steps: &mut BTreeMap<&StepKey, StepDecision<'_>>,
    plan: &Plan<'_>,
    kept: &BTreeSet<usize>,
    reason: Reason,
) {
    for (key, decision) in steps {
        let numbers = plan.steps.get(*key).map(|step| &step.numbers);
        let is_kept = numbers.is_some_and(|numbers| numbers.iter().any(|n| kept.contains(n)));
        if is_kept && decision.reason.fate() == Fate::Skipped {
            decision.reason = reason;
        }
    }
}
