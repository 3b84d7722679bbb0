//! One step and one file: the whole chain of evidence between them, for whoever doubts a decision.

use crate::change::{Change, ChangeError};
use crate::decision::{
    Decision, Evidence, Policy, Reason, decide, function_record_limits, record_limits,
};
use crate::evidence::{Cause, FileClass, FileEvidence, PairEvidence};
use crate::functions::{FunctionEvidence, changes};
use crate::pair::{Record, Unavailable};
use crate::placing::Placing;
use crate::select::{Indexed, SelectError, distinct, indexed};
use kernrec_schemas::table::{Row, RowReason};
use kernrec_schemas::{Backend, KernelName, StepKey};

/// Why there is no explanation.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExplainError {
    /// The file is named wrongly.
    #[error(transparent)]
    File(#[from] ChangeError),
    /// The records contradict each other.
    #[error(transparent)]
    Records(#[from] SelectError),
}

/// What stands between one step and one file, as if the whole file had changed and nothing else.
#[derive(Debug)]
pub struct Explanation {
    /// The step.
    pub step: StepKey,
    /// The file, in the map's spelling.
    pub file: String,
    /// The deciding reason over all records; `None` when no record has a row for the step: nothing is known of it,
    /// and it must run.
    pub reason: Option<Reason>,
    /// Each record's part, by backend.
    pub records: Vec<ExplainedRecord>,
    /// The function record's part, if it speaks for the file.
    pub functions: Option<ExplainedFunctions>,
    /// The backends that cannot be had.
    pub unavailable: Vec<Unavailable>,
}

/// What one backend's record knows.
#[derive(Debug)]
pub struct ExplainedRecord {
    /// The backend.
    pub backend: Backend,
    /// What silence about the file is worth here.
    pub class: FileClass,
    /// Why the file may only select; empty for every other class.
    pub causes: Vec<Cause>,
    /// Objects compiled from the file or including it.
    pub objects: u64,
    /// The kernels of those objects, sorted by name.
    pub kernels: Vec<ExplainedKernel>,
    /// Why the whole record may only add steps; empty when its silence may be believed.
    pub limits: Vec<Reason>,
    /// The step's row, if the record has one.
    pub row: Option<ExplainedRow>,
}

/// What the function record knows.
#[derive(Debug)]
pub struct ExplainedFunctions {
    /// What silence about the file is worth here.
    pub class: FileClass,
    /// Why the file may only select; empty for every other class.
    pub causes: Vec<Cause>,
    /// The functions of the file that any step entered, sorted by name.
    pub functions: Vec<ExplainedFunction>,
    /// Why the whole record may only add steps; empty when its silence may be believed.
    pub limits: Vec<Reason>,
    /// Why the silence of the step's row does not count, empty for a usable row, and the first reason that holds in this
    /// record alone; `None` if the record has no row for the step.
    pub row: Option<(Vec<RowReason>, Reason)>,
}

/// One function of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExplainedFunction {
    /// Its qualified name.
    pub name: String,
    /// Whether the step entered it.
    pub entered: bool,
    /// How many steps entered it.
    pub steps: u64,
}

/// One kernel of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExplainedKernel {
    /// Its exact name, as the map spells it.
    pub name: KernelName,
    /// Whether the step launched it.
    pub launched: bool,
    /// How many steps launched it.
    pub steps: u64,
}

/// The step's row.
#[derive(Debug)]
pub struct ExplainedRow {
    /// The row as the table has it.
    pub row: Row,
    /// Why its silence does not count; empty for a usable row.
    pub doubts: Vec<RowReason>,
    /// The first reason that holds in this record alone.
    pub reason: Reason,
}

