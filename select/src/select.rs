//! The whole way from records and a change to the report.

use crate::change::{Assumes, Change, ChangedFile, FileStatus};
use crate::decision::{Decision, Evidence, Policy, decide};
use crate::evidence::PairEvidence;
use crate::functions::{FunctionEvidence, FunctionIndex, Libraries, changes};
use crate::index::Index;
use crate::pair::{Record, Unavailable};
use crate::placing::{Placing, place};
use crate::report::Report;
use crate::steps::{Plan, Steps};
use kernrec_schemas::Backend;
use std::collections::BTreeSet;

/// A question that has no answer because it is put wrongly.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SelectError {
    /// Two records of one backend could contradict each other.
    #[error("two records of backend `{backend}` were given")]
    BackendTwice {
        /// The backend.
        backend: Backend,
    },
}

impl SelectError {
    /// The stable word for machines.
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::BackendTwice { .. } => "backend-given-twice",
        }
    }
}

/// What is asked of the records.
#[derive(Debug, Clone, Copy)]
pub struct Question<'q> {
    /// What changed.
    pub change: &'q Change,
    /// The steps of the pipeline and the files that propose them; `None`: every changed file proposes every row.
    pub steps: Option<&'q Steps>,
    /// The present, and how old a record may be.
    pub policy: Policy,
    /// How closely the changed files are looked into.
    pub placing: Placing<'q>,
    /// Which packages distributions bring, as far as somebody declared it.
    pub libraries: Option<&'q Libraries>,
}

impl Question<'_> {
    /// What an answer takes for granted about the change.
    pub fn assumes(&self) -> Vec<Assumes> {
        let is_named = |file: &ChangedFile| file.status == FileStatus::Named;
        match self.placing {
            Placing::Kernel { .. } if !self.change.files().any(is_named) => Vec::new(),
            Placing::Kernel { .. } | Placing::File => vec![Assumes::DeviceCode],
        }
    }
}

/// Which steps can the change reach, and may the others be skipped? Neither the order of the records nor that of
/// the files or steps matters. A pair that cannot be indexed is reported, and counts, as unavailable.
pub fn select(records: &[Record], question: &Question<'_>) -> Result<Report, SelectError> {
    distinct(records)?;
    let Indexed {
        pairs: indexes,
        functions,
        unavailable,
    } = indexed(records);
    let pairs: Vec<PairEvidence<'_>> = indexes
        .iter()
        .zip(place(&indexes, question.change, question.placing))
        .map(|(index, placed)| PairEvidence::gather_placed(index, question.change, placed))
        .collect();
    let functions = functions.as_ref().map(|index| {
        let changes = changes(question.change, question.placing);
        FunctionEvidence::gather(index, question.change, &changes, question.libraries)
    });
    let spoken = functions.as_ref().map(FunctionEvidence::spoken);
    let plan = question.steps.map(|steps| Plan::of(steps, question.change));
    let evidence = Evidence::of(&pairs, functions.as_ref(), spoken.as_deref(), &unavailable);
    let decision = decide(&evidence, &question.policy, plan.as_ref());
    Ok(Report::new(&Answer {
        pairs: &pairs,
        functions: functions.as_ref(),
        unavailable: &unavailable,
        decision: &decision,
        plan: plan.as_ref(),
        question,
    }))
}

/// All that a report is made from.
pub(crate) struct Answer<'a> {
    pub(crate) pairs: &'a [PairEvidence<'a>],
    pub(crate) functions: Option<&'a FunctionEvidence<'a>>,
    pub(crate) unavailable: &'a [Unavailable],
    pub(crate) decision: &'a Decision<'a>,
    pub(crate) plan: Option<&'a Plan<'a>>,
    pub(crate) question: &'a Question<'a>,
}

/// Refuses two records of one backend.
pub(crate) fn distinct(records: &[Record]) -> Result<(), SelectError> {
    let mut backends = BTreeSet::new();
    let mut all = records.iter().map(Record::backend);
    match all.find(|backend| !backends.insert(*backend)) {
        Some(backend) => Err(SelectError::BackendTwice { backend }),
        None => Ok(()),
    }
}

/// The records made searchable.
pub(crate) struct Indexed<'a> {
    /// The pairs, by backend.
    pub(crate) pairs: Vec<Index<'a>>,
    pub(crate) functions: Option<FunctionIndex<'a>>,
    /// The backends without a record, sorted.
    pub(crate) unavailable: Vec<Unavailable>,
}

/// Makes every record searchable.
pub(crate) fn indexed(records: &[Record]) -> Indexed<'_> {
    let mut indexes = Vec::new();
    let mut functions = None;
    let mut unavailable = Vec::new();
    for record in records {
        let pair = match record {
            Record::Unavailable(gone) => {
                unavailable.push(gone.clone());
                continue;
            }
            Record::Functions(record) => {
                functions = Some(FunctionIndex::build(record));
                continue;
            }
            Record::Ready(pair) => pair,
        };
        match Index::build(pair) {
            Ok(index) => indexes.push(index),
            Err(error) => unavailable.push(Unavailable {
                backend: pair.backend,
                reason: error.reason().to_owned(),
                problem: error.to_string(),
            }),
        }
    }
    indexes.sort_by_key(Index::backend);
    unavailable.sort_by_key(|gone| gone.backend);
    Indexed {
        pairs: indexes,
        functions,
        unavailable,
    }
}
