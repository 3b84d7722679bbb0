//! A function table.

use super::record::{malformed, processes, unusable};
use crate::summary::{Section, Summary, text, texts};
use kernrec_schemas::function_table::{FunctionRow, FunctionTable, TestCounts};
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// A function table.
pub(crate) fn function_table(table: &FunctionTable, shown: usize) -> Summary {
    let mut summary = Summary::new("function-table", "function table, version 1");
    summary.fact("pipeline", table.source.pipeline.as_str());
    summary.fact("commit", table.source.commit.as_ref().map(text));
    summary.fact("build", table.source.build.0);
    summary.fact("recorded_at", text(table.source.recorded_at));
    summary.fact("steps", table.rows.len());
    summary.fact("usable", table.usable_rows());
    let files: BTreeSet<&str> = table.functions.iter().map(|f| f.file.as_str()).collect();
    summary.fact("files", files.len());
    summary.fact("functions", table.functions.len());
    summary.fact("libraries", texts(&table.libraries));
    summary.fact(
        "processes",
        processes(table.rows.values().map(|row| Some(&row.health))),
    );
    let mut tests = TestCounts::default();
    for row in table.rows.values() {
        tests.merge(&row.tests);
    }
    summary.fact("tests_executed", tests.executed);
    let interpreters = table.rows.values().flat_map(|row| &row.interpreters);
    let interpreters: BTreeSet<&String> = interpreters.collect();
    summary.fact("interpreters", texts(interpreters));
    let reasons = table
        .rows
        .iter()
        .map(|(step, row)| (step, row.unusable_reasons()));
    summary.section(unusable(reasons, shown));
    summary.section(malformed(&table.faults, shown));
    summary.section(largest_rows(table, shown));
    summary
}

fn largest_rows(table: &FunctionTable, shown: usize) -> Section {
    let mut rows: Vec<(&str, &FunctionRow)> = table
        .rows
        .iter()
        .map(|(step, row)| (step.as_str(), row))
        .collect();
    rows.sort_by_key(|(step, row)| (Reverse(row.functions.len()), *step));
    let title = "steps with the most functions";
    let columns = &[
        "step",
        "functions",
        "libraries",
        "processes",
        "tests",
        "evidence",
    ];
    let mut section = Section::new("rows", title, columns, shown);
    for (step, row) in rows {
        let reasons = row.unusable_reasons();
        let evidence = if reasons.is_empty() {
            text("usable")
        } else {
            texts(reasons)
        };
        section.row([
            text(step),
            row.functions.len().into(),
            row.libraries.len().into(),
            row.processes.into(),
            row.tests.executed.into(),
            evidence,
        ]);
    }
    section
}
