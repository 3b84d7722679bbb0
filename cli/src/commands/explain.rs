//! `kernrec explain`: why one step must run, or need not, when one file changes.

use crate::args::explain::ExplainArgs;
use crate::error::CommandError;
use crate::shell::{Form, Shell};
use crate::signing;
use crate::summary::{Section, Summary, text, texts};
use kernrec_publish::{Collected, Inputs, collect};
use kernrec_schemas::exit::Exit;
use kernrec_schemas::table::RowReason;
use kernrec_schemas::{Backend, Timestamp};
use kernrec_select::{
    ExplainError, ExplainedRecord, ExplainedRow, Explanation, Fate, Policy, explain, open_records,
};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

pub(crate) fn run(args: &ExplainArgs, shell: &mut Shell) -> Result<Exit, CommandError> {
    let asked: BTreeSet<Backend> = args.backend.iter().copied().collect();
    let keys = signing::installed(&args.signing)?;
    let records = open_records(&args.data, &asked, &keys);
    if records.is_empty() {
        let problem = format!("nothing is installed in `{}`", args.data.display());
        return Err(CommandError::failed("never-installed", problem)
            .hint("run `kernrec fetch` first, or check --data"));
    }
    let policy = Policy {
        max_age: args.max_age,
        ..Policy::at(Timestamp::now())
    };
    let explained =
        explain(&records, &args.step, &args.file, &policy).map_err(|error| match error {
            ExplainError::Records(error) => CommandError::failed(error.reason(), error),
            other => CommandError::usage(other),
        })?;
    let recorded = collect(&Inputs {
        recordings: args.recordings.clone(),
        bundles: args.bundle.clone(),
    })?;
    let summary = summary(&explained, &recorded, args.rows);
    let form = if args.json { Form::Json } else { Form::Text };
    shell.summary(&summary, form)?;
    Ok(Exit::Done)
}

fn summary(explained: &Explanation, recorded: &Collected, shown: usize) -> Summary {
    let title = format!("`{}` and `{}`", explained.step, explained.file);
    let mut summary = Summary::new("explanation", title);
    summary.fact("step", text(&explained.step));
    summary.fact("file", text(&explained.file));
    let (must_run, word, meaning) = explained.reason.map_or(
        (true, "no-row", "no record has a row for the step"),
        |reason| {
            (
                reason.fate() != Fate::Skipped,
                reason.word(),
                reason.meaning(),
            )
        },
    );
    // Nothing tells here what in the file changed.
    summary.fact("assumes", "device-code");
    summary.fact("must_run", must_run);
    summary.fact("reason", word);
    summary.fact("meaning", meaning);
    summary.section(backends(explained));
    summary.section(unavailable(explained));
    summary.section(kernels(explained, shown));
    summary.section(functions(explained, shown));
    summary.section(processes(explained, recorded, shown));
    summary
}

/// One line for each record: the file's part, the row's part, and what they come to.
fn backends(explained: &Explanation) -> Section {
    let columns = &[
        "backend",
        "reason",
        "file",
        "causes",
        "objects",
        "kernels",
        "launched",
        "row",
        "row_reasons",
        "record_limits",
    ];
    let mut section = Section::new("records", "what each record says", columns, usize::MAX);
    for record in &explained.records {
        let row = record.row.as_ref();
        section.row([
            text(record.backend),
            row.map_or(Value::from("no-row"), |row| text(row.reason)),
            text(record.class),
            texts(&record.causes),
            record.objects.into(),
            record.kernels.len().into(),
            launched(record).into(),
            text(health(row)),
            row.map_or(Value::from(""), |row| texts(&row.doubts)),
            texts(&record.limits),
        ]);
    }
    if let Some(functions) = &explained.functions {
        let row = functions.row.as_ref();
        let health = row.map_or("none", |(doubts, _)| usable(doubts));
        section.row([
            text(Backend::Python),
            row.map_or(Value::from("no-row"), |(_, reason)| text(reason)),
            text(functions.class),
            texts(&functions.causes),
            Value::Null,
            Value::Null,
            Value::Null,
            text(health),
            row.map_or(Value::from(""), |(doubts, _)| texts(doubts)),
            texts(&functions.limits),
        ]);
    }
    section
}

fn launched(record: &ExplainedRecord) -> usize {
    let launched = record.kernels.iter().filter(|kernel| kernel.launched);
    launched.count()
}

fn health(row: Option<&ExplainedRow>) -> &'static str {
    match row {
        None => "none",
        Some(row) => usable(&row.doubts),
    }
}

fn usable(doubts: &[RowReason]) -> &'static str {
    if doubts.is_empty() {
        "usable"
    } else {
        "not usable"
    }
}

fn unavailable(explained: &Explanation) -> Section {
    let columns = &["backend", "reason", "problem"];
    let mut section = Section::new("unavailable", "not available", columns, usize::MAX);
    for gone in &explained.unavailable {
        section.row([text(gone.backend), text(&gone.reason), text(&gone.problem)]);
    }
    section
}

/// Those that the step launched stand first: they decide.
fn kernels(explained: &Explanation, shown: usize) -> Section {
    let columns = &["backend", "launched", "steps", "kernel"];
    let title = "kernels of the file, and how many steps launched each";
    let mut section = Section::new("kernels", title, columns, shown);
    for record in &explained.records {
        for wanted in [true, false] {
            let kernels = record.kernels.iter();
            for kernel in kernels.filter(|kernel| kernel.launched == wanted) {
                section.row([
                    text(record.backend),
                    kernel.launched.into(),
                    kernel.steps.into(),
                    text(&kernel.name),
                ]);
            }
        }
    }
    section
}

/// Those that the step entered stand first.
fn functions(explained: &Explanation, shown: usize) -> Section {
    let columns = &["entered", "steps", "function"];
    let title = "functions of the file that were recorded, and how many steps entered each";
    let mut section = Section::new("functions", title, columns, shown);
    let all = explained
        .functions
        .iter()
        .flat_map(|record| &record.functions);
    for wanted in [true, false] {
        for function in all.clone().filter(|function| function.entered == wanted) {
            section.row([
                function.entered.into(),
                function.steps.into(),
                text(&function.name),
            ]);
        }
    }
    section
}

/// Each process of the step in the recordings that were given, with the file's kernels it launched.
fn processes(explained: &Explanation, recorded: &Collected, shown: usize) -> Section {
    let columns = &[
        "backend", "job", "file", "pid", "exe", "state", "kernels", "launched",
    ];
    let title = "processes of the step, and the kernels of the file that each launched";
    let mut section = Section::new("processes", title, columns, shown);
    let of_file: BTreeMap<Backend, BTreeSet<&str>> = explained
        .records
        .iter()
        .map(|record| {
            let names = record.kernels.iter().map(|kernel| kernel.name.as_str());
            (record.backend, names.collect())
        })
        .collect();
    let jobs = recorded.jobs().iter();
    for job in jobs.filter(|job| job.step.as_ref() == Some(&explained.step)) {
        for process in &job.processes {
            let wanted = process.backend.and_then(|backend| of_file.get(&backend));
            let names = process
                .names
                .iter()
                .filter_map(|&kernel| recorded.names().get(kernel as usize))
                .filter(|name| wanted.is_some_and(|wanted| wanted.contains(name.as_str())));
            section.row([
                process.backend.map_or(Value::from("unknown"), text),
                text(&job.id),
                text(&process.file),
                process.pid.map_or(Value::from(""), Value::from),
                process.exe.as_ref().map_or(Value::from(""), text),
                text(process.state.word()),
                process.names.len().into(),
                texts(names),
            ]);
        }
    }
    section
}
