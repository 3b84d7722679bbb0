//! What a record changes against the current one.

use kernrec_schemas::installed::StoreLayout;
use kernrec_schemas::json::MAX_SMALL_BYTES;
use kernrec_schemas::manifest::{ROLE_TABLE, RecordManifest};
use kernrec_schemas::table::KernelTable;
use kernrec_schemas::{Backend, BuildNumber, Commit, DocumentError, KernelName, Pipeline, StepKey};
use kernrec_store::upstream::{Place, Seen, read_pair, read_pointer};
use kernrec_store::{Store, StoreError, objects, pointers};
use serde::Serialize;
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Rows and kernels gained and lost against the record that was current.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Changes {
    /// The commit of that record.
    pub commit: Option<Commit>,
    /// Its build.
    pub build: BuildNumber,
    /// Steps that have a row now.
    pub rows_gained: Vec<StepKey>,
    /// Steps that had one.
    pub rows_lost: Vec<StepKey>,
    /// Steps whose row is usable now.
    pub usable_gained: Vec<StepKey>,
    /// Steps that have a row, which was usable and is not any more.
    pub usable_lost: Vec<StepKey>,
    /// Kernels that no row launched then, without the hashes that each build makes anew.
    pub kernels_gained: u64,
    /// Kernels that no row launches now.
    pub kernels_lost: u64,
}

/// Why there is nothing to compare with.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoCurrent {
    #[error("nothing was published before")]
    Nothing,
    #[error("{0}")]
    Store(#[from] StoreError),
    #[error("{0}")]
    Document(#[from] DocumentError),
    #[error("its manifest names no table")]
    NoTable,
}

/// The table of the record that is current now.
pub(crate) fn current(
    store: &dyn Store,
    layout: StoreLayout,
    pipeline: &Pipeline,
    backend: Backend,
) -> Result<KernelTable, NoCurrent> {
    let bytes = match layout {
        StoreLayout::Upstream => upstream(store, pipeline, backend)?,
        _ => native(store, pipeline, backend)?,
    };
    Ok(KernelTable::parse(&bytes)?)
}

fn native(store: &dyn Store, pipeline: &Pipeline, backend: Backend) -> Result<Vec<u8>, NoCurrent> {
    let found = pointers::read(store, pipeline, backend)?.ok_or(NoCurrent::Nothing)?;
    let manifest = &found.pointer.current.manifest;
    let manifest = objects::read_bounded(store, manifest, MAX_SMALL_BYTES)?;
    let manifest = RecordManifest::parse(&manifest)?;
    let table = manifest.files.get(ROLE_TABLE).ok_or(NoCurrent::NoTable)?;
    Ok(objects::read(store, &table.digest, table.size)?)
}

fn upstream(
    store: &dyn Store,
    pipeline: &Pipeline,
    backend: Backend,
) -> Result<Vec<u8>, NoCurrent> {
    let place = Place::of_pipeline(pipeline.clone());
    let Seen::Found(found) = read_pointer(store, &place, pipeline, backend, None)? else {
        return Err(NoCurrent::Nothing);
    };
    let (commit, digests) = (&found.pointer.commit, &found.pointer.digests);
    Ok(read_pair(store, &place, pipeline, backend, commit, digests)?.table)
}

impl Changes {
    /// What a table changes against an older one.
    pub(crate) fn between(old: &KernelTable, new: &KernelTable) -> Self {
        let rows = |table: &KernelTable| table.rows.keys().cloned().collect::<BTreeSet<StepKey>>();
        let usable = |table: &KernelTable| {
            let usable = table.rows.iter().filter(|(_, row)| row.is_usable());
            usable
                .map(|(step, _)| step.clone())
                .collect::<BTreeSet<StepKey>>()
        };
        let (old_rows, new_rows) = (rows(old), rows(new));
        let (old_usable, new_usable) = (usable(old), usable(new));
        let (old_names, new_names) = (names(old), names(new));
        let gained = |old: &BTreeSet<StepKey>, new: &BTreeSet<StepKey>| {
            new.difference(old).cloned().collect::<Vec<_>>()
        };
        let mut usable_lost = gained(&new_usable, &old_usable);
        usable_lost.retain(|step| new_rows.contains(step));
        Self {
            commit: old.source.commit.clone(),
            build: old.source.build,
            rows_gained: gained(&old_rows, &new_rows),
            rows_lost: gained(&new_rows, &old_rows),
            usable_gained: gained(&old_usable, &new_usable),
            usable_lost,
            kernels_gained: new_names.difference(&old_names).count() as u64,
            kernels_lost: old_names.difference(&new_names).count() as u64,
        }
    }
}

fn names(table: &KernelTable) -> BTreeSet<Cow<'_, str>> {
    let rows = table.rows.values().flat_map(|row| table.kernels(row));
    rows.map(KernelName::stable).collect()
}
