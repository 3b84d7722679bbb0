//! The function table, `kernrec.functions/1`: per step, which Python functions its processes entered, which
//! libraries they used, and whether its silence counts.
//!
//! `name` has the small checked texts, `place` makes the paths of recordings those of a repository, `row` is the
//! data and the rule of a usable row, `read` the loader (it sets a bad row aside instead of refusing the table),
//! `write` the canonical bytes.

mod name;
mod place;
mod read;
mod row;
mod write;

pub(crate) use write::Document;

pub use name::{CodePath, FunctionName, LibraryName};
pub use place::Places;
pub use row::{FunctionRow, TestCounts};

use crate::id::StepKey;
use crate::table::{RowFault, TableSource};
use std::collections::BTreeMap;
use std::ops::Range;

pub(crate) const DOCUMENT: &str = "function table";

/// One function of one file. Two of one name in one file (an overload, a property's setter) are one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TableFunction {
    /// The file, see [`Places`].
    pub file: CodePath,
    /// Its qualified name: `Class.method`, `outer.<locals>.inner`; a class body's is the class's, a module's
    /// `<module>`.
    pub name: FunctionName,
}

/// A function table in memory. Rows name functions and libraries by index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FunctionTable {
    /// Where it comes from.
    pub source: TableSource,
    /// Distinct functions. Sorted in a table that was read, and when written.
    pub functions: Vec<TableFunction>,
    /// Distinct third-party packages; sorted likewise.
    pub libraries: Vec<LibraryName>,
    /// One row per step.
    pub rows: BTreeMap<StepKey, FunctionRow>,
    /// Rows that were set aside while reading. Those with a valid step key stay in `rows`, unusable, with
    /// whatever functions and libraries could be saved.
    pub faults: Vec<RowFault>,
}

impl FunctionTable {
    /// The schema word written.
    pub const SCHEMA: &str = "kernrec.functions/1";

    /// Reads a table; another schema is refused, a bad row is set aside.
    pub fn parse(bytes: &[u8]) -> Result<Self, crate::DocumentError> {
        read::parse(bytes)
    }

    /// The canonical bytes: everything sorted, functions and libraries of no row dropped.
    pub fn to_canonical(&self) -> Vec<u8> {
        write::canonical(self)
    }

    /// The functions of a row.
    pub fn functions_of<'a>(
        &'a self,
        row: &'a FunctionRow,
    ) -> impl Iterator<Item = &'a TableFunction> {
        let at = |&index: &u32| self.functions.get(index as usize);
        row.functions.iter().filter_map(at)
    }

    /// The libraries of a row.
    pub fn libraries_of<'a>(
        &'a self,
        row: &'a FunctionRow,
    ) -> impl Iterator<Item = &'a LibraryName> {
        let at = |&index: &u32| self.libraries.get(index as usize);
        row.libraries.iter().filter_map(at)
    }

    /// The indexes of a file's functions, in a table that was read; empty for a file of which nothing was entered.
    pub fn indexes_in(&self, file: &str) -> Range<usize> {
        let before = |function: &TableFunction| function.file.as_str() < file;
        let start = self.functions.partition_point(before);
        let here = |function: &TableFunction| function.file.as_str() == file;
        let length = self.functions[start..].partition_point(here);
        start..start + length
    }

    /// How many rows are usable.
    pub fn usable_rows(&self) -> u64 {
        self.rows.values().filter(|row| row.is_usable()).count() as u64
    }
}
