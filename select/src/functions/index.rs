//! A function table made searchable, once.

use super::FunctionRecord;
use crate::index::Lists;
use foldhash::fast::RandomState;
use kernrec_schemas::StepKey;
use kernrec_schemas::function_table::{LibraryName, TableFunction};
use kernrec_schemas::recording::ProcessState;
use kernrec_schemas::table::RowReason;
use std::collections::{BTreeSet, HashMap};

/// One step's row.
#[derive(Debug)]
pub(crate) struct FunctionRowIndex<'a> {
    pub(crate) step: &'a StepKey,
    /// Why its silence does not count; empty for a usable row.
    pub(crate) doubts: BTreeSet<RowReason>,
    /// Whether it entered any of the checkout's tests.
    pub(crate) has_tests: bool,
    /// Whether a process of it was killed.
    pub(crate) has_killed: bool,
}

/// A searchable function record.
#[derive(Debug)]
pub struct FunctionIndex<'a> {
    record: &'a FunctionRecord,
    rows: Vec<FunctionRowIndex<'a>>,
    /// By file, its functions.
    files: HashMap<&'a str, Vec<u32>, RandomState>,
    /// By function, the rows that entered it.
    entered: Lists<u32>,
    /// By library, the rows that used it.
    used: Lists<u32>,
}

impl<'a> FunctionIndex<'a> {
    /// Indexes a record.
    pub fn build(record: &'a FunctionRecord) -> Self {
        let table = &record.table;
        let counts = (table.functions.len(), table.libraries.len());
        let mut rows = Vec::with_capacity(table.rows.len());
        let (mut entered, mut used) = (Vec::new(), Vec::new());
        for (number, (step, row)) in (0_u32..).zip(&table.rows) {
            let mut doubts = row.unusable_reasons();
            for (indexes, count, pairs) in [
                (&row.functions, counts.0, &mut entered),
                (&row.libraries, counts.1, &mut used),
            ] {
                let known = indexes.iter().filter(|&&index| (index as usize) < count);
                let before = pairs.len();
                pairs.extend(known.map(|&index| (index, number)));
                if pairs.len() - before < indexes.len() {
                    doubts.insert(RowReason::MalformedRow);
                }
            }
            if row
                .commits
                .iter()
                .any(|commit| table.source.commit.as_ref() != Some(commit))
            {
                doubts.insert(RowReason::ForeignCommit);
            }
            let has_tests = table
                .functions_of(row)
                .any(|function| function.file.as_str().starts_with("tests/"));
            let has_killed = row.health.count(ProcessState::NoFooter) > 0;
            rows.push(FunctionRowIndex {
                step,
                doubts,
                has_tests,
                has_killed,
            });
        }
        let mut files: HashMap<&str, Vec<u32>, RandomState> = HashMap::default();
        for (number, function) in (0_u32..).zip(&table.functions) {
            files
                .entry(function.file.as_str())
                .or_default()
                .push(number);
        }
        Self {
            record,
            rows,
            files,
            entered: Lists::of_pairs(counts.0, &entered),
            used: Lists::of_pairs(counts.1, &used),
        }
    }

    /// The record that was indexed.
    pub fn record(&self) -> &'a FunctionRecord {
        self.record
    }

    /// A function, by its number.
    pub(crate) fn function(&self, number: u32) -> Option<&'a TableFunction> {
        self.record.table.functions.get(number as usize)
    }

    /// The functions of a file; empty for one of which nothing was entered.
    pub(crate) fn functions_in(&self, file: &str) -> &[u32] {
        self.files.get(file).map_or(&[], Vec::as_slice)
    }

    /// The rows that entered a function, ascending.
    pub(crate) fn rows_of(&self, function: u32) -> &[u32] {
        self.entered.list(function)
    }

    /// The rows that used a top-level package: entered it as a library, or functions of it as a watched package.
    pub(crate) fn rows_using(&self, package: &str) -> BTreeSet<u32> {
        let libraries = (0_u32..).zip(&self.record.table.libraries);
        let named = libraries.filter(|(_, library)| library.as_str() == package);
        let used = named.flat_map(|(number, _)| self.used.list(number));
        let is_inside = |file: &str| {
            let rest = file.strip_prefix(package);
            rest.is_some_and(|rest| rest.starts_with('/') || rest == ".py")
        };
        let watched = self.files.iter().filter(|(file, _)| is_inside(file));
        let entered = watched.flat_map(|(_, functions)| functions);
        let entered = entered.flat_map(|&function| self.rows_of(function));
        used.chain(entered).copied().collect()
    }

    /// The rows that used a library, as one.
    pub(crate) fn rows_with_library(&self, name: &str) -> &[u32] {
        let libraries = &self.record.table.libraries;
        let number = libraries
            .iter()
            .position(|library| library.as_str() == name);
        let number = number.and_then(|number| u32::try_from(number).ok());
        number.map_or(&[], |number| self.used.list(number))
    }

    /// The packages that any row used, libraries and watched packages.
    pub(crate) fn packages(&self) -> BTreeSet<&'a str> {
        let table = &self.record.table;
        let libraries = table.libraries.iter().map(LibraryName::as_str);
        let watched = self.files.keys().filter_map(|file| {
            let top = file.split('/').next()?;
            Some(top.strip_suffix(".py").unwrap_or(top))
        });
        libraries.chain(watched).collect()
    }

    /// Every row, by step key.
    pub(crate) fn rows(&self) -> &[FunctionRowIndex<'a>] {
        &self.rows
    }

    /// How many rows are usable.
    pub(crate) fn usable_rows(&self) -> u64 {
        let usable = self.rows.iter().filter(|row| row.doubts.is_empty());
        usable.count() as u64
    }
}
