//! The report for people: short, aligned, grouped by what becomes of the steps.

use super::words::{attributed, counted, entered, is_concerned, steps, worth};
use crate::decision::{Fate, Reason};
use crate::evidence::FileClass;
use crate::report::{
    EnteredReport, FileReport, FileSeen, FunctionsSeen, KeptStep, LimitProblem, RecordReport,
    RecordState, Report, SelectedStep, SkippedStep,
};
use kernrec_schemas::Backend;
use kernrec_schemas::shown::printable;
use kernrec_schemas::table::RowReason;
use std::collections::BTreeMap;

/// How many steps or files a list names before it only counts.
const SHOWN: usize = 12;
/// How wide a list of steps may get, in characters.
const WIDTH: usize = 100;
/// How many hex digits of a commit are shown.
const COMMIT_DIGITS: usize = 12;

/// The whole report, ending in a line end.
pub fn text(report: &Report) -> String {
    let mut out = Lines::default();
    summary(&mut out, report);
    if report.stopped.is_some() {
        return out.text;
    }
    out.section("Records");
    records(&mut out, &report.records);
    if !report.notes.is_empty() {
        out.section("Notes");
        for note in &report.notes {
            let message = printable(&note.message);
            out.line(1, format!("{}: {message}", note.reason.word()));
        }
    }
    out.section("Changed files");
    files(&mut out, &report.files);
    if !report.selected.is_empty() {
        out.section(format!("Selected: {}", steps(report.selected.len())));
        selected(&mut out, &report.selected);
    }
    if !report.kept.is_empty() {
        out.section(format!("Kept: {}", steps(report.kept.len())));
        kept(&mut out, &report.kept);
    }
    if !report.skipped.is_empty() {
        out.section(format!("May be skipped: {}", steps(report.skipped.len())));
        skipped(&mut out, &report.skipped);
    }
    out.text
}

#[derive(Default)]
struct Lines {
    text: String,
}

impl Lines {
    fn line(&mut self, indent: usize, line: impl AsRef<str>) {
        self.text.extend(std::iter::repeat_n("  ", indent));
        self.text.push_str(line.as_ref().trim_end());
        self.text.push('\n');
    }

    fn section(&mut self, title: impl AsRef<str>) {
        self.text.push('\n');
        self.line(0, title);
    }

    /// Names in lines of at most [`WIDTH`] characters; all but the first [`SHOWN`] are counted.
    fn list<'a>(&mut self, indent: usize, names: impl Iterator<Item = &'a str>) {
        let names: Vec<&str> = names.collect();
        let mut words: Vec<String> = names
            .iter()
            .take(SHOWN)
            .map(|name| printable(name).into_owned())
            .collect();
        if names.len() > SHOWN {
            words.push(format!("and {} more", names.len() - SHOWN));
        }
        let last = words.len().saturating_sub(1);
        let mut line = String::new();
        for (at, word) in words.iter().enumerate() {
            if !line.is_empty()
                && line.chars().count() + word.chars().count() + 2 > WIDTH - 2 * indent
            {
                self.line(indent, &line);
                line.clear();
            }
            line.push_str(word);
            line.push_str(if at < last { ", " } else { "" });
        }
        self.line(indent, &line);
    }

    /// Rows of cells, each column as wide as its widest cell.
    fn table(&mut self, indent: usize, rows: &[Vec<String>]) {
        let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns)
            .map(|column| {
                rows.iter()
                    .filter_map(|row| row.get(column))
                    .map(|cell| cell.chars().count())
                    .max()
                    .unwrap_or(0)
            })
            .collect();
        for row in rows {
            let cells: Vec<String> = row
                .iter()
                .zip(&widths)
                .map(|(cell, &width)| format!("{cell:width$}"))
                .collect();
            self.line(indent, cells.join("  "));
        }
    }
}

fn summary(out: &mut Lines, report: &Report) {
    if let Some(stopped) = &report.stopped {
        let problem = printable(&stopped.problem);
        out.line(
            0,
            format!("Everything must run: {}: {problem}", stopped.reason),
        );
        return;
    }
    let counts = &report.counts;
    out.line(
        0,
        format!(
            "{} {}: {} selected, {} kept, {} may be skipped.",
            steps(counts.steps),
            if report.step_file.is_some() {
                "in the step file"
            } else {
                "recorded"
            },
            counts.selected,
            counts.kept,
            counts.skipped
        ),
    );
    out.line(
        0,
        if report.everything_must_run {
            "Everything must run: no step may be skipped."
        } else {
            super::keys::unlisted(report)
        },
    );
    if let Some(line) = super::keys::without_key(report) {
        out.line(0, line);
    }
    for assumption in &report.assumes {
        out.line(0, assumption.meaning());
    }
}

