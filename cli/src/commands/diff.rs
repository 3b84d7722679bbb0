//! `kernrec diff`: what changed between two tables of one kind.

use crate::args::diff::DiffArgs;
use crate::document;
use crate::error::CommandError;
use crate::shell::{Form, Shell};
use crate::summary::{Section, Summary, text, texts};
use kernrec_publish::Table;
use kernrec_schemas::exit::Exit;
use kernrec_schemas::function_table::FunctionRow;
use kernrec_schemas::table::{Row, RowReason, TableSource};
use kernrec_schemas::{KernelName, StepKey};
use std::borrow::Cow;
use std::collections::BTreeSet;

pub(crate) fn run(args: &DiffArgs, shell: &mut Shell) -> Result<Exit, CommandError> {
    let before = document::table(&args.before)?;
    let after = document::table(&args.after)?;
    if Names::of(&before) != Names::of(&after) {
        let problem = "a kernel table and a function table have nothing to compare";
        return Err(CommandError::failed("not-a-table", problem));
    }
    let changes = Changes::between(&before, &after);
    let form = Form::of_flag(args.json);
    shell.summary(&summary(&before, &after, &changes, args.rows), form)?;
    Ok(if changes.is_empty() {
        Exit::Done
    } else {
        Exit::Refused
    })
}

/// What rows name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Names {
    Kernels,
    Functions,
}

impl Names {
    const fn of(table: &Table) -> Self {
        match table {
            Table::Kernels(_) => Self::Kernels,
            Table::Functions(_) => Self::Functions,
        }
    }
}

/// What differs, step by step.
#[derive(Default)]
struct Changes<'a> {
    gone: Vec<&'a StepKey>,
    new: Vec<&'a StepKey>,
    names: Vec<NameChange<'a>>,
    gained: Vec<(&'a StepKey, BTreeSet<RowReason>)>,
    lost: Vec<(&'a StepKey, BTreeSet<RowReason>)>,
    /// Unusable in both, for other reasons.
    reasons: Vec<(&'a StepKey, BTreeSet<RowReason>, BTreeSet<RowReason>)>,
}

struct NameChange<'a> {
    step: &'a StepKey,
    added: Vec<Cow<'a, str>>,
    removed: Vec<Cow<'a, str>>,
}

impl<'a> Changes<'a> {
    fn between(before: &'a Table, after: &'a Table) -> Self {
        let mut changes = Self::default();
        for step in step_keys(before) {
            if after.has_row(step) {
                changes.compare(step, before, after);
            } else {
                changes.gone.push(step);
            }
        }
        let new = step_keys(after).into_iter();
        changes.new = new.filter(|step| !before.has_row(step)).collect();
        changes
    }

    fn compare(&mut self, step: &'a StepKey, before: &'a Table, after: &'a Table) {
        let (was, is) = (names(before, step), names(after, step));
        if was != is {
            self.names.push(NameChange {
                step,
                added: is.difference(&was).cloned().collect(),
                removed: was.difference(&is).cloned().collect(),
            });
        }
        let (old, new) = (reasons_of(before, step), reasons_of(after, step));
        match (old.is_empty(), new.is_empty()) {
            (false, true) => self.gained.push((step, old)),
            (true, false) => self.lost.push((step, new)),
            (false, false) if old != new => self.reasons.push((step, old, new)),
            _ => {}
        }
    }

    fn is_empty(&self) -> bool {
        let Self {
            gone,
            new,
            names,
            gained,
            lost,
            reasons,
        } = self;
        let steps = gone.is_empty() && new.is_empty() && names.is_empty();
        steps && gained.is_empty() && lost.is_empty() && reasons.is_empty()
    }
}

fn step_keys(table: &Table) -> Vec<&StepKey> {
    match table {
        Table::Kernels(table) => table.rows.keys().collect(),
        Table::Functions(table) => table.rows.keys().collect(),
    }
}

/// Why a row is not usable; nothing for a usable one.
fn reasons_of(table: &Table, step: &StepKey) -> BTreeSet<RowReason> {
    let reasons = match table {
        Table::Kernels(table) => table.rows.get(step).map(Row::unusable_reasons),
        Table::Functions(table) => table.rows.get(step).map(FunctionRow::unusable_reasons),
    };
    reasons.unwrap_or_default()
}

/// Kernels in their stable form; functions as `file:name`, and libraries.
fn names<'a>(table: &'a Table, step: &StepKey) -> BTreeSet<Cow<'a, str>> {
    match table {
        Table::Kernels(table) => {
            let row = table.rows.get(step).into_iter();
            let kernels = row.flat_map(|row| table.kernels(row));
            kernels.map(KernelName::stable).collect()
        }
        Table::Functions(table) => {
            let Some(row) = table.rows.get(step) else {
                return BTreeSet::new();
            };
            let functions = table.functions_of(row);
            let functions = functions.map(|one| format!("{}:{}", one.file, one.name).into());
            let libraries = table.libraries_of(row);
            functions
                .chain(libraries.map(|library| Cow::Borrowed(library.as_str())))
                .collect()
        }
    }
}

