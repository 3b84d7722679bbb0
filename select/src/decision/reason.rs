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
    /// The row is of another backend than the map, or of none that is known. Of the latter a launch is believed
    /// first: observations are never thrown away.
    RowAndMapFromDifferentBackends,
    /// Positive evidence: asked before every question about health.
    RowLaunchedAKernelFromAChangedFile,
    /// A file that proposes the step is in no object of the map.
    SelectedByAFileOutsideTheMap,
    /// A file that proposes the step can change more than its kernels.
    FileMayOnlySelect,
    /// No row launched a kernel of a file that proposes the step.
    FileNeverObserved,
    /// The row's silence does not count.
    RowNotUsable,
    /// Table and map are not of one commit.
    TableAndMapFromDifferentCommits,
    /// The record is older than allowed, or nothing says how old it is.
    RecordStale,
    /// The record was withdrawn.
    RecordRevoked,
    /// Another backend was asked for and cannot be had.
    PairUnavailable,
    /// The only reason to skip: a healthy, fresh, joined row launched none of the changed kernels.
    RowLaunchedNoneOfItsKernels,
}

impl Reason {
    /// Every reason, in the order in which they are asked.
    pub const ALL: [Self; 11] = [
        Self::RowAndMapFromDifferentBackends,
        Self::RowLaunchedAKernelFromAChangedFile,
        Self::SelectedByAFileOutsideTheMap,
        Self::FileMayOnlySelect,
        Self::FileNeverObserved,
        Self::RowNotUsable,
        Self::TableAndMapFromDifferentCommits,
        Self::RecordStale,
        Self::RecordRevoked,
        Self::PairUnavailable,
        Self::RowLaunchedNoneOfItsKernels,
    ];

    /// What the reason means for the step.
    pub const fn fate(self) -> Fate {
        match self {
            Self::RowLaunchedAKernelFromAChangedFile => Fate::Selected,
            Self::RowLaunchedNoneOfItsKernels => Fate::Skipped,
            Self::RowAndMapFromDifferentBackends
            | Self::SelectedByAFileOutsideTheMap
            | Self::FileMayOnlySelect
            | Self::FileNeverObserved
            | Self::RowNotUsable
            | Self::TableAndMapFromDifferentCommits
            | Self::RecordStale
            | Self::RecordRevoked
            | Self::PairUnavailable => Fate::Kept,
        }
    }

    /// The stable word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::RowAndMapFromDifferentBackends => "row-and-map-from-different-backends",
            Self::RowLaunchedAKernelFromAChangedFile => "row-launched-a-kernel-from-a-changed-file",
            Self::SelectedByAFileOutsideTheMap => "selected-by-a-file-outside-the-map",
            Self::FileMayOnlySelect => "file-may-only-select",
            Self::FileNeverObserved => "file-never-observed",
            Self::RowNotUsable => "row-not-usable",
            Self::TableAndMapFromDifferentCommits => "table-and-map-from-different-commits",
            Self::RecordStale => "record-stale",
            Self::RecordRevoked => "record-revoked",
            Self::PairUnavailable => "pair-unavailable",
            Self::RowLaunchedNoneOfItsKernels => "row-launched-none-of-its-kernels",
        }
    }

    /// One line for people: what it says about the step.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::RowAndMapFromDifferentBackends => {
                "recorded on another backend than the map, or on an unknown one"
            }
            Self::RowLaunchedAKernelFromAChangedFile => "launched a kernel from a changed file",
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
            Self::RecordStale => "the record is too old, or its age is not known",
            Self::RecordRevoked => "the record was withdrawn",
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
