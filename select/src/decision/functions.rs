//! The function record's word on one step.

use super::verdict::{Doubt, Verdict, record_doubt};
use super::{Policy, Reason};
use crate::evidence::FileClass;
use crate::functions::{FunctionEvidence, FunctionFile};
use crate::steps::{Plan, Proposal};
use kernrec_schemas::{Backend, StepKey};
use std::collections::BTreeSet;

/// Why the record may only add steps, in the order asked; empty when its silence may be believed.
pub(crate) fn function_record_limits(
    evidence: &FunctionEvidence<'_>,
    policy: &Policy,
) -> Vec<Reason> {
    let record = evidence.index.record();
    super::verdict::limits(
        record.published_at,
        &record.lineage,
        record.revoked,
        record.unverified.is_some(),
        policy,
    )
}

/// Every row with its verdict, by step; with a step file, those of its steps.
pub(super) fn function_verdicts<'e>(
    evidence: &'e FunctionEvidence<'_>,
    policy: &Policy,
    plan: Option<&Plan<'_>>,
) -> impl Iterator<Item = (&'e StepKey, Verdict<'e>)> {
    let limit = function_record_limits(evidence, policy).first().copied();
    let rows = (0_u32..).zip(evidence.index.rows());
    rows.filter_map(move |(number, row)| {
        let proposal = match plan {
            Some(plan) => &plan.steps.get(row.step)?.proposal,
            None => &Proposal::All,
        };
        let proposing = proposing(evidence, proposal);
        let verdict = observed(evidence, number)
            .unwrap_or_else(|| silent(&proposing, number, &row.doubts, limit));
        Some((row.step, verdict))
    })
}

/// The files that propose the step and that the record speaks for.
fn proposing<'e>(
    evidence: &'e FunctionEvidence<'_>,
    proposal: &Proposal,
) -> Vec<&'e FunctionFile<'e>> {
    match proposal {
        Proposal::All => evidence.known().collect(),
        Proposal::Files(numbers) => {
            let files = numbers
                .iter()
                .filter_map(|&number| evidence.files.get(number));
            files.flatten().collect()
        }
    }
}

/// What the row entered or used of any changed file: the step file proposes, and the record adds.
fn observed<'e>(evidence: &'e FunctionEvidence<'_>, row: u32) -> Option<Verdict<'e>> {
    let mut functions = Vec::new();
    let mut libraries: BTreeSet<&str> = BTreeSet::new();
    let mut files = Vec::new();
    for file in evidence.known() {
        let entered = file.entered_by(row);
        let before = libraries.len();
        libraries.extend(file.used_by(row));
        if !entered.is_empty() || libraries.len() > before {
            files.push(file.path.as_str());
        }
        functions.extend_from_slice(entered);
    }
    let reason = match (functions.is_empty(), libraries.is_empty()) {
        (false, _) => Reason::RowEnteredAChangedFunction,
        (true, false) => Reason::RowUsedAChangedLibrary,
        (true, true) => return None,
    };
    Some(Verdict {
        files,
        functions,
        libraries: libraries.into_iter().collect(),
        ..verdict(reason)
    })
}

fn silent<'e>(
    proposing: &[&'e FunctionFile<'e>],
    row: u32,
    doubts: &BTreeSet<kernrec_schemas::table::RowReason>,
    limit: Option<Reason>,
) -> Verdict<'e> {
    if proposing.is_empty() {
        return verdict(Reason::NoFileOfTheStepChanged);
    }
    let by_class = [
        (
            FileClass::FileNotInRecord,
            Reason::SelectedByAFileOutsideTheRecord,
        ),
        (FileClass::FileMayOnlySelect, Reason::FileMayOnlySelect),
        (
            FileClass::FunctionNeverObserved,
            Reason::FunctionNeverObserved,
        ),
    ];
    for (class, reason) in by_class {
        let of_class = proposing.iter().filter(|file| file.class == class);
        let files: Vec<&str> = of_class.map(|file| file.path.as_str()).collect();
        if !files.is_empty() {
            return Verdict {
                files,
                ..verdict(reason)
            };
        }
    }
    if !doubts.is_empty() {
        return Verdict {
            doubts: doubts.clone(),
            ..verdict(Reason::RowNotUsable)
        };
    }
    let blind = proposing
        .iter()
        .filter_map(|file| Some((file.path.as_str(), file.blindness_of(row)?.clone())));
    let (files, doubts): (Vec<_>, BTreeSet<_>) = blind.unzip();
    if !doubts.is_empty() {
        return Verdict {
            files,
            doubts,
            ..verdict(Reason::RowNotUsable)
        };
    }
    let moved = proposing.iter().filter(|file| file.moved);
    let moved = moved.map(|file| file.path.as_str()).collect();
    match record_doubt(limit, moved) {
        Some(Doubt { reason, files }) => Verdict {
            files,
            ..verdict(reason)
        },
        None => verdict(Reason::RowEnteredNoneOfItsFunctions),
    }
}

fn verdict<'e>(reason: Reason) -> Verdict<'e> {
    Verdict {
        backend: Backend::Python,
        reason,
        files: Vec::new(),
        kernels: Vec::new(),
        functions: Vec::new(),
        libraries: Vec::new(),
        doubts: BTreeSet::new(),
        has_voice: true,
    }
}
