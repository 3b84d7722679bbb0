//! What a record changes against the current one.

use crate::rows::rows;
use kernrec_publish::Table;
use kernrec_schemas::function_table::FunctionTable;
use kernrec_schemas::installed::StoreLayout;
use kernrec_schemas::json::MAX_SMALL_BYTES;
use kernrec_schemas::manifest::{ROLE_FUNCTION_TABLE, ROLE_TABLE, RecordManifest};
use kernrec_schemas::table::KernelTable;
use kernrec_schemas::{Backend, BuildNumber, Commit, DocumentError, Pipeline, StepKey};
use kernrec_store::upstream::{Place, Seen, read_pair, read_pointer};
use kernrec_store::{Store, StoreError, objects, pointers};
use serde::Serialize;
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Rows, and kernels or functions, gained and lost against the record that was current.
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
    /// What the rows name.
    #[serde(flatten)]
    pub names: NamesChanged,
}

/// Names gained and lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum NamesChanged {
    /// Of kernels.
    Kernels {
        /// Kernels that no row launched then, without the hashes that each build makes anew.
        kernels_gained: u64,
        /// Kernels that no row launches now.
        kernels_lost: u64,
    },
    /// Of Python functions.
    Functions {
        /// Functions that no row entered then.
        functions_gained: u64,
        /// Functions that no row enters now.
        functions_lost: u64,
    },
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
) -> Result<Table, NoCurrent> {
    let bytes = match layout {
        StoreLayout::Upstream => upstream(store, pipeline, backend)?,
        _ => native(store, pipeline, backend)?,
    };
    Ok(if backend.has_kernels() {
        Table::Kernels(KernelTable::parse(&bytes)?)
    } else {
        Table::Functions(FunctionTable::parse(&bytes)?)
    })
}

fn native(store: &dyn Store, pipeline: &Pipeline, backend: Backend) -> Result<Vec<u8>, NoCurrent> {
    let found = pointers::read(store, pipeline, backend)?.ok_or(NoCurrent::Nothing)?;
    let manifest = &found.pointer.current.manifest;
    let manifest = objects::read_bounded(store, manifest, MAX_SMALL_BYTES)?;
    let manifest = RecordManifest::parse(&manifest)?;
    let role = if backend.has_kernels() {
        ROLE_TABLE
    } else {
        ROLE_FUNCTION_TABLE
    };
    let table = manifest.files.get(role).ok_or(NoCurrent::NoTable)?;
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
    pub(crate) fn between(old: &Table, new: &Table) -> Self {
        let all = |table: &Table| rows(table).into_keys().collect::<BTreeSet<StepKey>>();
        let usable = |table: &Table| {
            let rows = rows(table).into_iter();
            let usable = rows.filter(|(_, row)| row.is_usable());
            usable.map(|(step, _)| step).collect::<BTreeSet<StepKey>>()
        };
        let (old_rows, new_rows) = (all(old), all(new));
        let (old_usable, new_usable) = (usable(old), usable(new));
        let gained = |old: &BTreeSet<StepKey>, new: &BTreeSet<StepKey>| {
            new.difference(old).cloned().collect::<Vec<_>>()
        };
        let mut usable_lost = gained(&new_usable, &old_usable);
        usable_lost.retain(|step| new_rows.contains(step));
        Self {
            commit: old.source().commit.clone(),
            build: old.source().build,
            rows_gained: gained(&old_rows, &new_rows),
            rows_lost: gained(&new_rows, &old_rows),
            usable_gained: gained(&old_usable, &new_usable),
            usable_lost,
            names: NamesChanged::between(old, new),
        }
    }
}

impl NamesChanged {
    fn between(old: &Table, new: &Table) -> Self {
        let (old, names) = (names(old), names(new));
        let gained = names.difference(&old).count() as u64;
        let lost = old.difference(&names).count() as u64;
        match new {
            Table::Kernels(_) => Self::Kernels {
                kernels_gained: gained,
                kernels_lost: lost,
            },
            Table::Functions(_) => Self::Functions {
                functions_gained: gained,
                functions_lost: lost,
            },
        }
    }
}

/// What the rows name: a file, which kernels have none of, and a name.
fn names(table: &Table) -> BTreeSet<(&str, Cow<'_, str>)> {
    match table {
        Table::Kernels(table) => {
            let kernels = table.rows.values().flat_map(|row| table.kernels(row));
            kernels.map(|kernel| ("", kernel.stable())).collect()
        }
        Table::Functions(table) => {
            let rows = table.rows.values();
            let functions = rows.flat_map(|row| table.functions_of(row));
            functions
                .map(|function| (function.file.as_str(), function.name.as_str().into()))
                .collect()
        }
    }
}