fn records(out: &mut Lines, records: &[RecordReport]) {
    if records.is_empty() {
        out.line(1, "none");
    }
    let ready: Vec<Vec<String>> = records.iter().filter_map(ready_cells).collect();
    out.table(1, &ready);
    for record in records {
        match &record.state {
            RecordState::Ready {
                faults, problems, ..
            } => {
                for LimitProblem { reason, problem } in problems {
                    let problem = printable(problem);
                    out.line(1, format!("{}: {problem} ({reason})", record.backend));
                }
                set_aside(out, record, faults);
            }
            RecordState::Unavailable { reason, problem } => {
                let problem = printable(problem);
                out.line(
                    1,
                    format!("{}  unavailable: {problem} ({reason})", record.backend),
                );
            }
        }
    }
}

fn set_aside(out: &mut Lines, record: &RecordReport, faults: &[String]) {
    for fault in faults.iter().take(SHOWN) {
        out.line(
            1,
            format!("{}: row set aside: {}", record.backend, printable(fault)),
        );
    }
    if faults.len() > SHOWN {
        let more = faults.len() - SHOWN;
        out.line(
            1,
            format!("{}: and {more} more rows set aside", record.backend),
        );
    }
}

/// One line of the table of records; `None` for a record that is not there.
fn ready_cells(record: &RecordReport) -> Option<Vec<String>> {
    let RecordState::Ready {
        build,
        commit,
        age_seconds,
        rows,
        usable_rows,
        limits,
        ..
    } = &record.state
    else {
        return None;
    };
    let commit = commit
        .as_ref()
        .map_or("no commit", |commit| cut(commit.as_str(), COMMIT_DIGITS));
    let limits: Vec<&str> = limits.iter().map(|reason| reason.word()).collect();
    Some(vec![
        record.backend.to_string(),
        commit.to_owned(),
        format!("build {build}"),
        age_seconds.map_or_else(|| "age unknown".to_owned(), age),
        format!("{rows} rows, {usable_rows} usable"),
        if limits.is_empty() {
            String::new()
        } else {
            format!("only adds: {}", limits.join(", "))
        },
    ])
}

fn files(out: &mut Lines, files: &[FileReport]) {
    for file in files.iter().take(SHOWN) {
        out.line(1, printable(&file.path));
        let seen = file.seen.iter().filter(|seen| is_concerned(file, seen));
        let rows = seen.map(seen_cells);
        let functions = file.functions.iter().map(function_cells);
        out.table(2, &rows.chain(functions).collect::<Vec<_>>());
    }
    if files.len() > SHOWN {
        out.line(1, format!("and {} more files", files.len() - SHOWN));
        let mut classes: BTreeMap<FileClass, usize> = BTreeMap::new();
        for file in files.iter().skip(SHOWN) {
            let seen = file.seen.iter().filter(|seen| is_concerned(file, seen));
            let functions = file.functions.iter().map(|seen| seen.class);
            for class in seen.map(|seen| seen.class).chain(functions) {
                *classes.entry(class).or_default() += 1;
            }
        }
        let rows: Vec<Vec<String>> = classes
            .iter()
            .map(|(class, count)| vec![class.to_string(), count.to_string()])
            .collect();
        out.table(2, &rows);
    }
}

fn seen_cells(seen: &FileSeen) -> Vec<String> {
    let known = if seen.class == FileClass::FileNotInMap {
        "unknown to the map".to_owned()
    } else {
        format!(
            "{}, {} launched by {}",
            counted(seen.kernels, "kernel"),
            seen.launched_kernels,
            steps(seen.steps.len())
        )
    };
    vec![
        seen.backend.to_string(),
        known,
        worth(seen.class, &seen.causes, seen.moved),
        seen.attribution
            .as_ref()
            .map(attributed)
            .unwrap_or_default(),
    ]
}

fn function_cells(seen: &FunctionsSeen) -> Vec<String> {
    vec![
        Backend::Python.to_string(),
        entered(seen),
        worth(seen.class, &seen.causes, seen.moved),
        seen.word.clone(),
    ]
}

