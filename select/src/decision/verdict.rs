//! One pair's word on one step: the first reason that holds, in the order of [`Reason`].

use super::{Policy, Reason};
use crate::evidence::{Cause, FileClass, FileEvidence, PairEvidence};
use crate::index::{IndexedRow, Standing, SymbolId, SymbolSet};
use crate::lineage::Lineage;
use crate::steps::{Plan, Proposal};
use kernrec_schemas::table::RowReason;
use kernrec_schemas::{Backend, StepKey, Timestamp};
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
    /// The changed functions that the step entered, each once; empty unless it did.
    pub(crate) functions: Vec<u32>,
    /// The packages of changed distributions that it used.
    pub(crate) libraries: Vec<&'e str>,
    /// Why the row is not usable; empty unless that is the reason.
    pub doubts: BTreeSet<RowReason>,
    /// Whether this pair can hold the step against another pair's word: its row is of its own backend or unknown.
    pub(crate) has_voice: bool,
}

/// What holds for every row of a pair.
pub(super) struct PairRules<'e> {
    /// Why the whole record may only add steps.
    limit: Option<Reason>,
    /// Changed files of which the maps may not know all kernels: who launched one cannot be told.
    gaps: Vec<&'e str>,
    /// How many symbols the maps hold.
    symbols: usize,
}

impl<'e> PairRules<'e> {
    pub(super) fn of(evidence: &'e PairEvidence<'_>, policy: &Policy, spoken: &'e [bool]) -> Self {
        let is_incomplete = evidence.index.is_incomplete();
        let has_gap = |file: &&FileEvidence<'_>| {
            is_incomplete || file.causes.contains(&Cause::UnreadableObject)
        };
        let files = evidence.files.iter().enumerate();
        let files = files.filter(|(number, file)| is_concerned(file, *number, spoken));
        let gaps = files.map(|(_, file)| file).filter(has_gap);
        Self {
            gaps: gaps.map(|file| file.path.as_str()).collect(),
            limit: record_limits(evidence, policy).first().copied(),
            symbols: evidence.index.symbol_count(),
        }
    }
}

/// Why this pair may only add steps, in the order asked; empty when its silence may be believed.
pub(crate) fn record_limits(evidence: &PairEvidence<'_>, policy: &Policy) -> Vec<Reason> {
    let pair = evidence.index.pair();
    let mismatch =
        (!evidence.index.is_matched()).then_some(Reason::TableAndMapFromDifferentCommits);
    let others = limits(
        pair.published_at,
        &pair.lineage,
        pair.revoked,
        pair.unverified.is_some(),
        policy,
    );
    mismatch.into_iter().chain(others).collect()
}

/// Why a record may only add steps, by what is known of it as a whole.
pub(super) fn limits(
    published_at: Option<Timestamp>,
    lineage: &Lineage,
    is_revoked: bool,
    is_unverified: bool,
    policy: &Policy,
) -> Vec<Reason> {
    let limits = [
        (
            !policy.freshness(published_at).is_fresh(),
            Reason::RecordStale,
        ),
        (lineage.moved().is_none(), Reason::RecordStale),
        (is_revoked, Reason::RecordRevoked),
        (is_unverified, Reason::RecordUnverified),
    ];
    let mut reasons: Vec<Reason> = limits
        .into_iter()
        .filter(|(holds, _)| *holds)
        .map(|(_, reason)| reason)
        .collect();
    // A record may be stale in two ways.
    reasons.dedup();
    reasons
}

/// Every row of a pair with its verdict, by step. Without a step file every changed file proposes every row; with
/// one, the rows of steps that are not in it are left out.
pub(super) fn verdicts<'e>(
    evidence: &'e PairEvidence<'_>,
    policy: &Policy,
    plan: Option<&Plan<'_>>,
    spoken: &'e [bool],
) -> impl Iterator<Item = (&'e StepKey, Verdict<'e>)> {
    let rules = PairRules::of(evidence, policy, spoken);
    let rows = (0_u32..).zip(evidence.index.rows());
    rows.filter_map(move |(number, row)| {
        let proposal = match plan {
            Some(plan) => &plan.steps.get(row.step)?.proposal,
            None => &Proposal::All,
        };
        let proposing = Proposing {
            files: &evidence.files,
            proposal,
            spoken,
        };
        let finding = Finding::of(number, row, proposing, &rules);
        let has_voice = row.standing != Standing::Foreign;
        Some((
            row.step,
            finding.into_verdict(evidence.index.backend(), has_voice),
        ))
    })
}

