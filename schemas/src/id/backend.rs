//! GPU vendors' stacks, and what a row may say about them.

use super::InvalidId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A GPU stack whose kernels are recorded. Records of different backends are never joined.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Backend {
    /// NVIDIA, recorded through CUPTI.
    Cuda,
    /// AMD, recorded through the `ROCProfiler` SDK.
    Rocm,
}

impl Backend {
    /// Every backend, in the order they are reported.
    pub const ALL: [Self; 2] = [Self::Cuda, Self::Rocm];

    /// The word used in documents, paths and flags.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Cuda => "cuda",
            Self::Rocm => "rocm",
        }
    }

    /// The `recorder=` word of the recorder that serves this backend.
    pub const fn recorder(self) -> &'static str {
        match self {
            Self::Cuda => "cupti",
            Self::Rocm => "rocprofiler-sdk",
        }
    }
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl std::str::FromStr for Backend {
    type Err = InvalidId;
    fn from_str(text: &str) -> Result<Self, InvalidId> {
        Self::ALL
            .into_iter()
            .find(|backend| backend.as_str() == text)
            .ok_or_else(|| InvalidId::new("backend", text, "one of `cuda`, `rocm`"))
    }
}

/// The backend of a row: `unknown` when its files or jobs disagree, or nothing says.
///
/// An unknown row never authorises a skip, and vetoes one in every backend.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String", extend("pattern" = "^(cuda|rocm|unknown)$"))]
pub enum RowBackend {
    /// All evidence of the row is of this backend.
    Known(Backend),
    /// The evidence disagrees or is silent.
    Unknown,
}

impl RowBackend {
    /// The word used in documents.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Known(backend) => backend.as_str(),
            Self::Unknown => "unknown",
        }
    }

    /// The backend, when one is known.
    pub const fn known(self) -> Option<Backend> {
        match self {
            Self::Known(backend) => Some(backend),
            Self::Unknown => None,
        }
    }
}

impl fmt::Display for RowBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl TryFrom<String> for RowBackend {
    type Error = InvalidId;
    fn try_from(text: String) -> Result<Self, InvalidId> {
        if text == "unknown" {
            return Ok(Self::Unknown);
        }
        text.parse().map(Self::Known)
    }
}

impl From<RowBackend> for String {
    fn from(backend: RowBackend) -> Self {
        backend.as_str().to_owned()
    }
}
