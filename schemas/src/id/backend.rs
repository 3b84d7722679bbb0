//! Which of several kinds of evidence a record holds, and what a row of a kernel table may say about it.

use super::InvalidId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What was recorded: a GPU stack's kernels, or Python's functions. Each has records of its own, and records of
/// different backends are never joined.
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
    /// Python functions, recorded through `sys.monitoring`. No kernel table, symbol map or kernel recording is of it.
    Python,
}

impl Backend {
    /// Every backend, in the order they are reported.
    pub const ALL: [Self; 3] = [Self::Cuda, Self::Rocm, Self::Python];

    /// Those that record kernels, in the same order.
    pub const KERNELS: [Self; 2] = [Self::Cuda, Self::Rocm];

    /// Whether its records hold kernels: a kernel table and symbol maps.
    pub const fn has_kernels(self) -> bool {
        matches!(self, Self::Cuda | Self::Rocm)
    }

    /// The word used in documents, paths and flags.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Cuda => "cuda",
            Self::Rocm => "rocm",
            Self::Python => "python",
        }
    }

    /// The `recorder=` word of the recorder that serves this backend.
    pub const fn recorder(self) -> &'static str {
        match self {
            Self::Cuda => "cupti",
            Self::Rocm => "rocprofiler-sdk",
            Self::Python => "sys.monitoring",
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
            .ok_or_else(|| InvalidId::new("backend", text, "one of `cuda`, `rocm`, `python`"))
    }
}

/// The backend of a row: `unknown` when its files or jobs disagree, or nothing says.
///
/// An unknown row never authorises a skip, and vetoes one in every backend. Kernels are launched on GPUs only, so
/// the text `python` is refused.
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
        let backend: Backend = text.parse()?;
        if !backend.has_kernels() {
            let rule = "one of `cuda`, `rocm`, `unknown`";
            return Err(InvalidId::new("backend of a kernel table", &text, rule));
        }
        Ok(Self::Known(backend))
    }
}

impl From<RowBackend> for String {
    fn from(backend: RowBackend) -> Self {
        backend.as_str().to_owned()
    }
}
