//! The whole way from records and a change to the report.

use crate::change::Change;
use crate::decision::{Policy, decide};
use crate::evidence::PairEvidence;
use crate::index::Index;
use crate::pair::{Record, Unavailable};
use crate::report::Report;
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

/// Which steps can the change reach, and may the others be skipped? Neither the order of the records nor that of
/// the files matters. A pair that cannot be indexed is reported, and counts, as unavailable.
pub fn select(records: &[Record], change: &Change, policy: &Policy) -> Result<Report, SelectError> {
    distinct(records)?;
    let (indexes, unavailable) = indexed(records);
    let pairs: Vec<PairEvidence<'_>> = indexes
        .iter()
        .map(|index| PairEvidence::gather(index, change))
        .collect();
    let decision = decide(&pairs, !unavailable.is_empty(), policy);
    Ok(Report::new(&pairs, &unavailable, &decision, change, policy))
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

/// The searchable pairs and the backends without one, each sorted by backend.
pub(crate) fn indexed(records: &[Record]) -> (Vec<Index<'_>>, Vec<Unavailable>) {
    let mut indexes = Vec::new();
    let mut unavailable = Vec::new();
    for record in records {
        let pair = match record {
            Record::Unavailable(gone) => {
                unavailable.push(gone.clone());
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
    (indexes, unavailable)
}
