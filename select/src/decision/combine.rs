//! All pairs' words on each step become one.
//!
//! A launch in any pair selects. Otherwise a step may be skipped only if some pair lets it go, no pair with a
//! voice keeps it, and no backend is unavailable. A pair without a row for the step has no say, and neither has
//! one whose row is of another known backend, so that a step recorded in one pair only is judged by it alone.

use super::verdict::verdicts;
use super::{Fate, Policy, Reason, Verdict};
use crate::evidence::PairEvidence;
use crate::index::Index;
use kernrec_schemas::{Backend, StepKey};
use std::collections::BTreeMap;

/// One step.
#[derive(Debug)]
pub struct StepDecision<'e> {
    /// The deciding reason.
    pub reason: Reason,
    /// What each pair with a row for it says, by backend.
    pub verdicts: Vec<Verdict<'e>>,
}

/// Every step that any pair has a row for.
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
pub fn decide<'e>(
    pairs: &'e [PairEvidence<'e>],
    unavailable: bool,
    policy: &Policy,
) -> Decision<'e> {
    let mut collected: BTreeMap<&StepKey, Vec<Verdict<'e>>> = BTreeMap::new();
    for pair in pairs {
        for (step, verdict) in verdicts(pair, policy) {
            collected.entry(step).or_default().push(verdict);
        }
    }
    let steps = collected.into_iter().map(|(step, mut verdicts)| {
        verdicts.sort_by_key(|verdict| verdict.backend);
        (
            step,
            StepDecision {
                reason: combined(&verdicts, unavailable),
                verdicts,
            },
        )
    });
    Decision {
        steps: steps.collect(),
        indexes: pairs
            .iter()
            .map(|pair| (pair.index.backend(), pair.index))
            .collect(),
    }
}

fn combined(verdicts: &[Verdict<'_>], unavailable: bool) -> Reason {
    let selected = Reason::RowLaunchedAKernelFromAChangedFile;
    if verdicts.iter().any(|verdict| verdict.reason == selected) {
        return selected;
    }
    let voiced = || {
        verdicts
            .iter()
            .filter(|verdict| verdict.has_voice)
            .map(|verdict| verdict.reason)
    };
    // The reason to skip is the last of all, so it is the smallest only if no voice keeps the step.
    let spoken = voiced().min();
    match spoken {
        Some(Reason::RowLaunchedNoneOfItsKernels) if unavailable => Reason::PairUnavailable,
        Some(reason) => reason,
        None => Reason::RowAndMapFromDifferentBackends,
    }
}
