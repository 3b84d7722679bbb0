//! Step files that cannot be used at all.

use super::yaml::YamlError;

/// Why a step file says nothing. Whoever meets this runs everything.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StepsError {
    /// The text is no YAML or JSON, or beyond the bounds.
    #[error("step file `{name}`: {problem}")]
    Malformed {
        /// The file.
        name: String,
        /// What is wrong, and where.
        problem: String,
    },
    /// There is no list of steps where one must be.
    #[error("step file `{name}` has no list of steps: expected a list, or a mapping with `steps`")]
    NoSteps {
        /// The file.
        name: String,
    },
    /// More steps than any pipeline has.
    #[error("step file `{name}` has more than {limit} steps")]
    TooManySteps {
        /// The file.
        name: String,
        /// The most that are read.
        limit: usize,
    },
}

impl StepsError {
    /// The stable word for machines.
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::Malformed { .. } => "step-file-malformed",
            Self::NoSteps { .. } => "step-file-without-steps",
            Self::TooManySteps { .. } => "too-many-steps",
        }
    }

    pub(super) fn malformed(name: &str, error: &YamlError) -> Self {
        Self::Malformed {
            name: name.to_owned(),
            problem: error.to_string(),
        }
    }
}
