//! Which changed files propose which step.

use super::{Needs, Paths, Step, Steps};
use crate::change::{Change, ChangedFile};
use crate::note::{NoteReason, Notes};
use kernrec_schemas::StepKey;
use kernrec_schemas::shown::printable;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// How often a file and a pattern are compared at most, for one answer: a second or two.
const MAX_COMPARISONS: usize = 20_000_000;

/// The changed files that propose a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Proposal {
    /// All of them.
    All,
    /// These, as indexes into [`Change::files`], ascending; perhaps none.
    Files(Vec<usize>),
}

impl Proposal {
    /// The files, of so many changed ones.
    pub(crate) fn numbers(&self, count: usize) -> impl Iterator<Item = usize> + use<'_> {
        let (all, some) = match self {
            Self::All => (0..count, &[][..]),
            Self::Files(numbers) => (0..0, numbers.as_slice()),
        };
        all.chain(some.iter().copied())
    }
}

/// One step of the step file, by its key.
#[derive(Debug)]
pub(crate) struct PlannedStep {
    /// Its number in the file; several when several steps have the key.
    pub(crate) numbers: Vec<usize>,
    pub(crate) proposal: Proposal,
    /// Several steps have the key, so the row is nobody's.
    pub(crate) is_ambiguous: bool,
}

/// What the step file says about one change.
#[derive(Debug)]
pub(crate) struct Plan<'q> {
    pub(crate) steps: BTreeMap<&'q StepKey, PlannedStep>,
    /// Steps without a key, with their numbers.
    pub(crate) unkeyed: Vec<(usize, &'q str)>,
    pub(crate) needs: Needs,
    /// A changed file is one for which everything runs.
    pub(crate) runs_all: bool,
    pub(crate) circles: BTreeSet<usize>,
    pub(crate) notes: Notes,
}

impl<'q> Plan<'q> {
    pub(crate) fn of(steps: &'q Steps, change: &Change) -> Self {
        let files: Vec<&ChangedFile> = change.files().collect();
        let needs = Needs::of(steps);
        let mut notes = steps.notes.clone();
        let circles = needs.circles();
        if !circles.is_empty() {
            for &number in &circles {
                let message = format!("{}: it needs itself", steps.list[number].name);
                notes.add(NoteReason::DependencyCycle, message);
            }
        }
        let mut plan = Self {
            steps: BTreeMap::new(),
            unkeyed: Vec::new(),
            needs,
            runs_all: runs_all(steps, &files, &mut notes),
            circles,
            notes,
        };
        let is_too_much = steps.pattern_count().saturating_mul(files.len()) > MAX_COMPARISONS;
        if is_too_much {
            let message = "every changed file proposes every step".to_owned();
            plan.notes.add(NoteReason::TooManyPatterns, message);
        }
        for (number, step) in steps.list.iter().enumerate() {
            let proposal = match &step.paths {
                Paths::Listed(_) if !is_too_much => proposal(step, &files),
                Paths::Listed(_) | Paths::EveryChange => Proposal::All,
            };
            plan.add(number, step, proposal);
        }
        // Nothing depends on where in the file a step stands.
        plan.unkeyed.sort_by_key(|(_, name)| *name);
        plan
    }

    fn add(&mut self, number: usize, step: &'q Step, proposal: Proposal) {
        let Some(key) = &step.key else {
            self.unkeyed.push((number, &step.name));
            return;
        };
        match self.steps.entry(key) {
            Entry::Vacant(entry) => {
                entry.insert(PlannedStep {
                    numbers: vec![number],
                    proposal,
                    is_ambiguous: false,
                });
            }
            Entry::Occupied(mut entry) => {
                let message = format!(
                    "{}: more than one step has this key",
                    printable(key.as_str())
                );
                self.notes.add(NoteReason::DuplicateStepKey, message);
                let step = entry.get_mut();
                step.numbers.push(number);
                step.is_ambiguous = true;
                step.proposal = Proposal::All;
            }
        }
    }
}

fn runs_all(steps: &Steps, files: &[&ChangedFile], notes: &mut Notes) -> bool {
    let is_such = |file: &ChangedFile| steps.run_all.iter().any(|list| list.matches(&file.path));
    let found: Vec<&&ChangedFile> = files.iter().filter(|file| is_such(file)).collect();
    for file in &found {
        let message = format!("{}: everything runs for it", file.path);
        notes.add(NoteReason::RunAllPattern, message);
    }
    !found.is_empty() || steps.is_run_all_unknown
}

fn proposal(step: &Step, files: &[&ChangedFile]) -> Proposal {
    let Paths::Listed(lists) = &step.paths else {
        return Proposal::All;
    };
    let is_proposing = |file: &ChangedFile| lists.iter().any(|list| list.matches(&file.path));
    let proposing = files.iter().enumerate();
    let proposing = proposing.filter(|(_, file)| is_proposing(file));
    Proposal::Files(proposing.map(|(at, _)| at).collect())
}

impl Steps {
    fn pattern_count(&self) -> usize {
        let of_step = |step: &Step| match &step.paths {
            Paths::EveryChange => 0,
            Paths::Listed(lists) => lists.iter().map(Rc::as_ref).map(super::Patterns::len).sum(),
        };
        let run_all: usize = self.run_all.iter().map(super::Patterns::len).sum();
        run_all + self.list.iter().map(of_step).sum::<usize>()
    }
}
