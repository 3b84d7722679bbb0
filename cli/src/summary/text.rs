//! The text form: aligned columns, numbers with separators, long tables cut.

use super::{Section, Summary};
use kernrec_schemas::shown::printable;
use serde_json::Value;
use std::fmt::Write;

/// Cells longer than this are cut; kernel names can be kilobytes.
const MAX_CELL: usize = 100;
/// Numbers that name something instead of counting it: written without separators.
const IDENTIFIERS: [&str; 5] = ["build", "pid", "ppid", "generation", "exit_status"];

pub(super) fn render(summary: &Summary) -> String {
    let mut out = format!("{}\n", summary.title);
    let width = summary.facts.iter().map(|(key, _)| key.len()).max();
    for (key, value) in &summary.facts {
        let label = key.replace('_', " ");
        let width = width.unwrap_or(0);
        let value = match value {
            Value::Null => "unknown".to_owned(),
            known => cell(key, known),
        };
        let _ = writeln!(out, "  {label:width$}  {value}");
    }
    for section in &summary.sections {
        table(&mut out, section);
    }
    out
}

fn table(out: &mut String, section: &Section) {
    if section.rows.is_empty() || section.shown == 0 {
        return;
    }
    let _ = writeln!(out, "{}:", section.title);
    let shown = &section.rows[..section.rows.len().min(section.shown)];
    let cells: Vec<Vec<String>> = shown
        .iter()
        .map(|row| {
            named(section, row)
                .map(|(key, value)| cell(key, value))
                .collect()
        })
        .collect();
    let header: Vec<String> = section
        .columns
        .iter()
        .map(|column| column.replace('_', " "))
        .collect();
    let widths: Vec<usize> = (0..header.len())
        .map(|column| width(&header, &cells, column))
        .collect();
    if header.len() > 1 {
        line(out, &header, shown.first(), &widths);
    }
    for (row, values) in cells.iter().zip(shown) {
        line(out, row, Some(values), &widths);
    }
    if section.rows.len() > shown.len() {
        let _ = writeln!(out, "  … and {} more", section.rows.len() - shown.len());
    }
}

/// The width of a column; 0 when no row says anything in it, and it is left out.
fn width(header: &[String], cells: &[Vec<String>], column: usize) -> usize {
    let lengths = cells.iter().map(|row| row[column].chars().count());
    match lengths.max().unwrap_or(0) {
        0 => 0,
        longest if header.len() > 1 => longest.max(header[column].chars().count()),
        longest => longest,
    }
}

/// One line of a table; columns of numbers stand to the right, their header too.
fn line(out: &mut String, cells: &[String], values: Option<&Vec<Value>>, widths: &[usize]) {
    let start = out.len();
    for (column, (cell, &width)) in cells.iter().zip(widths).enumerate() {
        if width == 0 {
            continue;
        }
        let number = values.is_some_and(|values| values[column].is_number());
        let _ = if number {
            write!(out, "  {cell:>width$}")
        } else {
            write!(out, "  {cell:width$}")
        };
    }
    out.truncate(start + out[start..].trim_end().len());
    out.push('\n');
}

fn named<'a>(section: &'a Section, row: &'a [Value]) -> impl Iterator<Item = (&'a str, &'a Value)> {
    section.columns.iter().copied().zip(row)
}

fn cell(key: &str, value: &Value) -> String {
    let text = match value {
        Value::Null => "-".to_owned(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::Number(number) => match number.as_u64() {
            Some(count) if !IDENTIFIERS.contains(&key) => separated(count),
            _ => number.to_string(),
        },
        Value::String(text) => printable(text).into_owned(),
        Value::Array(values) => {
            let cells: Vec<String> = values.iter().map(|value| cell(key, value)).collect();
            cells.join(", ")
        }
        Value::Object(fields) => fields
            .iter()
            .map(|(key, value)| format!("{} {key}", cell(key, value)))
            .collect::<Vec<_>>()
            .join(", "),
    };
    cut(text)
}

fn cut(text: String) -> String {
    match text.char_indices().nth(MAX_CELL) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

/// A number with a comma between each three digits.
pub(crate) fn separated(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
