//! One pair's word on one step: the first reason that holds, in the order of [`Reason`].

use super::{Policy, Reason};
use crate::evidence::{FileClass, FileEvidence, PairEvidence};
use crate::index::{IndexedRow, Standing, SymbolId, SymbolSet};
use kernrec_schemas::table::RowReason;
use kernrec_schemas::{Backend, StepKey};
use std::collections::BTreeSet;

/// What one pair says about one step that it has a row for.
#[derive(Debug)]
pub struct Verdict<'e> {
    /// The pair's backend.
    pub backend: Backend,
    /// The first reason that holds.
    pub reason: Reason,
    /// The files behind the reason, sorted; empty when it is about row or record.
    pub files: Vec<&'e str>,
    /// The kernels of those files that the step launched, each once; empty unless it did.
    pub kernels: Vec<SymbolId>,
    /// Why the row is not usable; empty unless that is the reason.
    pub doubts: BTreeSet<RowReason>,
    /// Whether this pair can hold the step against another pair's word: its row is of its own backend or unknown.
    pub(crate) has_voice: bool,
}

/// What holds for every row of a pair.
pub(super) struct PairRules {
    /// Why the whole record may only add steps.
    limit: Option<Reason>,
    /// How many symbols the maps hold.
    symbols: usize,
}

impl PairRules {
    pub(super) fn of(evidence: &PairEvidence<'_>, policy: &Policy) -> Self {
        Self {
            limit: record_limits(evidence, policy).first().copied(),
            symbols: evidence.index.symbol_count(),
        }
    }
}

/// Why this pair may only add steps, in the order asked; empty when its silence may be believed.
pub(crate) fn record_limits(evidence: &PairEvidence<'_>, policy: &Policy) -> Vec<Reason> {
    let pair = evidence.index.pair();
    let limits = [
        (
            !evidence.index.is_matched(),
            Reason::TableAndMapFromDifferentCommits,
        ),
        (
            !policy.freshness(pair.published_at).is_fresh(),
            Reason::RecordStale,
        ),
        (pair.revoked, Reason::RecordRevoked),
    ];
    limits
        .into_iter()
        .filter(|(holds, _)| *holds)
        .map(|(_, reason)| reason)
        .collect()
}

/// Every row of a pair with its verdict, by step. Without a step file every changed file proposes every row.
pub(super) fn verdicts<'e>(
    evidence: &'e PairEvidence<'_>,
    policy: &Policy,
) -> impl Iterator<Item = (&'e StepKey, Verdict<'e>)> {
    let rules = PairRules::of(evidence, policy);
    (0_u32..)
        .zip(evidence.index.rows())
        .map(move |(number, row)| {
            let finding = Finding::of(number, row, &evidence.files, &rules);
            (
                row.step,
                finding.into_verdict(evidence.index.backend(), row.standing != Standing::Foreign),
            )
        })
}

struct Finding<'e> {
    reason: Reason,
    files: Vec<&'e str>,
    kernels: Vec<SymbolId>,
    doubts: BTreeSet<RowReason>,
}

impl<'e> Finding<'e> {
    /// The first reason that holds for a row, given the files that propose its step.
    fn of(
        number: u32,
        row: &IndexedRow<'_>,
        proposing: &'e [FileEvidence<'_>],
        rules: &PairRules,
    ) -> Self {
        // A foreign row launched nothing here: the index does not join it. One of no known backend (set aside while
        // loading, say) is joined, as observations are never thrown away, and stops below if it launched nothing.
        if let Some(launch) = Self::launch(number, proposing, rules) {
            return launch;
        }
        if row.standing != Standing::Own {
            return Self::bare(Reason::RowAndMapFromDifferentBackends);
        }
        if let Some(doubt) = Self::file_doubt(proposing) {
            return doubt;
        }
        if !row.doubts.is_empty() {
            return Self {
                doubts: row.doubts.clone(),
                ..Self::bare(Reason::RowNotUsable)
            };
        }
        Self::bare(rules.limit.unwrap_or(Reason::RowLaunchedNoneOfItsKernels))
    }

    fn launch(number: u32, proposing: &'e [FileEvidence<'_>], rules: &PairRules) -> Option<Self> {
        let launched = || {
            proposing
                .iter()
                .filter(|file| !file.launched_by(number).is_empty())
        };
        launched().next()?;
        let mut kernels = SymbolSet::new(rules.symbols);
        for &kernel in launched().flat_map(|file| file.launched_by(number)) {
            kernels.insert(kernel);
        }
        Some(Self {
            files: launched().map(|file| file.path.as_str()).collect(),
            kernels: kernels.to_vec(),
            ..Self::bare(Reason::RowLaunchedAKernelFromAChangedFile)
        })
    }

    /// The first doubt that the files themselves raise.
    fn file_doubt(proposing: &'e [FileEvidence<'_>]) -> Option<Self> {
        let by_class = [
            (
                FileClass::FileNotInMap,
                Reason::SelectedByAFileOutsideTheMap,
            ),
            (FileClass::FileMayOnlySelect, Reason::FileMayOnlySelect),
            (FileClass::FileNeverObserved, Reason::FileNeverObserved),
        ];
        by_class.into_iter().find_map(|(class, reason)| {
            let of_class = proposing.iter().filter(|file| file.class == class);
            let files: Vec<&str> = of_class.map(|file| file.path.as_str()).collect();
            (!files.is_empty()).then(|| Self {
                files,
                ..Self::bare(reason)
            })
        })
    }

    fn bare(reason: Reason) -> Self {
        Self {
            reason,
            files: Vec::new(),
            kernels: Vec::new(),
            doubts: BTreeSet::new(),
        }
    }

    fn into_verdict(self, backend: Backend, has_voice: bool) -> Verdict<'e> {
        Verdict {
            backend,
            reason: self.reason,
            files: self.files,
            kernels: self.kernels,
            doubts: self.doubts,
            has_voice,
        }
    }
}
