//! What was published, as people read it.

use crate::closure::read_manifest;
use crate::record::Named;
use kernrec_schemas::manifest::Counts;
use kernrec_schemas::{Backend, Generation, Pipeline};
use kernrec_store::signing::Seal;
use kernrec_store::{Store, StoreError, pointers};
use rayon::prelude::*;

/// A pointer's records.
#[derive(Debug)]
pub struct History {
    /// How often the pointer has moved.
    pub generation: Generation,
    /// How many records it names.
    pub records: u64,
    /// The newest of them, the current one first.
    pub entries: Vec<Entry>,
    /// The pointer's signature, for who asks for one.
    pub seal: Seal,
}

/// One record.
#[derive(Debug)]
pub struct Entry {
    /// The record.
    pub named: Named,
    /// What it holds; `None` when its manifest cannot be used.
    pub counts: Option<Counts>,
    /// Why its manifest cannot be used: the stable word.
    pub problem: Option<&'static str>,
}

/// Reads a pointer and the manifests of its newest `limit` records; `None` when nothing was ever published.
pub fn history(
    store: &dyn Store,
    pipeline: &Pipeline,
    backend: Backend,
    limit: usize,
) -> Result<Option<History>, StoreError> {
    let Some(found) = pointers::read(store, pipeline, backend)? else {
        return Ok(None);
    };
    let mut named = Named::all(&found.pointer);
    let records = named.len() as u64;
    named.truncate(limit);
    Ok(Some(History {
        seal: found.seal,
        generation: found.pointer.generation,
        records,
        entries: named
            .into_par_iter()
            .map(|named| entry(store, named))
            .collect(),
    }))
}

fn entry(store: &dyn Store, named: Named) -> Entry {
    match read_manifest(store, &named.record.manifest) {
        Ok(manifest) => Entry {
            named,
            counts: Some(manifest.counts),
            problem: None,
        },
        Err(error) => Entry {
            named,
            counts: None,
            problem: Some(error.reason()),
        },
    }
}
