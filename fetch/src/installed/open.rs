//! Opening what is installed.

use super::InstalledError;
use super::hold::Hold;
use crate::local::{Layout, LinkState, RecordId, expected, read_file, read_record};
use kernrec_schemas::function_table::FunctionTable;
use kernrec_schemas::installed::{InstalledFile, InstalledRecord, file_name};
use kernrec_schemas::manifest::{ROLE_FUNCTION_TABLE, ROLE_TABLE, variant_of_role};
use kernrec_schemas::symbol_map::SymbolMap;
use kernrec_schemas::table::KernelTable;
use kernrec_schemas::{Backend, DocumentError, Variant};
use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::thread::{self, ScopedJoinHandle};

/// How often a pair may be replaced under the reader before it gives up. Each time is one whole fetch.
const ATTEMPTS: usize = 100;

/// An installed pair, verified and in memory. While it lives its folder is not removed.
#[derive(Debug)]
pub struct InstalledPair {
    /// What it is and where it came from. Look at `revoked` before trusting silence.
    pub record: InstalledRecord,
    /// The folder it was read from.
    pub folder: PathBuf,
    /// The kernel table.
    pub table: KernelTable,
    /// The symbol maps by variant; at least one.
    pub maps: BTreeMap<Variant, SymbolMap>,
    _hold: Hold,
}

/// An installed function record, verified and in memory. While it lives its folder is not removed.
#[derive(Debug)]
pub struct InstalledFunctions {
    /// What it is and where it came from. Look at `revoked` before trusting silence.
    pub record: InstalledRecord,
    /// The folder it was read from.
    pub folder: PathBuf,
    /// The function table.
    pub table: FunctionTable,
    _hold: Hold,
}

/// Opens the pair installed for a backend of kernels in a fetcher's output folder. Every digest is checked.
pub fn open(out: &Path, backend: Backend) -> Result<InstalledPair, InstalledError> {
    open_with(out, backend, read)
}

/// Opens the function record installed in a fetcher's output folder. Every digest is checked.
pub fn open_functions(out: &Path) -> Result<InstalledFunctions, InstalledError> {
    open_with(out, Backend::Python, read_functions)
}

fn open_with<T>(
    out: &Path,
    backend: Backend,
    read: impl Fn(&Layout, &RecordId, Backend) -> Result<Option<T>, InstalledError>,
) -> Result<T, InstalledError> {
    let layout = Layout::new(out);
    let mut id = resolve(&layout, backend)?;
    for _ in 0..ATTEMPTS {
        let problem = match read(&layout, &id, backend) {
            Ok(Some(pair)) => return Ok(pair),
            Ok(None) => None,
            Err(error) => Some(error),
        };
        let now = resolve(&layout, backend)?;
        match problem {
            Some(problem) if now == id => return Err(problem),
            _ => id = now,
        }
    }
    let problem = "it was replaced each time it was read";
    Err(InstalledError::damaged(&layout.link(backend), problem))
}

/// The backends of kernels that have something at their name in the folder, usable or not, and those that a fetch was
/// to bring and could not.
pub fn backends(out: &Path) -> Vec<Backend> {
    let there = |backend: &Backend| is_there(out, *backend);
    Backend::KERNELS.into_iter().filter(there).collect()
}

/// The same of one backend: whether it has something at its name, or was to have.
pub fn is_there(out: &Path, backend: Backend) -> bool {
    let layout = Layout::new(out);
    fs_err::symlink_metadata(layout.link(backend)).is_ok() || expected::is_noted(&layout, backend)
}

fn resolve(layout: &Layout, backend: Backend) -> Result<RecordId, InstalledError> {
    match layout.link_state(backend).map_err(InstalledError::Fs)? {
        LinkState::Record(id) => Ok(id),
        LinkState::Absent => Err(InstalledError::NeverInstalled {
            out: layout.out().to_path_buf(),
            backend,
        }),
        LinkState::Foreign(found) => Err(InstalledError::NotOurs {
            path: layout.link(backend),
            found,
        }),
    }
}

/// Reads one record folder; `None` when it was removed before it could be claimed.
fn read(
    layout: &Layout,
    id: &RecordId,
    backend: Backend,
) -> Result<Option<InstalledPair>, InstalledError> {
    let folder = layout.folder(id);
    let Some(hold) = Hold::claim(&folder)? else {
        return Ok(None);
    };
    let record = read_record(&folder, id, backend)?;
    let mut maps = BTreeMap::new();
    let table = thread::scope(|scope| {
        let others: Vec<_> = record
            .files
            .iter()
            .filter_map(|(role, file)| Some((role, file, variant_of_role(role)?)))
            .map(|(role, file, variant)| {
                let folder = &folder;
                (variant, scope.spawn(move || map(folder, role, file)))
            })
            .collect();
        let table = table(&folder, &record);
        for (variant, map) in others {
            maps.insert(variant, joined(map)?);
        }
        table
    })?;
    Ok(Some(InstalledPair {
        record,
        folder,
        table,
        maps,
        _hold: hold,
    }))
}

/// As [`read`], of the function record.
fn read_functions(
    layout: &Layout,
    id: &RecordId,
    backend: Backend,
) -> Result<Option<InstalledFunctions>, InstalledError> {
    let folder = layout.folder(id);
    let Some(hold) = Hold::claim(&folder)? else {
        return Ok(None);
    };
    let record = read_record(&folder, id, backend)?;
    let missing = || InstalledError::damaged(&folder, "it has no function table");
    let file = record.function_table().ok_or_else(missing)?;
    let role = ROLE_FUNCTION_TABLE;
    let content = read_file(&folder, role, file)?;
    let table = FunctionTable::parse(&content).map_err(|source| refused(&folder, role, source))?;
    Ok(Some(InstalledFunctions {
        record,
        folder,
        table,
        _hold: hold,
    }))
}

fn table(folder: &Path, record: &InstalledRecord) -> Result<KernelTable, InstalledError> {
    let missing = || InstalledError::damaged(folder, "it has no table");
    let file = record.table().ok_or_else(missing)?;
    let content = read_file(folder, ROLE_TABLE, file)?;
    KernelTable::parse(&content).map_err(|source| refused(folder, ROLE_TABLE, source))
}

fn map(folder: &Path, role: &str, file: &InstalledFile) -> Result<SymbolMap, InstalledError> {
    let content = read_file(folder, role, file)?;
    SymbolMap::load(&content).map_err(|source| refused(folder, role, source))
}

fn refused(folder: &Path, role: &str, source: DocumentError) -> InstalledError {
    InstalledError::Document {
        path: folder.join(file_name(role).unwrap_or_default()),
        source,
    }
}

fn joined<T>(handle: ScopedJoinHandle<'_, T>) -> T {
    handle.join().unwrap_or_else(|panic| resume_unwind(panic))
}
