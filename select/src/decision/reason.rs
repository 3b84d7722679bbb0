//! Why a step runs or may be skipped: stable words, in the order in which they are asked.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What becomes of a step.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Fate {
    /// It launched a changed kernel and must run.
    Selected,
    /// Nothing shows that the change reaches it, and nothing proves that it does not: it must run.
    Kept,
    /// It may be skipped.
    Skipped,
}

/// The first reason that holds for a step. Declared in the order in which they are asked, so that of several
/// pairs' reasons the smallest is the one to report.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Reason {
    /// The step file gives the step no key of its own, so no row can be its.
    UnmappableStepId,
    /// No record has a row for the step.
    NoRow,
    /// The row is of another backend than the map, or of none that is known. Of the latter a launch is believed
    /// first: observations are never thrown away.
    RowAndMapFromDifferentBackends,
    /// Positive evidence: asked before every question about health.
    RowLaunchedAKernelFromAChangedFile,
    /// The same of the function record.
    RowEnteredAChangedFunction,
    /// The same of a library with another pin.
    RowUsedAChangedLibrary,
    /// The same of the function record where the kernels alone would let the step go: a kernel's silence never overrules
    /// an observed call.
    HeldByThePythonRecord,
    /// A changed file is one for which everything runs.
    SelectedWithoutAFile,
    /// A record that knows about a changed file has no row for the step, though another has.
    NoRowForAChangedFile,
    /// A file that proposes the step is in no object of the map.
    SelectedByAFileOutsideTheMap,
    /// Of a Python file that proposes the step the function record knows nothing, or nothing at all knows of a file.
    SelectedByAFileOutsideTheRecord,
    /// A file that proposes the step can change more than its kernels.
    FileMayOnlySelect,
    /// No row launched a kernel of a file that proposes the step.
    FileNeverObserved,
    /// No row entered a changed function of a file that proposes the step.
    FunctionNeverObserved,
    /// The row's silence does not count.
    RowNotUsable,
    /// Table and map are not of one commit.
    TableAndMapFromDifferentCommits,
    /// The record is older than allowed, nothing says how old it is, or the sources moved on since it was made.
    RecordStale,
    /// The record was withdrawn.
    RecordRevoked,
    /// The record is not signed with the key that is required.
    RecordUnverified,
    /// Another backend was asked for and cannot be had.
    PairUnavailable,
    /// The step and others need each other in a circle: the step file is not what it should be.
    InADependencyCycle,
    /// A step that runs depends on it.
    NeededByAStepThatRuns,
    /// The record's reason to skip: a healthy, fresh, joined row launched none of the changed kernels.
    RowLaunchedNoneOfItsKernels,
    /// The same of the function record: a healthy, fresh row entered none of the changed functions.
    RowEnteredNoneOfItsFunctions,
    /// The step file's reason to skip: no changed file is one of the step's, and no row launched a changed kernel.
    NoFileOfTheStepChanged,
}

impl Reason {
    /// Every reason, in the order in which they are asked.
    pub const ALL: [Self; 25] = [
        Self::UnmappableStepId,
        Self::NoRow,
        Self::RowAndMapFromDifferentBackends,
        Self::RowLaunchedAKernelFromAChangedFile,
        Self::RowEnteredAChangedFunction,
        Self::RowUsedAChangedLibrary,
        Self::HeldByThePythonRecord,
        Self::SelectedWithoutAFile,
        Self::NoRowForAChangedFile,
        Self::SelectedByAFileOutsideTheMap,
        Self::SelectedByAFileOutsideTheRecord,
        Self::FileMayOnlySelect,
        Self::FileNeverObserved,
        Self::FunctionNeverObserved,
        Self::RowNotUsable,
        Self::TableAndMapFromDifferentCommits,
        Self::RecordStale,
        Self::RecordRevoked,
        Self::RecordUnverified,
        Self::PairUnavailable,
        Self::InADependencyCycle,
        Self::NeededByAStepThatRuns,
        Self::RowLaunchedNoneOfItsKernels,
        Self::RowEnteredNoneOfItsFunctions,
        Self::NoFileOfTheStepChanged,
    ];

