//! `kernrec diff`: what changed between two kernel tables.

use crate::args::diff::DiffArgs;
use crate::document;
use crate::error::CommandError;
use crate::shell::{Form, Shell};
use crate::summary::{Section, Summary, text, texts};
use kernrec_schemas::exit::Exit;
use kernrec_schemas::table::{KernelTable, Row};
use kernrec_schemas::{KernelName, StepKey};
use std::borrow::Cow;
use std::collections::BTreeSet;

pub(crate) fn run(args: &DiffArgs, shell: &mut Shell) -> Result<Exit, CommandError> {
    let before = document::table(&args.before)?;
    let after = document::table(&args.after)?;
    let changes = Changes::between(&before, &after);
    let form = Form::of_flag(args.json);
    shell.summary(&summary(&before, &after, &changes, args.rows), form)?;
    Ok(if changes.is_empty() {
        Exit::Done
    } else {
        Exit::Refused
    })
}

/// What differs, step by step.
#[derive(Default)]
struct Changes<'a> {
    gone: Vec<&'a StepKey>,
    new: Vec<&'a StepKey>,
    kernels: Vec<KernelChange<'a>>,
    gained: Vec<(&'a StepKey, &'a Row)>,
    lost: Vec<(&'a StepKey, &'a Row)>,
    /// Unusable in both, for other reasons.
    reasons: Vec<(&'a StepKey, &'a Row, &'a Row)>,
}

struct KernelChange<'a> {
    step: &'a StepKey,
    added: Vec<Cow<'a, str>>,
    removed: Vec<Cow<'a, str>>,
}

impl<'a> Changes<'a> {
    fn between(before: &'a KernelTable, after: &'a KernelTable) -> Self {
        let mut changes = Self::default();
        for (step, old) in &before.rows {
            match after.rows.get(step) {
                Some(new) => changes.compare(step, (before, old), (after, new)),
                None => changes.gone.push(step),
            }
        }
        let new = after
            .rows
            .keys()
            .filter(|step| !before.rows.contains_key(*step));
        changes.new = new.collect();
        changes
    }

    fn compare(
        &mut self,
        step: &'a StepKey,
        (before, old): (&'a KernelTable, &'a Row),
        (after, new): (&'a KernelTable, &'a Row),
    ) {
        let (was, is) = (stable_names(before, old), stable_names(after, new));
        if was != is {
            self.kernels.push(KernelChange {
                step,
                added: is.difference(&was).cloned().collect(),
                removed: was.difference(&is).cloned().collect(),
            });
        }
        match (old.is_usable(), new.is_usable()) {
            (false, true) => self.gained.push((step, old)),
            (true, false) => self.lost.push((step, new)),
            (false, false) if old.unusable_reasons() != new.unusable_reasons() => {
                self.reasons.push((step, old, new));
            }
            _ => {}
        }
    }

    fn is_empty(&self) -> bool {
        let Self {
            gone,
            new,
            kernels,
            gained,
            lost,
            reasons,
        } = self;
        let steps = gone.is_empty() && new.is_empty() && kernels.is_empty();
        steps && gained.is_empty() && lost.is_empty() && reasons.is_empty()
    }
}

fn stable_names<'a>(table: &'a KernelTable, row: &'a Row) -> BTreeSet<Cow<'a, str>> {
    table.kernels(row).map(KernelName::stable).collect()
}

fn summary(
    before: &KernelTable,
    after: &KernelTable,
    changes: &Changes<'_>,
    shown: usize,
) -> Summary {
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
    summary.section(kernels(changes, shown));
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

fn source(table: &KernelTable) -> String {
    let commit = table.source.commit.as_ref();
    format!(
        "build {}, commit {}, {} steps, {} usable",
        table.source.build,
        commit.map_or("unknown", |commit| commit.as_str()),
        table.rows.len(),
        table.usable_rows(),
    )
}

fn steps(key: &'static str, title: &str, steps: &[&StepKey], shown: usize) -> Section {
    let mut section = Section::new(key, title, &["step"], shown);
    for step in steps {
        section.row([text(step)]);
    }
    section
}

fn kernels(changes: &Changes<'_>, shown: usize) -> Section {
    let title = "steps that launched other kernels (added, removed)";
    let columns = &[
        "step",
        "added",
        "removed",
        "kernels_added",
        "kernels_removed",
    ];
    let mut section = Section::new("kernels_changed", title, columns, shown);
    for change in &changes.kernels {
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

fn usability(key: &'static str, title: &str, rows: &[(&StepKey, &Row)], shown: usize) -> Section {
    let mut section = Section::new(key, title, &["step", "reasons"], shown);
    for (step, row) in rows {
        section.row([text(step), texts(row.unusable_reasons())]);
    }
    section
}

fn reasons(changes: &Changes<'_>, shown: usize) -> Section {
    let title = "rows that may only select in both, for other reasons (A, B)";
    let columns = &["step", "reasons_before", "reasons_after"];
    let mut section = Section::new("reasons_changed", title, columns, shown);
    for (step, old, new) in &changes.reasons {
        let reasons = [old, new].map(|row| texts(row.unusable_reasons()));
        let [before, after] = reasons;
        section.row([text(step), before, after]);
    }
    section
}
