//! The kernel table: per step, which kernels its processes launched and whether its silence counts.
//!
//! `row` and `reason` are the data and the rule of a usable row, `read` the loader of versions 2 and 3 (it
//! sets a bad row aside instead of refusing the table), `write` the canonical version 3.

mod read;
mod reason;
mod row;
mod write;

pub(crate) use read::Indexes;
pub(crate) use write::Document;

pub use reason::RowReason;
pub use row::{Row, RowFault, Shards};

use crate::id::{BuildNumber, Commit, KernelName, StepKey};
use crate::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

pub(crate) const DOCUMENT: &str = "kernel table";

/// Where a table comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TableSource {
    /// The CI organisation; `vllm` when a writer says nothing.
    #[serde(default = "default_org")]
    pub org: String,
    /// The pipeline; `ci` when a writer says nothing. Any text: it is checked where it becomes a path.
    #[serde(default = "default_pipeline")]
    pub pipeline: String,
    /// The build.
    pub build: BuildNumber,
    /// The commit; `None` when the document has the empty text.
    #[serde(default, with = "crate::table::read::optional_commit")]
    #[schemars(with = "String")]
    pub commit: Option<Commit>,
    /// The time the record speaks of.
    pub recorded_at: Timestamp,
}

/// The organisation a table belongs to when nothing says otherwise.
pub fn default_org() -> String {
    "vllm".to_owned()
}

/// The pipeline a table belongs to when nothing says otherwise.
pub fn default_pipeline() -> String {
    "ci".to_owned()
}

/// A kernel table in memory. Rows name kernels by index into `names`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelTable {
    /// The version of the document it was read from; a folded table is version 3.
    pub version: u64,
    /// Where it comes from.
    pub source: TableSource,
    /// Unique kernel names; sorted when written by us.
    pub names: Vec<KernelName>,
    /// One row per step.
    pub rows: BTreeMap<StepKey, Row>,
    /// Rows that were set aside while reading. Those with a valid step key stay in `rows`, unusable, with
    /// whatever names could be saved.
    pub faults: Vec<RowFault>,
}

impl KernelTable {
    /// The version written.
    pub const VERSION: u64 = 3;

    /// Reads version 2 or 3; version 1 and unknown versions are refused, a bad row is set aside.
    pub fn parse(bytes: &[u8]) -> Result<Self, crate::DocumentError> {
        read::parse(bytes)
    }

    /// The canonical bytes: version 3, names sorted, rows sorted, unreferenced names dropped.
    pub fn to_canonical(&self) -> Vec<u8> {
        write::canonical(self)
    }

    /// The kernels of a row.
    pub fn kernels<'a>(&'a self, row: &'a Row) -> impl Iterator<Item = &'a KernelName> {
        row.kernels
            .iter()
            .filter_map(|&index| self.names.get(index as usize))
    }

    /// How many rows are usable.
    pub fn usable_rows(&self) -> u64 {
        self.rows.values().filter(|row| row.is_usable()).count() as u64
    }
}
