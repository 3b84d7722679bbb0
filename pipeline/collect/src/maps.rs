//! Which of the files that look like symbol maps are those of the backend.

use kernrec_publish::{Maps, MapsError};
use kernrec_schemas::json::MAX_RECORD_BYTES;
use kernrec_schemas::symbol_map::SymbolMap;
use kernrec_schemas::{Backend, Digest};
use kernrec_store::artifact;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Loads the backend's maps. The same map met twice counts once; one that nobody can read is kept as refused, since it
/// may be the backend's.
pub(crate) fn of_backend(backend: Backend, found: &[PathBuf]) -> Result<Maps, MapsError> {
    let mut known = BTreeSet::new();
    let mut is_ours = |path: &&PathBuf| {
        let Ok(bytes) = artifact::read(path, MAX_RECORD_BYTES) else {
            return true;
        };
        let is_new = known.insert(Digest::of(&bytes));
        is_new && SymbolMap::parse(&bytes).map_or(true, |map| map.backend == backend)
    };
    let ours: Vec<PathBuf> = found.iter().filter(|path| is_ours(path)).cloned().collect();
    Maps::load(&ours)
}