    /// What the reason means for the step.
    pub const fn fate(self) -> Fate {
        match self {
            Self::RowLaunchedAKernelFromAChangedFile
            | Self::RowEnteredAChangedFunction
            | Self::RowUsedAChangedLibrary
            | Self::HeldByThePythonRecord => Fate::Selected,
            Self::RowLaunchedNoneOfItsKernels
            | Self::RowEnteredNoneOfItsFunctions
            | Self::NoFileOfTheStepChanged => Fate::Skipped,
            Self::UnmappableStepId
            | Self::NoRow
            | Self::SelectedWithoutAFile
            | Self::InADependencyCycle
            | Self::NeededByAStepThatRuns
            | Self::RowAndMapFromDifferentBackends
            | Self::NoRowForAChangedFile
            | Self::SelectedByAFileOutsideTheMap
            | Self::SelectedByAFileOutsideTheRecord
            | Self::FunctionNeverObserved
            | Self::FileMayOnlySelect
            | Self::FileNeverObserved
            | Self::RowNotUsable
            | Self::TableAndMapFromDifferentCommits
            | Self::RecordStale
            | Self::RecordRevoked
            | Self::RecordUnverified
            | Self::PairUnavailable => Fate::Kept,
        }
    }

    /// The stable word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::UnmappableStepId => "unmappable-step-id",
            Self::NoRow => "no-row",
            Self::SelectedWithoutAFile => "selected-without-a-file",
            Self::InADependencyCycle => "in-a-dependency-cycle",
            Self::NeededByAStepThatRuns => "needed-by-a-step-that-runs",
            Self::NoFileOfTheStepChanged => "no-file-of-the-step-changed",
            Self::RowAndMapFromDifferentBackends => "row-and-map-from-different-backends",
            Self::RowLaunchedAKernelFromAChangedFile => "row-launched-a-kernel-from-a-changed-file",
            Self::RowEnteredAChangedFunction => "row-entered-a-changed-function",
            Self::RowUsedAChangedLibrary => "row-used-a-changed-library",
            Self::HeldByThePythonRecord => "held-by-the-python-record",
            Self::NoRowForAChangedFile => "no-row-for-a-changed-file",
            Self::SelectedByAFileOutsideTheRecord => "selected-by-a-file-outside-the-record",
            Self::FunctionNeverObserved => "function-never-observed",
            Self::RowEnteredNoneOfItsFunctions => "row-entered-none-of-its-functions",
            Self::SelectedByAFileOutsideTheMap => "selected-by-a-file-outside-the-map",
            Self::FileMayOnlySelect => "file-may-only-select",
            Self::FileNeverObserved => "file-never-observed",
            Self::RowNotUsable => "row-not-usable",
            Self::TableAndMapFromDifferentCommits => "table-and-map-from-different-commits",
            Self::RecordStale => "record-stale",
            Self::RecordRevoked => "record-revoked",
            Self::RecordUnverified => "record-unverified",
            Self::PairUnavailable => "pair-unavailable",
            Self::RowLaunchedNoneOfItsKernels => "row-launched-none-of-its-kernels",
        }
    }

    /// One line for people: what it says about the step.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::UnmappableStepId => "the step file gives it no key of its own",
            Self::NoRow => "no record has a row for it",
            Self::SelectedWithoutAFile => "a changed file is one for which everything runs",
            Self::InADependencyCycle => "it and other steps need each other in a circle",
            Self::NeededByAStepThatRuns => "a step that runs depends on it",
            Self::NoFileOfTheStepChanged => {
                "no changed file is one of its own, and it launched no kernel from one"
            }
            Self::RowAndMapFromDifferentBackends => {
                "recorded on another backend than the map, or on an unknown one"
            }
            Self::RowLaunchedAKernelFromAChangedFile => "launched a kernel from a changed file",
            Self::RowEnteredAChangedFunction => "entered a changed function",
            Self::RowUsedAChangedLibrary => "used a library whose pin changed",
            Self::HeldByThePythonRecord => {
                "entered a changed function or library, whatever its kernels say"
            }
            Self::NoRowForAChangedFile => {
                "a record that knows about a changed file has no row for it"
            }
            Self::SelectedByAFileOutsideTheRecord => {
                "a changed file is in no record, so it could reach any step"
            }
            Self::FunctionNeverObserved => {
                "no step entered a changed function, so entering none proves nothing"
            }
            Self::RowEnteredNoneOfItsFunctions => "entered no changed function",
            Self::SelectedByAFileOutsideTheMap => {
                "a changed file is not in the map, so it could reach any step"
            }
            Self::FileMayOnlySelect => {
                "a changed file does more than define kernels, so launching none proves nothing"
            }
            Self::FileNeverObserved => {
                "no step launched a kernel of a changed file, so launching none proves nothing"
            }
            Self::RowNotUsable => "its recording is not complete and healthy",
            Self::TableAndMapFromDifferentCommits => "the table and the map are not of one commit",
            Self::RecordStale => "the record is too old, or the sources moved on since it was made",
            Self::RecordRevoked => "the record was withdrawn",
            Self::RecordUnverified => "the record is not signed with the required key",
            Self::PairUnavailable => "another backend's record is not available",
            Self::RowLaunchedNoneOfItsKernels => "launched no kernel from a changed file",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}
