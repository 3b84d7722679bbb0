//! The table of a record, of kernels or of functions.

use kernrec_schemas::function_table::FunctionTable;
use kernrec_schemas::manifest::Counts;
use kernrec_schemas::symbol_map::SymbolMap;
use kernrec_schemas::table::{KernelTable, RowFault, TableSource};
use kernrec_schemas::{Backend, StepKey};

/// The table of a record.
#[derive(Debug, Clone)]
pub enum Table {
    /// Of kernels.
    Kernels(KernelTable),
    /// Of Python functions.
    Functions(FunctionTable),
}

impl Table {
    /// Where it comes from.
    pub const fn source(&self) -> &TableSource {
        match self {
            Self::Kernels(table) => &table.source,
            Self::Functions(table) => &table.source,
        }
    }

    /// The canonical bytes.
    pub fn to_canonical(&self) -> Vec<u8> {
        match self {
            Self::Kernels(table) => table.to_canonical(),
            Self::Functions(table) => table.to_canonical(),
        }
    }

    /// Rows that were set aside while it was read.
    pub fn faults(&self) -> &[RowFault] {
        match self {
            Self::Kernels(table) => &table.faults,
            Self::Functions(table) => &table.faults,
        }
    }

    /// Whether the step has a row.
    pub fn has_row(&self, step: &StepKey) -> bool {
        match self {
            Self::Kernels(table) => table.rows.contains_key(step),
            Self::Functions(table) => table.rows.contains_key(step),
        }
    }

    /// What it holds, with the maps of its backend.
    pub fn counts(&self, maps: &[&SymbolMap]) -> Counts {
        match self {
            Self::Kernels(table) => Counts::of(table, maps.iter().copied()),
            Self::Functions(table) => Counts::of_functions(table),
        }
    }

    /// The backends that its rows name, apart from this one: a row, and its backend.
    pub fn rows_of_others(&self, backend: Backend) -> Vec<(&StepKey, Backend)> {
        match self {
            Self::Kernels(table) => {
                let rows = table.rows.iter();
                let named = rows.filter_map(|(step, row)| Some((step, row.backend.known()?)));
                named.filter(|(_, found)| *found != backend).collect()
            }
            Self::Functions(table) if backend.has_kernels() => {
                let steps = table.rows.keys();
                steps.map(|step| (step, Backend::Python)).collect()
            }
            Self::Functions(_) => Vec::new(),
        }
    }
}
