//! All pairs' words on each step become one.
//!
//! A launch in any pair selects. Otherwise a step may be skipped only if some pair lets it go, no pair with a
//! voice keeps it, and no backend is unavailable. A pair without a row for the step has no say, and neither has
//! one whose row is of another known backend, so that a step recorded in one pair only is judged by it alone.
//!
//! With a step file, its steps are decided on and no others, and one that no changed file proposes may be skipped
//! unless the record adds it. At last, what a step needs that runs, runs too.
//!
//! With a function record the changed files are shared out: it speaks for Python files and lists of pins, the pairs for
//! all others. A step may be skipped only if each file that proposes it has a record that speaks for it and lets the
//! step go. What either saw selects, whatever the other did not see.

use super::functions::function_verdicts;
use super::verdict::verdicts;
use super::{Fate, Policy, Reason, Verdict};
use crate::evidence::PairEvidence;
use crate::functions::{FunctionEvidence, FunctionIndex};
use crate::index::Index;
use crate::pair::Unavailable;
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
    /// In which the functions of verdicts have their names.
    pub(crate) functions: Option<&'e FunctionIndex<'e>>,
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

/// What is decided on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Evidence<'e> {
    /// The pairs, in any order.
    pub(crate) pairs: &'e [PairEvidence<'e>],
    /// The function record.
    pub(crate) functions: Option<&'e FunctionEvidence<'e>>,
    /// Which of the changed files the function record speaks for, in their order; all others are the pairs'.
    pub(crate) spoken: &'e [bool],
    /// A record that ought to be there is not.
    pub(crate) is_missing: bool,
}

impl<'e> Evidence<'e> {
    /// All of it. A record is missing if one cannot be had, and if files changed of which none speaks: nothing then says
    /// what a step does with them, and nothing can add what a step file leaves out.
    pub(crate) fn of(
        pairs: &'e [PairEvidence<'e>],
        functions: Option<&'e FunctionEvidence<'e>>,
        spoken: Option<&'e [bool]>,
        unavailable: &[Unavailable],
    ) -> Self {
        let spoken = spoken.unwrap_or_default();
        let has_unspoken = functions.is_none() || spoken.iter().any(|&spoken| !spoken);
        Self {
            pairs,
            functions,
            spoken,
            is_missing: !unavailable.is_empty() || (pairs.is_empty() && has_unspoken),
        }
    }
}

/// Decides over all records.
pub(crate) fn decide<'e>(
    evidence: &Evidence<'e>,
    policy: &Policy,
    plan: Option<&'e Plan<'e>>,
) -> Decision<'e> {
    let Evidence {
        pairs,
        functions,
        spoken,
        ..
    } = *evidence;
    let mut collected: BTreeMap<&StepKey, Vec<Verdict<'e>>> = BTreeMap::new();
    for step in plan.into_iter().flat_map(|plan| plan.steps.keys()) {
        collected.insert(step, Vec::new());
    }
    for pair in pairs {
        for (step, verdict) in verdicts(pair, policy, plan, spoken) {
            collected.entry(step).or_default().push(verdict);
        }
    }
    if let Some(functions) = functions {
        for (step, verdict) in function_verdicts(functions, policy, plan) {
            collected.entry(step).or_default().push(verdict);
        }
    }
    let steps = collected.into_iter().map(|(step, mut verdicts)| {
        verdicts.sort_by_key(|verdict| verdict.backend);
        let reason = match plan.and_then(|plan| Some((plan, plan.steps.get(step)?))) {
            Some((plan, planned)) => planned_reason(&verdicts, evidence, plan, planned),
            None => combined(&verdicts, evidence, &Proposal::All),
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
        functions: functions.map(|functions| functions.index),
    }
}

fn planned_reason(
    verdicts: &[Verdict<'_>],
    evidence: &Evidence<'_>,
    plan: &Plan<'_>,
    step: &PlannedStep,
) -> Reason {
    if step.is_ambiguous {
        return Reason::UnmappableStepId;
    }
    let reason = match &step.proposal {
        Proposal::Files(files) if files.is_empty() => unproposed(verdicts, evidence),
        proposal @ (Proposal::Files(_) | Proposal::All) => combined(verdicts, evidence, proposal),
    };
    if plan.runs_all && reason.fate() != Fate::Selected {
        return reason.min(Reason::SelectedWithoutAFile);
    }
    reason
}

/// The step file lets the step go, unless a record adds it, or might have.
fn unproposed(verdicts: &[Verdict<'_>], evidence: &Evidence<'_>) -> Reason {
    if let Some(selected) = selected(verdicts) {
        return selected;
    }
    match voiced(verdicts).min() {
        None | Some(Reason::NoFileOfTheStepChanged) if evidence.is_missing => {
            Reason::PairUnavailable
        }
        None => Reason::NoFileOfTheStepChanged,
        Some(reason) => reason,
    }
}

fn combined(verdicts: &[Verdict<'_>], evidence: &Evidence<'_>, proposal: &Proposal) -> Reason {
    if verdicts.is_empty() {
        return Reason::NoRow;
    }
    if let Some(selected) = selected(verdicts) {
        return selected;
    }
    // The reasons to skip are the last of all, so one is the smallest only if no voice keeps the step.
    let said = voiced(verdicts).chain(unheard(verdicts, evidence, proposal));
    match said.min() {
        Some(reason) if reason.fate() == Fate::Skipped && evidence.is_missing => {
            Reason::PairUnavailable
        }
        Some(reason) => reason,
        None => Reason::RowAndMapFromDifferentBackends,
    }
}

/// What some record saw. A launch is asked first, and that of any pair, with a voice or not.
fn selected(verdicts: &[Verdict<'_>]) -> Option<Reason> {
    let reasons = || verdicts.iter().map(|verdict| verdict.reason);
    let selected = reasons().find(|reason| *reason == Reason::RowLaunchedAKernelFromAChangedFile);
    let selected = selected.or_else(|| reasons().find(|reason| reason.fate() == Fate::Selected))?;
    let is_call = selected != Reason::RowLaunchedAKernelFromAChangedFile;
    let lets_go = |reason: Reason| reason == Reason::RowLaunchedNoneOfItsKernels;
    Some(if is_call && voiced(verdicts).any(lets_go) {
        Reason::HeldByThePythonRecord
    } else {
        selected
    })
}

/// Files propose the step of which no record with a row for it can speak, while another record has a row.
fn unheard(
    verdicts: &[Verdict<'_>],
    evidence: &Evidence<'_>,
    proposal: &Proposal,
) -> Option<Reason> {
    let functions = evidence.functions?;
    let count = functions.files.len();
    let is_spoken = |number: usize| evidence.spoken.get(number).is_some_and(|&spoken| spoken);
    let of_functions = proposal.numbers(count).any(is_spoken);
    let of_kernels = !proposal.numbers(count).all(is_spoken);
    let has_row = |kernels: bool| {
        let of_kind =
            |verdict: &Verdict<'_>| verdict.has_voice && verdict.backend.has_kernels() == kernels;
        verdicts.iter().any(of_kind)
    };
    if of_kernels && evidence.pairs.is_empty() {
        return Some(Reason::SelectedByAFileOutsideTheRecord);
    }
    let is_unheard = (of_functions && !has_row(false)) || (of_kernels && !has_row(true));
    is_unheard.then_some(Reason::NoRowForAChangedFile)
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
