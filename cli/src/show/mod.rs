//! Reports on single documents: what it is, whose, counts, health, and its first rows.

mod evidence;
mod places;
mod record;

pub(crate) use evidence::{jobs, recording, sidecar};
pub(crate) use places::{manifest, pointer, upstream_pointer};
pub(crate) use record::{symbol_map, table};
