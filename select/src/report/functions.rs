//! What the function record knows of changed files, and what steps entered of them.

use super::build::first;
use super::{LimitProblem, MAX_EXAMPLES, RecordReport, RecordState};
use crate::decision::{Policy, Reason, StepDecision, function_record_limits};
use crate::evidence::{Cause, FileClass};
use crate::functions::{FunctionEvidence, FunctionFile, FunctionIndex};
use crate::lineage::Lineage;
use kernrec_schemas::{Backend, StepKey};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the function record knows about one changed file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FunctionsSeen {
    /// What silence about the file is worth.
    pub class: FileClass,
    /// Why it may only select; empty for every other class.
    pub causes: Vec<Cause>,
    /// It changed between the record and the base of the change: silence about it says nothing.
    pub moved: bool,
    /// `narrowed-to-changed-functions`, `narrowed-to-changed-pins`, `whole-file` if nobody looked what changed in it, or
    /// `widened:` and why the whole file counts.
    pub word: String,
    /// How many functions or pins changed; 0 when the whole file counts.
    pub changed_count: u64,
    /// The first of them: qualified names, or distributions.
    pub changed: Vec<String>,
    /// How many of them some step entered or used; of a file that counts whole, how many of its functions.
    pub observed: u64,
    /// The steps that entered or used any of it, sorted.
    pub steps: Vec<EnteredCount>,
}

/// A step and how much of a changed file it entered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EnteredCount {
    /// The step.
    pub step: StepKey,
    /// Changed functions that it entered, or packages with another pin that it used.
    pub entered: u64,
}

/// What a step entered of what changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EnteredReport {
    /// Of how many changed files.
    pub file_count: u64,
    /// The first of those files.
    pub files: Vec<String>,
    /// How many changed functions it entered.
    pub function_count: u64,
    /// The first of them.
    pub functions: Vec<EnteredFunction>,
    /// The packages that it used of distributions with another pin.
    pub libraries: Vec<String>,
}

/// A function of a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct EnteredFunction {
    /// The file.
    pub file: String,
    /// The function's qualified name.
    pub name: String,
}

impl FunctionsSeen {
    pub(super) fn of(evidence: &FunctionEvidence<'_>, file: &FunctionFile<'_>) -> Self {
        let steps = file.users().into_iter().filter_map(|(row, entered)| {
            let row = evidence.index.rows().get(row as usize)?;
            Some(EnteredCount {
                step: row.step.clone(),
                entered: entered as u64,
            })
        });
        Self {
            class: file.class,
            causes: file.causes.iter().copied().collect(),
            moved: file.moved,
            word: file.word.clone(),
            changed_count: file.names.len() as u64,
            changed: file.names.iter().take(MAX_EXAMPLES).cloned().collect(),
            observed: file.observed as u64,
            steps: steps.collect(),
        }
    }
}

impl EnteredReport {
    /// What the function record saw of a step; `None` if it saw nothing.
    pub(super) fn of(said: &StepDecision<'_>, index: Option<&FunctionIndex<'_>>) -> Option<Self> {
        let saw = |reason| {
            matches!(
                reason,
                Reason::RowEnteredAChangedFunction | Reason::RowUsedAChangedLibrary
            )
        };
        let verdict = said.verdicts.iter().find(|verdict| saw(verdict.reason))?;
        let mut functions: Vec<EnteredFunction> = verdict
            .functions
            .iter()
            .filter_map(|&number| index?.function(number))
            .map(|function| EnteredFunction {
                file: function.file.to_string(),
                name: function.name.to_string(),
            })
            .collect();
        functions.sort_unstable();
        let function_count = functions.len() as u64;
        functions.truncate(MAX_EXAMPLES);
        Some(Self {
            file_count: verdict.files.len() as u64,
            files: first(&verdict.files),
            function_count,
            functions,
            libraries: first(&verdict.libraries),
        })
    }
}

pub(super) fn record_report(evidence: &FunctionEvidence<'_>, policy: &Policy) -> RecordReport {
    let record = evidence.index.record();
    let source = &record.table.source;
    let faults = record.table.faults.iter();
    let lineage = match &record.lineage {
        Lineage::Broken { reason, problem } => Some((reason.clone(), problem.clone())),
        Lineage::Unchecked | Lineage::Ancestor(_) => None,
    };
    let unverified = (record.unverified.as_ref())
        .map(|problem| (Reason::RecordUnverified.word().to_owned(), problem.clone()));
    let problems = lineage.into_iter().chain(unverified);
    RecordReport {
        backend: Backend::Python,
        state: RecordState::Ready {
            pipeline: source.pipeline.clone(),
            build: source.build,
            commit: source.commit.clone(),
            published_at: record.published_at,
            age_seconds: policy.freshness(record.published_at).age_seconds(),
            rows: record.table.rows.len() as u64,
            usable_rows: evidence.index.usable_rows(),
            faults: faults
                .map(|fault| format!("{}: {}", fault.key, fault.problem))
                .collect(),
            limits: function_record_limits(evidence, policy),
            problems: problems
                .map(|(reason, problem)| LimitProblem { reason, problem })
                .collect(),
        },
    }
}