fn summary(before: &Table, after: &Table, changes: &Changes<'_>, shown: usize) -> Summary {
    let title = if changes.is_empty() {
        "the tables say the same"
    } else {
        "the tables differ"
    };
    let mut summary = Summary::new("table-diff", title);
    summary.fact("same", changes.is_empty());
    summary.fact("before", source(before));
    summary.fact("after", source(after));
    summary.section(steps("steps_gone", "steps only in A", &changes.gone, shown));
    summary.section(steps("steps_new", "steps only in B", &changes.new, shown));
    summary.section(changed_names(changes, Names::of(before), shown));
    let lost = "rows that lost usability";
    summary.section(usability("usability_lost", lost, &changes.lost, shown));
    let gained = "rows that gained usability (what stood against them in A)";
    summary.section(usability(
        "usability_gained",
        gained,
        &changes.gained,
        shown,
    ));
    summary.section(reasons(changes, shown));
    summary
}

fn source(table: &Table) -> String {
    let TableSource { build, commit, .. } = table.source();
    let steps = step_keys(table);
    let usable = steps
        .iter()
        .filter(|step| reasons_of(table, step).is_empty());
    format!(
        "build {build}, commit {}, {} steps, {} usable",
        commit.as_ref().map_or("unknown", |commit| commit.as_str()),
        steps.len(),
        usable.count(),
    )
}

fn steps(key: &'static str, title: &str, steps: &[&StepKey], shown: usize) -> Section {
    let mut section = Section::new(key, title, &["step"], shown);
    for step in steps {
        section.row([text(step)]);
    }
    section
}

fn changed_names(changes: &Changes<'_>, names: Names, shown: usize) -> Section {
    let (key, title, columns) = match names {
        Names::Kernels => (
            "kernels_changed",
            "steps that launched other kernels (added, removed)",
            &[
                "step",
                "added",
                "removed",
                "kernels_added",
                "kernels_removed",
            ],
        ),
        Names::Functions => (
            "functions_changed",
            "steps that entered other functions or libraries (added, removed)",
            &[
                "step",
                "added",
                "removed",
                "functions_added",
                "functions_removed",
            ],
        ),
    };
    let mut section = Section::new(key, title, columns, shown);
    for change in &changes.names {
        let (added, removed) = (change.added.len(), change.removed.len());
        let names = [texts(&change.added), texts(&change.removed)];
        let [names_added, names_removed] = names;
        let step = text(change.step);
        section.row([
            step,
            added.into(),
            removed.into(),
            names_added,
            names_removed,
        ]);
    }
    section
}

fn usability(
    key: &'static str,
    title: &str,
    rows: &[(&StepKey, BTreeSet<RowReason>)],
    shown: usize,
) -> Section {
    let mut section = Section::new(key, title, &["step", "reasons"], shown);
    for (step, reasons) in rows {
        section.row([text(step), texts(reasons)]);
    }
    section
}

fn reasons(changes: &Changes<'_>, shown: usize) -> Section {
    let title = "rows that may only select in both, for other reasons (A, B)";
    let columns = &["step", "reasons_before", "reasons_after"];
    let mut section = Section::new("reasons_changed", title, columns, shown);
    for (step, old, new) in &changes.reasons {
        section.row([text(step), texts(old), texts(new)]);
    }
    section
}