/// Whether a pair is asked about a file: the function record does not speak for it, or the pair knows it all the same.
fn is_concerned(file: &FileEvidence<'_>, number: usize, spoken: &[bool]) -> bool {
    let is_spoken = spoken.get(number).is_some_and(|&spoken| spoken);
    !is_spoken || file.class != FileClass::FileNotInMap
}

/// All changed files, and which of them propose the step at hand.
#[derive(Clone, Copy)]
struct Proposing<'e, 'p> {
    files: &'e [FileEvidence<'e>],
    proposal: &'p Proposal,
    /// Which of them the function record speaks for.
    spoken: &'e [bool],
}

impl<'e, 'p> Proposing<'e, 'p> {
    fn is_empty(self) -> bool {
        self.iter().next().is_none()
    }

    fn iter(self) -> impl Iterator<Item = &'e FileEvidence<'e>> + use<'e, 'p> {
        self.proposal
            .numbers(self.files.len())
            .filter_map(move |number| {
                let file = self.files.get(number)?;
                is_concerned(file, number, self.spoken).then_some(file)
            })
    }
}

/// Why a record's silence is not believed.
pub(super) struct Doubt<'e> {
    pub(super) reason: Reason,
    /// The files behind it.
    pub(super) files: Vec<&'e str>,
}

/// The first doubt about a record, by what limits it as a whole and the files that moved since.
pub(super) fn record_doubt(limit: Option<Reason>, moved: Vec<&str>) -> Option<Doubt<'_>> {
    let stale = (!moved.is_empty()).then_some(Reason::RecordStale);
    let (reason, files) = match (limit, stale) {
        (Some(limit), Some(stale)) if limit < stale => (limit, Vec::new()),
        (_, Some(stale)) => (stale, moved),
        (Some(limit), None) => (limit, Vec::new()),
        (None, None) => return None,
    };
    Some(Doubt { reason, files })
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
        proposing: Proposing<'e, '_>,
        rules: &PairRules<'e>,
    ) -> Self {
        // A foreign row launched nothing here: the index does not join it. One of no known backend (set aside while
        // loading, say) is joined, as observations are never thrown away, and stops below if it launched nothing.
        // Any changed file counts here: the step file proposes, and the record adds.
        if let Some(launch) = Self::launch(number, proposing.files, rules) {
            return launch;
        }
        if proposing.is_empty() {
            return Self::unproposed(rules);
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
        let moved = proposing.iter().filter(|file| file.moved);
        let moved = moved.map(|file| file.path.as_str()).collect();
        match record_doubt(rules.limit, moved) {
            Some(Doubt { reason, files }) => Self {
                files,
                ..Self::bare(reason)
            },
            None => Self::bare(Reason::RowLaunchedNoneOfItsKernels),
        }
    }

    fn launch(number: u32, files: &'e [FileEvidence<'e>], rules: &PairRules<'e>) -> Option<Self> {
        let launched = || {
            files
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

    /// No changed file is one of the step's. The record adds what launched a changed kernel, if it knows them all.
    fn unproposed(rules: &PairRules<'e>) -> Self {
        if rules.gaps.is_empty() {
            return Self::bare(Reason::NoFileOfTheStepChanged);
        }
        Self {
            files: rules.gaps.clone(),
            ..Self::bare(Reason::FileMayOnlySelect)
        }
    }

    /// The first doubt that the files themselves raise.
    fn file_doubt(proposing: Proposing<'e, '_>) -> Option<Self> {
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
            functions: Vec::new(),
            libraries: Vec::new(),
            doubts: self.doubts,
            has_voice,
        }
    }
}
