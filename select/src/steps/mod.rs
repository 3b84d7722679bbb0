//! The steps of a pipeline, and which changed files propose each.
//!
//! Read from a Buildkite pipeline, a list of test areas or plain JSON (`read`). A step file proposes, and the record
//! adds and removes: whatever in it is doubtful proposes more. `pattern` says which files a step is about, `plan` which
//! changed files propose which step, `needs` what steps need of each other.

mod error;
mod fields;
mod known;
mod needs;
mod pattern;
mod plan;
mod read;
mod splice;
mod yaml;

pub use error::StepsError;
pub(crate) use needs::Needs;
pub(crate) use plan::{Plan, PlannedStep, Proposal};
pub use splice::{SkippedPipeline, SpliceError};

use crate::note::Notes;
use kernrec_schemas::StepKey;
use pattern::Patterns;
use std::rc::Rc;

/// The most steps that a file may have.
pub const MAX_STEPS: usize = 10_000;

/// What step files say.
#[derive(Debug, Default)]
pub struct Steps {
    list: Vec<Step>,
    gates: Vec<Gate>,
    /// Files for which everything runs, of each file and each switch.
    run_all: Vec<Patterns>,
    /// A pattern for which everything would run could not be read, so any file may be such.
    is_run_all_unknown: bool,
    notes: Notes,
}

/// One step.
#[derive(Debug)]
pub(crate) struct Step {
    /// `None`: no row can be its.
    key: Option<StepKey>,
    /// What people call it, and where it stands when it has no name.
    name: String,
    paths: Paths,
    /// Keys of the steps and groups that it needs.
    needs: Vec<String>,
    /// The keys of the groups that it is in.
    groups: Vec<String>,
    /// Where a field can be added to it; `None` where that would change other steps too.
    place: Option<Place>,
}

/// What is in the list of steps and is never skipped: a block, an input, a wait, a build of another pipeline.
#[derive(Debug)]
struct Gate {
    /// Its own key and those of the groups that it is in.
    keys: Vec<String>,
    /// Keys of the steps and groups that it needs.
    needs: Vec<String>,
    /// It starts a build of another pipeline, which may use whatever it waits for.
    is_trigger: bool,
}

/// Which changed files propose a step.
#[derive(Debug, Clone)]
enum Paths {
    /// All.
    EveryChange,
    /// Those of any of the lists.
    Listed(Vec<Rc<Patterns>>),
}

/// Where a step's mapping starts.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    /// The mapping itself, in characters from the start of the file.
    pub(crate) mapping: usize,
    /// Its first field, likewise.
    pub(crate) first_field: usize,
    /// The column of that, from 0.
    pub(crate) column: usize,
    /// Whether it says something about skipping itself.
    pub(crate) has_skip: bool,
}

impl Steps {
    /// Reads a step file; `name` is for messages.
    pub fn parse(name: &str, text: &str) -> Result<Self, StepsError> {
        read::read(name, text)
    }

    /// Adds the steps of another file.
    pub fn extend(&mut self, other: Self) {
        self.list.extend(other.list);
        self.gates.extend(other.gates);
        self.run_all.extend(other.run_all);
        self.is_run_all_unknown |= other.is_run_all_unknown;
        self.notes.extend(other.notes);
    }

    /// Adds a pattern of files for which everything runs.
    pub fn run_all_for(&mut self, pattern: &str) {
        let mut patterns = Patterns::default();
        read::run_all(self, &mut patterns, pattern);
        self.run_all.push(patterns);
    }

    /// How many steps there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
}
