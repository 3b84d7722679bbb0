//! The input, as a value.

use crate::lineage::Lineage;
use kernrec_schemas::Timestamp;
use kernrec_schemas::function_table::FunctionTable;

/// A function table, and what is known of the record that it is from.
#[derive(Debug, Clone, PartialEq)]
pub struct FunctionRecord {
    /// Which steps entered which functions.
    pub table: FunctionTable,
    /// When the record was published; `None` (nothing says so) counts as stale.
    pub published_at: Option<Timestamp>,
    /// The record was withdrawn after it was installed.
    pub revoked: bool,
    /// Why it is not vouched for as the caller demands; `None`: it is, or nobody demands it.
    pub unverified: Option<String>,
    /// How its commit and the base of the change are related.
    pub lineage: Lineage,
}
