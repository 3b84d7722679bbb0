//! The two halves of a record: kernel table and symbol map.

use crate::summary::{Section, Summary, text, texts};
use kernrec_schemas::recording::ProcessCounts;
use kernrec_schemas::symbol_map::{MapVersion, SymbolMap};
use kernrec_schemas::table::{KernelTable, Row, RowFault, RowReason};
use kernrec_schemas::{KernelName, StepKey};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// A kernel table.
pub(crate) fn table(table: &KernelTable, shown: usize) -> Summary {
    let mut summary = Summary::new(
        "kernel-table",
        format!("kernel table, version {}", table.version),
    );
    summary.fact("pipeline", table.source.pipeline.as_str());
    summary.fact("commit", table.source.commit.as_ref().map(text));
    summary.fact("build", table.source.build.0);
    summary.fact("recorded_at", text(table.source.recorded_at));
    summary.fact("steps", table.rows.len());
    summary.fact("usable", table.usable_rows());
    summary.fact("kernels", table.names.len());
    let rows = || table.rows.iter();
    let health = processes(rows().map(|(_, row)| row.health.as_ref()));
    let sum = |sum: u64, (_, row): (_, &Row)| sum.saturating_add(row.processes);
    let plain = rows().fold(0, sum).into();
    summary.fact("processes", if health.is_null() { plain } else { health });
    let reasons = rows().map(|(step, row)| (step, row.unusable_reasons()));
    summary.section(unusable(reasons, shown));
    summary.section(malformed(&table.faults, shown));
    summary.section(largest_rows(table, shown));
    summary
}

/// Processes by state, over all rows that say; null where none does.
pub(super) fn processes<'a>(health: impl Iterator<Item = Option<&'a ProcessCounts>>) -> Value {
    let mut sum = ProcessCounts::default();
    for counts in health.flatten() {
        sum.merge(counts);
    }
    let states: Map<String, Value> = sum
        .iter()
        .map(|(state, count)| (state.word().to_owned(), count.into()))
        .collect();
    if states.is_empty() {
        return Value::Null;
    }
    Value::Object(states)
}

/// Steps whose row is not usable, by reason.
pub(super) fn unusable<'a>(
    rows: impl Iterator<Item = (&'a StepKey, BTreeSet<RowReason>)>,
    shown: usize,
) -> Section {
    let mut by_reason: BTreeMap<RowReason, BTreeSet<&str>> = BTreeMap::new();
    for (step, reasons) in rows {
        for reason in reasons {
            by_reason.entry(reason).or_default().insert(step.as_str());
        }
    }
    let title = "rows that may only select, by reason";
    let columns = &["reason", "rows", "steps"];
    let mut section = Section::new("not_usable", title, columns, shown);
    for (reason, steps) in by_reason {
        section.row([text(reason), steps.len().into(), texts(steps)]);
    }
    section
}

/// Rows that were set aside.
pub(super) fn malformed(faults: &[RowFault], shown: usize) -> Section {
    let title = "malformed rows, set aside";
    let mut section = Section::new("malformed_rows", title, &["row", "problem"], shown);
    for fault in faults {
        section.row([text(&fault.key), text(&fault.problem)]);
    }
    section
}

fn largest_rows(table: &KernelTable, shown: usize) -> Section {
    let mut rows: Vec<(&str, &Row)> = table
        .rows
        .iter()
        .map(|(step, row)| (step.as_str(), row))
        .collect();
    rows.sort_by_key(|(step, row)| (std::cmp::Reverse(row.kernels.len()), *step));
    let title = "steps with the most kernels";
    let columns = &["step", "kernels", "processes", "evidence"];
    let mut section = Section::new("rows", title, columns, shown);
    for (step, row) in rows {
        let evidence = if row.is_usable() {
            text("usable")
        } else {
            texts(row.unusable_reasons())
        };
        let kernels = row.kernels.len().into();
        section.row([text(step), kernels, row.processes.into(), evidence]);
    }
    section
}

/// A symbol map.
pub(crate) fn symbol_map(map: &SymbolMap, shown: usize) -> Summary {
    let version = match map.version {
        MapVersion::V1 => 1,
        MapVersion::V2 => 2,
    };
    let mut summary = Summary::new("symbol-map", format!("symbol map, version {version}"));
    summary.fact("backend", text(map.backend));
    summary.fact("commit", map.commit.as_ref().map(text));
    if !map.variant.is_default() {
        summary.fact("variant", text(&map.variant));
    }
    summary.fact_if("cuda", map.cuda.as_deref());
    summary.fact_if("generated_at", map.generated_at.map(text));
    summary.fact("objects", map.objects.len());
    let device = map.objects.iter().filter(|object| object.device).count();
    summary.fact("device_objects", device);
    summary.fact("symbols", map.distinct_symbols());
    summary.fact("incomplete", map.incomplete);
    let accepted = map.accept();
    summary.fact("accepted", accepted.is_ok());
    summary.fact_if("refused_because", accepted.err().map(text));
    summary.section(map_errors(map, shown));
    summary.section(largest_sources(map, shown));
    summary
}

fn map_errors(map: &SymbolMap, shown: usize) -> Section {
    let title = "what could not be read";
    let mut section = Section::new("errors", title, &["object", "error"], shown);
    for error in &map.errors {
        let place = error.object.as_deref().or(error.source.as_deref());
        section.row([text(place.unwrap_or("")), text(&error.error)]);
    }
    for object in &map.objects {
        if let Some(error) = &object.error {
            section.row([text(&object.object), text(error)]);
        }
    }
    section
}

fn largest_sources(map: &SymbolMap, shown: usize) -> Section {
    let mut by_source: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for object in &map.objects {
        let symbols = object.symbols.iter().map(KernelName::as_str);
        by_source.entry(&object.source).or_default().extend(symbols);
    }
    let mut sources: Vec<(&str, usize)> = by_source
        .into_iter()
        .map(|(source, symbols)| (source, symbols.len()))
        .collect();
    sources.sort_by_key(|&(source, symbols)| (std::cmp::Reverse(symbols), source));
    let title = "sources with the most kernels";
    let mut section = Section::new("sources", title, &["source", "symbols"], shown);
    for (source, symbols) in sources {
        section.row([text(source), symbols.into()]);
    }
    section
}