fn selected(out: &mut Lines, selected: &[SelectedStep]) {
    let rows: Vec<Vec<String>> = selected
        .iter()
        .take(SHOWN)
        .map(|step| {
            let launches: Vec<String> = step
                .launched
                .iter()
                .map(|launch| {
                    let of = match (launch.files.first(), launch.file_count) {
                        (Some(file), 1) => printable(file).into_owned(),
                        (_, count) => counted(count, "changed file"),
                    };
                    format!(
                        "{}: {} of {of}",
                        launch.backend,
                        counted(launch.kernel_count, "kernel")
                    )
                })
                .chain(step.entered.iter().map(entered_text))
                .collect();
            vec![
                printable(step.step.as_str()).into_owned(),
                launches.join("; "),
            ]
        })
        .collect();
    out.table(1, &rows);
    if let Some(more) = selected.get(SHOWN..).filter(|more| !more.is_empty()) {
        out.line(1, format!("and {} more:", more.len()));
        out.list(2, more.iter().map(|step| step.step.as_str()));
    }
}

fn entered_text(entered: &EnteredReport) -> String {
    let mut parts = Vec::new();
    if let Some(first) = entered.functions.first() {
        let of = match entered.files.as_slice() {
            [file] => printable(file).into_owned(),
            _ => counted(entered.file_count, "changed file"),
        };
        parts.push(match entered.function_count {
            1 => format!("{} of {of}", printable(&first.name)),
            count => format!("{} of {of}", counted(count, "function")),
        });
    }
    if !entered.libraries.is_empty() {
        let names: Vec<_> = entered
            .libraries
            .iter()
            .map(|name| printable(name))
            .collect();
        parts.push(names.join(", "));
    }
    format!("{}: {}", Backend::Python, parts.join("; "))
}

fn kept(out: &mut Lines, kept: &[KeptStep]) {
    for reason in Reason::ALL
        .into_iter()
        .filter(|reason| reason.fate() == Fate::Kept)
    {
        let steps: Vec<&KeptStep> = kept.iter().filter(|step| step.reason == reason).collect();
        if steps.is_empty() {
            continue;
        }
        out.line(1, reason_line(reason, steps.len()));
        if reason == Reason::RowNotUsable {
            unusable(out, &steps);
        } else {
            out.list(2, steps.iter().map(|step| step.step.as_str()));
        }
    }
}

fn skipped(out: &mut Lines, skipped: &[SkippedStep]) {
    for reason in Reason::ALL {
        let of_reason = || skipped.iter().filter(|step| step.reason == reason);
        if of_reason().next().is_some() {
            out.line(1, reason_line(reason, of_reason().count()));
            out.list(2, of_reason().map(|step| step.step.as_str()));
        }
    }
}

fn unusable(out: &mut Lines, steps: &[&KeptStep]) {
    let rows: Vec<Vec<String>> = steps
        .iter()
        .take(SHOWN)
        .map(|step| {
            let words: Vec<String> = step
                .verdicts
                .iter()
                .filter(|verdict| !verdict.row_reasons.is_empty())
                .map(|verdict| {
                    let words: Vec<&str> =
                        verdict.row_reasons.iter().map(RowReason::word).collect();
                    format!("{}: {}", verdict.backend, words.join(", "))
                })
                .collect();
            vec![printable(step.step.as_str()).into_owned(), words.join("; ")]
        })
        .collect();
    out.table(2, &rows);
    if let Some(more) = steps.get(SHOWN..).filter(|more| !more.is_empty()) {
        out.line(2, format!("and {} more", more.len()));
    }
}

fn reason_line(reason: Reason, count: usize) -> String {
    format!("{reason} ({count}): {}", reason.meaning())
}

/// The largest unit that leaves at least two, so that a limit in days is never hidden by rounding.
fn age(seconds: u64) -> String {
    let text = match seconds {
        0..120 => counted(seconds, "second"),
        120..7200 => counted(seconds / 60, "minute"),
        7200..172_800 => counted(seconds / 3600, "hour"),
        _ => counted(seconds / 86_400, "day"),
    };
    format!("{text} old")
}

fn cut(text: &str, characters: usize) -> &str {
    text.char_indices()
        .nth(characters)
        .map_or(text, |(end, _)| &text[..end])
}