/// Explains what the records say of one step and one file.
pub fn explain(
    records: &[Record],
    step: &StepKey,
    file: &str,
    policy: &Policy,
) -> Result<Explanation, ExplainError> {
    let change = Change::of_files([file])?;
    distinct(records)?;
    let Indexed {
        pairs: indexes,
        functions,
        unavailable,
    } = indexed(records);
    let pairs: Vec<PairEvidence<'_>> = indexes
        .iter()
        .map(|index| PairEvidence::gather(index, &change))
        .collect();
    let functions = functions.as_ref().map(|index| {
        let changes = changes(&change, Placing::File);
        FunctionEvidence::gather(index, &change, &changes, None)
    });
    let spoken = functions.as_ref().map(FunctionEvidence::spoken);
    let evidence = Evidence::of(&pairs, functions.as_ref(), spoken.as_deref(), &unavailable);
    let decision = decide(&evidence, policy, None);
    Ok(Explanation {
        step: step.clone(),
        file: change.files().map(|file| file.path.to_string()).collect(),
        reason: decision.steps.get(step).map(|said| said.reason),
        records: pairs
            .iter()
            .flat_map(|pair| pair.files.iter().map(move |file| (pair, file)))
            .map(|(pair, file)| explained_record(pair, file, step, &decision, policy))
            .collect(),
        functions: functions
            .as_ref()
            .and_then(|evidence| explained_functions(evidence, step, &decision, policy)),
        unavailable,
    })
}

fn explained_functions(
    evidence: &FunctionEvidence<'_>,
    step: &StepKey,
    decision: &Decision<'_>,
    policy: &Policy,
) -> Option<ExplainedFunctions> {
    let file = evidence.known().next()?;
    let index = evidence.index;
    let numbered = (0_u32..).zip(index.rows());
    let row = numbered.into_iter().find(|(_, row)| row.step == step);
    let functions = index.functions_in(file.path.as_str());
    let functions = functions.iter().filter_map(|&function| {
        let rows = index.rows_of(function);
        let entered = row
            .as_ref()
            .is_some_and(|(number, _)| rows.contains(number));
        Some(ExplainedFunction {
            name: index.function(function)?.name.to_string(),
            entered,
            steps: rows.len() as u64,
        })
    });
    let mut functions: Vec<ExplainedFunction> = functions.collect();
    functions.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    let said = |step| {
        let verdicts = &decision.steps.get(step)?.verdicts;
        let said = verdicts
            .iter()
            .find(|said| said.backend == Backend::Python)?;
        Some(said.reason)
    };
    Some(ExplainedFunctions {
        class: file.class,
        causes: file.causes.iter().copied().collect(),
        functions,
        limits: function_record_limits(evidence, policy),
        row: row.and_then(|(_, row)| Some((row.doubts.iter().cloned().collect(), said(step)?))),
    })
}

fn explained_record(
    pair: &PairEvidence<'_>,
    file: &FileEvidence<'_>,
    step: &StepKey,
    decision: &Decision<'_>,
    policy: &Policy,
) -> ExplainedRecord {
    let number = (0_u32..)
        .zip(pair.index.rows())
        .find(|(_, row)| row.step == step)
        .map(|(number, _)| number);
    ExplainedRecord {
        backend: pair.index.backend(),
        class: file.class,
        causes: file.causes.iter().copied().collect(),
        objects: file.objects as u64,
        kernels: explained_kernels(pair, file, number),
        limits: record_limits(pair, policy),
        row: explained_row(pair, step, decision),
    }
}

fn explained_kernels(
    pair: &PairEvidence<'_>,
    file: &FileEvidence<'_>,
    row: Option<u32>,
) -> Vec<ExplainedKernel> {
    let mut kernels: Vec<_> = file
        .kernels
        .iter()
        .map(|&kernel| {
            let rows = pair.index.rows_of(kernel);
            ExplainedKernel {
                name: pair.index.name(kernel).clone(),
                launched: row.is_some_and(|row| rows.contains(&row)),
                steps: rows.len() as u64,
            }
        })
        .collect();
    kernels.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    kernels
}

fn explained_row(
    pair: &PairEvidence<'_>,
    step: &StepKey,
    decision: &Decision<'_>,
) -> Option<ExplainedRow> {
    let row = pair.index.pair().table.rows.get(step)?;
    let indexed = pair.index.rows().iter().find(|row| row.step == step)?;
    let backend = pair.index.backend();
    let verdicts = &decision.steps.get(step)?.verdicts;
    let verdict = verdicts.iter().find(|said| said.backend == backend)?;
    Some(ExplainedRow {
        row: row.clone(),
        doubts: indexed.doubts.iter().cloned().collect(),
        reason: verdict.reason,
    })
}
