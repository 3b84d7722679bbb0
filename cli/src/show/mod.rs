//! Reports on single documents: what it is, whose, counts, health, and its first rows.

mod bundle;
mod evidence;
mod functions;
mod installed;
mod places;
mod record;

pub(crate) use bundle::bundle;
pub(crate) use evidence::{jobs, recording, sidecar};
pub(crate) use functions::function_table;
pub(crate) use installed::installed;
pub(crate) use places::{manifest, pointer, upstream_pointer};
pub(crate) use record::{symbol_map, table};
