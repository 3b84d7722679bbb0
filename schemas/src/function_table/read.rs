//! The loader.

use super::{
    CodePath, DOCUMENT, FunctionName, FunctionRow, FunctionTable, LibraryName, TableFunction,
    TestCounts,
};
use crate::id::StepKey;
use crate::json::{self, DocumentError};
use crate::recording::ProcessCounts;
use crate::table::{Indexes, RowFault, RowReason, Shards, TableSource};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::{BTreeMap, BTreeSet};

/// The document, its rows not yet looked into: one that is bad must not cost the others.
#[derive(Deserialize)]
struct Wire<'a> {
    schema: String,
    source: TableSource,
    files: Vec<WireFile>,
    libraries: Vec<LibraryName>,
    #[serde(borrow)]
    rows: BTreeMap<String, &'a RawValue>,
}

#[derive(Deserialize)]
struct WireFile {
    path: CodePath,
    functions: Vec<FunctionName>,
}

pub(super) fn parse(bytes: &[u8]) -> Result<FunctionTable, DocumentError> {
    let wire: Wire<'_> = json::read_large_schema(DOCUMENT, bytes, FunctionTable::SCHEMA)?;
    if wire.schema != FunctionTable::SCHEMA {
        let expected = FunctionTable::SCHEMA;
        return Err(DocumentError::version(DOCUMENT, &wire.schema, expected));
    }
    if wire.rows.is_empty() {
        return Err(DocumentError::rule(DOCUMENT, "rows", "no row"));
    }
    ascending("files", wire.files.iter().map(|file| &file.path))?;
    ascending("libraries", wire.libraries.iter())?;
    let mut table = FunctionTable {
        source: wire.source,
        functions: functions(wire.files)?,
        libraries: wire.libraries,
        rows: BTreeMap::new(),
        faults: Vec::new(),
    };
    for (key, raw) in wire.rows {
        add_row(&mut table, key, raw);
    }
    Ok(table)
}

/// The functions of all files, counted through.
fn functions(files: Vec<WireFile>) -> Result<Vec<TableFunction>, DocumentError> {
    let mut functions = Vec::new();
    for (index, file) in files.into_iter().enumerate() {
        ascending(&format!("files[{index}].functions"), file.functions.iter())?;
        let path = file.path;
        functions.extend(file.functions.into_iter().map(|name| TableFunction {
            file: path.clone(),
            name,
        }));
    }
    if u32::try_from(functions.len()).is_err() {
        let problem = "more than 4294967295 functions";
        return Err(DocumentError::rule(DOCUMENT, "files", problem));
    }
    Ok(functions)
}

/// Rows name things by their place in a list, so a list has one order only, and nothing twice.
fn ascending<'a, T: Ord + 'a>(
    place: &str,
    list: impl Iterator<Item = &'a T>,
) -> Result<(), DocumentError> {
    let mut before = None;
    for (index, item) in list.enumerate() {
        if before.replace(item).is_some_and(|before| before >= item) {
            let place = format!("{place}[{index}]");
            return Err(DocumentError::rule(DOCUMENT, place, "not in sorted order"));
        }
    }
    Ok(())
}

fn add_row(table: &mut FunctionTable, key: String, raw: &RawValue) {
    let (row, problem) = match parse_row(table, raw) {
        Ok(row) => (row, None),
        Err(problem) => (salvage(table, raw), Some(problem)),
    };
    let problem = match StepKey::new(key.as_str()) {
        Ok(step) => {
            table.rows.insert(step, row);
            problem
        }
        // No step can have such a key, so the row can neither select nor drop one.
        Err(error) => Some(error.to_string()),
    };
    table
        .faults
        .extend(problem.map(|problem| RowFault { key, problem }));
}

fn parse_row(table: &FunctionTable, raw: &RawValue) -> Result<FunctionRow, String> {
    let mut row: FunctionRow = json::part(raw.get()).map_err(|error| error.to_string())?;
    for (what, indexes, length) in [
        ("function", &mut row.functions, table.functions.len()),
        ("library", &mut row.libraries, table.libraries.len()),
    ] {
        if let Some(index) = indexes.iter().find(|&&index| index as usize >= length) {
            return Err(format!(
                "{what} index {index} is out of range: there are {length}"
            ));
        }
        indexes.sort_unstable();
        indexes.dedup();
    }
    Ok(row)
}

/// Keeps what a row entered that broke a rule: what was observed still selects.
fn salvage(table: &FunctionTable, raw: &RawValue) -> FunctionRow {
    let fields: BTreeMap<String, &RawValue> = json::part(raw.get()).unwrap_or_default();
    let saved = |field: &str, length: usize| {
        fields
            .get(field)
            .and_then(|indexes| json::part::<Indexes>(indexes.get()).ok())
            .map_or_else(Vec::new, |indexes| indexes.below(length))
    };
    FunctionRow {
        jobs: 0,
        passed: false,
        complete: false,
        shards: Shards::default(),
        processes: 0,
        clean_exits: 0,
        lost_lines: 0,
        functions: saved("functions", table.functions.len()),
        libraries: saved("libraries", table.libraries.len()),
        tests: TestCounts::default(),
        health: ProcessCounts::default(),
        interpreters: BTreeSet::new(),
        commits: BTreeSet::new(),
        reasons: BTreeSet::from([RowReason::MalformedRow]),
    }
}
