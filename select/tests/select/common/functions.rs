//! Small function records by hand.

use super::{DAY, ago, commit, step};
use kernrec_schemas::BuildNumber;
use kernrec_schemas::function_table::{
    CodePath, FunctionName, FunctionRow, FunctionTable, LibraryName, TableFunction, TestCounts,
};
use kernrec_schemas::recording::ProcessCounts;
use kernrec_schemas::table::{Shards, TableSource};
use kernrec_select::{FunctionRecord, Lineage, Record};
use std::collections::{BTreeMap, BTreeSet};

/// What a step entered: `file:name`, and libraries by their bare names.
pub(crate) type Entered<'a> = (&'a str, &'a [&'a str]);

fn function(text: &str) -> Option<TableFunction> {
    let (file, name) = text.split_once(':')?;
    Some(TableFunction {
        file: CodePath::new(file).unwrap(),
        name: FunctionName::new(name).unwrap(),
    })
}

/// A healthy row that entered nothing.
pub(crate) fn row() -> FunctionRow {
    FunctionRow {
        jobs: 1,
        passed: true,
        complete: true,
        shards: Shards::default(),
        processes: 1,
        clean_exits: 1,
        lost_lines: 0,
        functions: Vec::new(),
        libraries: Vec::new(),
        tests: TestCounts {
            sessions: 1,
            executed: 1,
            ..TestCounts::default()
        },
        health: ProcessCounts::default(),
        interpreters: BTreeSet::from(["3.12.1".to_owned()]),
        commits: BTreeSet::from([commit("c0de")]),
        reasons: BTreeSet::new(),
    }
}

/// A fresh record of healthy rows.
pub(crate) fn record(rows: &[Entered<'_>]) -> FunctionRecord {
    let all = || rows.iter().flat_map(|(_, entered)| entered.iter());
    let functions: BTreeSet<TableFunction> = all().filter_map(|text| function(text)).collect();
    let functions: Vec<TableFunction> = functions.into_iter().collect();
    let libraries = all().filter(|text| function(text).is_none());
    let libraries: BTreeSet<LibraryName> = libraries
        .map(|name| LibraryName::new(name).unwrap())
        .collect();
    let libraries: Vec<LibraryName> = libraries.into_iter().collect();
    let number = |at: usize| u32::try_from(at).unwrap();
    let rows: BTreeMap<_, _> = rows
        .iter()
        .map(|(key, entered)| {
            let mut row = row();
            for text in *entered {
                if let Some(function) = function(text) {
                    let found = functions.binary_search(&function).unwrap();
                    row.functions.push(number(found));
                } else {
                    let found = libraries.iter().position(|name| name.as_str() == *text);
                    row.libraries.push(number(found.unwrap()));
                }
            }
            row.functions.sort_unstable();
            row.libraries.sort_unstable();
            (step(key), row)
        })
        .collect();
    FunctionRecord {
        table: FunctionTable {
            source: TableSource {
                org: "acme".to_owned(),
                pipeline: "ci".to_owned(),
                build: BuildNumber(12),
                commit: Some(commit("c0de")),
                recorded_at: "2030-01-01T00:00:00Z".parse().unwrap(),
            },
            functions,
            libraries,
            rows,
            faults: Vec::new(),
        },
        published_at: ago(DAY),
        revoked: false,
        unverified: None,
        lineage: Lineage::default(),
    }
}

pub(crate) fn functions(record: FunctionRecord) -> Record {
    Record::Functions(Box::new(record))
}
