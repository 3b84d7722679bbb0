//! From evidence to a decision: which steps can a change reach, and may the others be skipped?
//!
//! The decision is pure: values in, values out; clocks and terminals belong to the callers, and only
//! [`open_records`], [`Lineage::between`] and [`Change::read_edits`] read anything. The flow:
//!
//! 1. [`Change`]: the changed files, in the map's spelling, and what happened to their lines.
//! 2. [`Record`]: one backend's pair of kernel table and symbol maps, or the news that it cannot be had.
//! 3. [`Index`]: a pair made searchable, once.
//! 4. [`PairEvidence`]: what one pair knows about each changed file.
//! 5. [`Placing`]: with a diff, which of the file's kernels what changed in it can reach.
//!    [`FunctionRecord`], [`FunctionIndex`] and [`FunctionEvidence`] are the same for Python files and functions.
//! 6. [`Decision`]: the first [`Reason`] that holds for each step, over all pairs.
//! 7. [`Report`]: the answer as data; [`render`] turns it into text or keys.
//!
//! [`select`] does all of it; [`explain`] shows the chain between one step and one file. The rule throughout: silence
//! lets a step be skipped only if the whole chain of evidence is healthy, fresh and joined; any doubt keeps the step,
//! and says why.

mod change;
mod decision;
mod evidence;
mod explain;
mod functions;
mod index;
mod installed;
mod lineage;
mod note;
mod pair;
mod placing;
pub mod render;
mod report;
mod select;
mod steps;
mod validate;

pub use change::{
    Assumes, Change, ChangeError, ChangeRange, ChangedFile, ChangedPath, Edit, FileStatus,
    MAX_CHANGED_FILES,
};
pub use decision::{
    DEFAULT_MAX_AGE, Decision, Fate, Freshness, Policy, Reason, StepDecision, Verdict,
};
pub use evidence::{Cause, FileClass, FileEvidence, PairEvidence};
pub use explain::{
    ExplainError, ExplainedFunction, ExplainedFunctions, ExplainedKernel, ExplainedRecord,
    ExplainedRow, Explanation, explain,
};
pub use functions::{
    FunctionEvidence, FunctionFile, FunctionIndex, FunctionRecord, Libraries, LibrariesError,
};
pub use index::{Index, SymbolId, UnusablePair};
pub use installed::open_records;
pub use kernrec_attribution::HostCode;
pub use lineage::{Lineage, Moved};
pub use note::{Note, NoteReason};
pub use pair::{Pair, Record, Unavailable};
pub use placing::{GitSources, MAX_PLACED_FILES, Placing, SharedSources};
pub use report::{
    AttributionReport, Counts, EnteredCount, EnteredFunction, EnteredReport, FileReport, FileSeen,
    FunctionsSeen, KeptStep, LaunchReport, LimitProblem, MAX_EXAMPLES, RecordReport, RecordState,
    Report, SelectedStep, SkippedStep, StepCount, StepFileReport, UnitReport, VerdictReport,
};
pub use select::{Question, SelectError, select};
pub use steps::{MAX_STEPS, SkippedPipeline, SpliceError, Steps, StepsError};
pub use validate::{PastChange, Replay, ReplayEnd, Scored, Totals, past_changes};
