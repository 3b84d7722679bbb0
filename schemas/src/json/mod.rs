//! Strict reading and canonical writing of JSON, shared by every document.
//!
//! Reading: a size bound first, duplicate keys refused wherever they stand, an array never taken for an
//! object, trailing data refused, errors with document, line and column. Writing: compact, fields in
//! declaration order, maps sorted by key: the same document always gives the same bytes.

mod deserializer;
mod document;
mod keys;
mod skip;

pub use document::{DocumentError, canonical, pretty, read};
pub(crate) use document::{part, read_large_schema, read_schema, read_versioned};

/// Whether a count is left out of a document.
#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde calls it with a reference"
)]
pub(crate) fn is_zero(n: &u64) -> bool {
    *n == 0
}

/// The largest table or symbol map read, uncompressed (design: limits on hostile input).
pub const MAX_RECORD_BYTES: u64 = 512 * 1024 * 1024;
/// The largest pointer, manifest, sidecar or jobs list read.
pub const MAX_SMALL_BYTES: u64 = 4 * 1024 * 1024;
