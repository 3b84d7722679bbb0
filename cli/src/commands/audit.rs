//! `kernrec audit`: what each health rule costs, and who is to blame.

use crate::args::audit::AuditArgs;
use crate::document;
use crate::error::CommandError;
use crate::inputs;
use crate::shell::{Form, Shell};
use crate::summary::{Section, Summary, text};
use kernrec_publish::collect::Job;
use kernrec_publish::{
    Audit, Collected, FoldOptions, Inputs, Table, audit, audit_function_table, audit_table, collect,
};
use kernrec_schemas::exit::Exit;
use kernrec_schemas::{Backend, BuildNumber, Commit, Pipeline, Timestamp, table};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

pub(crate) fn run(args: &AuditArgs, shell: &mut Shell) -> Result<Exit, CommandError> {
    let summaries = match source(args)? {
        Source::Table => {
            let table = document::table(&args.input)?;
            let audit = match &table {
                Table::Kernels(table) => audit_table(table),
                Table::Functions(table) => audit_function_table(table),
            };
            vec![summary(None, &audit, args.rows)]
        }
        Source::Recordings(inputs) => of_recordings(args, &collect(&inputs)?)?,
    };
    if args.json {
        let documents: Vec<Value> = summaries.iter().map(Summary::to_json).collect();
        shell.json(&documents)?;
        return Ok(Exit::Done);
    }
    for summary in &summaries {
        shell.summary(summary, Form::Text)?;
    }
    Ok(Exit::Done)
}

enum Source {
    Table,
    Recordings(Inputs),
}

fn source(args: &AuditArgs) -> Result<Source, CommandError> {
    let mut inputs = Inputs::default();
    if args.input.is_dir() {
        inputs.recordings.push(args.input.clone());
    } else if document::is_bundle(&args.input)? {
        inputs.bundles.push(args.input.clone());
    } else {
        return Ok(Source::Table);
    }
    Ok(Source::Recordings(inputs))
}

fn of_recordings(args: &AuditArgs, collected: &Collected) -> Result<Vec<Summary>, CommandError> {
    let none = collected.jobs().is_empty() && collected.python_jobs().is_empty();
    if none && collected.unreadable().is_empty() {
        let problem = format!("`{}` holds no recordings", args.input.display());
        return Err(CommandError::failed("no-job-folder", problem));
    }
    let mut summaries = Vec::new();
    for backend in Backend::ALL {
        let options = options(args, collected, backend)?;
        let audit = audit(collected, &options);
        if audit.rows > 0 {
            let mut summary = summary(Some(backend), &audit, args.rows);
            summary.section(unreadable(collected, args.rows));
            summaries.push(summary);
        }
    }
    if summaries.is_empty() {
        let problem = format!("no job in `{}` belongs to a step", args.input.display());
        return Err(CommandError::failed("nothing-to-fold", problem));
    }
    Ok(summaries)
}

fn options(
    args: &AuditArgs,
    collected: &Collected,
    backend: Backend,
) -> Result<FoldOptions, CommandError> {
    let invalid = |error| CommandError::failed("invalid-text", error);
    let commit = match args
        .commit
        .clone()
        .or_else(|| usual_commit(collected.jobs_of(backend)))
    {
        Some(commit) => commit,
        // No job recorded one: each of their rows is called to account for that by name.
        None => Commit::new("unknown").map_err(invalid)?,
    };
    Ok(FoldOptions {
        backend,
        commit,
        // Neither build nor time decides about health.
        build: BuildNumber(0),
        org: table::default_org(),
        pipeline: Pipeline::new(table::default_pipeline()).map_err(invalid)?,
        recorded_at: Timestamp::now(),
        jobs: inputs::jobs(args.jobs.as_deref())?,
        map_variants: None,
    })
}

/// The commit most jobs recorded.
fn usual_commit(jobs: &[Job]) -> Option<Commit> {
    let mut counts: BTreeMap<&Commit, usize> = BTreeMap::new();
    for commit in jobs.iter().filter_map(Job::commit) {
        *counts.entry(commit).or_default() += 1;
    }
    let most = counts.into_iter().max_by_key(|&(_, count)| count);
    most.map(|(commit, _)| commit.clone())
}

fn summary(backend: Option<Backend>, audit: &Audit, shown: usize) -> Summary {
    let title = match backend {
        Some(backend) => format!("audit of {backend}"),
        None => "audit".to_owned(),
    };
    let mut summary = Summary::new("audit", title);
    summary.fact_if("backend", backend.map(text));
    summary.fact("rows", audit.rows);
    summary.fact("usable", audit.usable_rows);
    let states: Map<String, Value> = audit
        .processes
        .iter()
        .map(|(state, count)| (state.word().to_owned(), count.into()))
        .collect();
    if !states.is_empty() {
        summary.fact("processes", states);
    }
    let title = "what each rule costs (alone: rows that would be usable without it)";
    let columns = &["reason", "rows", "alone"];
    let mut rules = Section::new("rules", title, columns, usize::MAX);
    for rule in &audit.rules {
        rules.row([text(&rule.reason), rule.rows.into(), rule.alone.into()]);
    }
    summary.section(rules);
    summary.section(blame(audit, shown));
    summary
}

fn blame(audit: &Audit, shown: usize) -> Section {
    let columns = &["step", "reason", "job", "file", "pid", "exe", "detail"];
    let mut section = Section::new("blame", "who is to blame", columns, shown);
    for blame in &audit.blame {
        let optional = |value: Option<&String>| value.map_or(Value::from(""), text);
        section.row([
            text(&blame.step),
            text(&blame.reason),
            blame.job.as_ref().map_or(Value::from(""), text),
            optional(blame.file.as_ref()),
            blame.pid.map_or(Value::from(""), Value::from),
            optional(blame.exe.as_ref()),
            optional(blame.detail.as_ref()),
        ]);
    }
    section
}

fn unreadable(collected: &Collected, shown: usize) -> Section {
    let title = "bundles that could not be read: nobody knows whose they are";
    let columns = &["bundle", "reason", "problem"];
    let mut section = Section::new("unreadable", title, columns, shown);
    for one in collected.unreadable() {
        let path = text(one.path.display());
        section.row([path, text(one.reason), text(&one.message)]);
    }
    section
}
