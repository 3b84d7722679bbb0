//! Why a pipeline cannot be armed.

use crate::yaml_place;

/// Longest text of a parser or of a pipeline that a message repeats.
const MAX_SHOWN: usize = 200;

/// Why a pipeline could not be read or changed. Nothing was changed.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PipelineError {
    /// Something in the text is not what can be worked on.
    #[error("line {line}, column {column}: {problem}")]
    At {
        /// The line, from 1.
        line: usize,
        /// The column in characters, from 1.
        column: usize,
        /// The stable word.
        reason: &'static str,
        /// What is wrong there.
        problem: String,
    },
    /// It is not UTF-8.
    #[error("line {line}, column {column}: not UTF-8")]
    NotText {
        /// The line of the first bad byte, from 1.
        line: usize,
        /// Its column, from 1.
        column: usize,
    },
    /// It is larger than any pipeline.
    #[error("the pipeline has {size} bytes, more than {limit}")]
    TooLarge {
        /// Its size in bytes.
        size: usize,
        /// The bound in bytes.
        limit: usize,
    },
    /// The changed text does not read as what was meant: a form of YAML that cannot be edited here.
    #[error(
        "the armed pipeline would not read as it is meant to; it is written in a way that cannot be edited"
    )]
    NotAsMeant,
}

impl PipelineError {
    /// The stable word for machines.
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::At { reason, .. } => reason,
            Self::NotText { .. } => "not-text",
            Self::TooLarge { .. } => "pipeline-too-large",
            Self::NotAsMeant => "not-editable",
        }
    }

    pub(crate) fn at(
        text: &str,
        offset: usize,
        reason: &'static str,
        problem: impl Into<String>,
    ) -> Self {
        let (line, column) = yaml_place(text, offset);
        let problem = problem.into().chars().take(MAX_SHOWN).collect();
        Self::At {
            line,
            column,
            reason,
            problem,
        }
    }

    pub(crate) fn not_text(bytes: &[u8], valid_up_to: usize) -> Self {
        let before = String::from_utf8_lossy(&bytes[..valid_up_to]);
        let (line, column) = yaml_place(&before, before.len());
        Self::NotText { line, column }
    }
}
