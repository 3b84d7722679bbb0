//! `kernrec fold`: recordings to a table of kernels or of functions.

use crate::args::fold::FoldArgs;
use crate::error::CommandError;
use crate::inputs;
use crate::shell::{Form, Shell};
use crate::summary::{Section, Summary, counted, text, texts};
use kernrec_git::Repo;
use kernrec_publish::gates::unreadable_input;
use kernrec_publish::recorded_at::{Sources, recorded_at};
use kernrec_publish::{Delivery, FoldOptions, GateOptions, Maps, delivery, fold, fold_functions};
use kernrec_schemas::exit::Exit;
use kernrec_schemas::table;
use kernrec_store::artifact;

pub(crate) fn run(args: &FoldArgs, shell: &mut Shell) -> Result<Exit, CommandError> {
    let collected = inputs::recordings(&args.input)?;
    let options = options(args)?;
    let delivery = delivery(&collected, &options);
    check_readable(args, &delivery, &options)?;
    let summary = if args.backend.has_kernels() {
        let table = fold(&collected, &options);
        write(args, table.rows.len(), &table.to_canonical(), &delivery)?;
        let mut summary = summary(args, &options, table.rows.len(), &delivery);
        summary.fact("usable", table.usable_rows());
        summary.fact("kernels", table.names.len());
        summary
    } else {
        let table = fold_functions(&collected, &options);
        write(args, table.rows.len(), &table.to_canonical(), &delivery)?;
        let mut summary = summary(args, &options, table.rows.len(), &delivery);
        summary.fact("usable", table.usable_rows());
        summary.fact("functions", table.functions.len());
        summary.fact("libraries", table.libraries.len());
        summary
    };
    let mut summary = summary;
    summary.fact("processes", delivery.processes);
    delivery_facts(&mut summary, &delivery);
    shell.summary(&summary, Form::of_flag(args.json))?;
    Ok(Exit::Done)
}

fn options(args: &FoldArgs) -> Result<FoldOptions, CommandError> {
    let repo = args.repo.as_ref().map(Repo::new);
    let recorded_at = recorded_at(&Sources {
        given: args.input.recorded_at,
        source_date_epoch: inputs::source_date_epoch()?.as_deref(),
        repo: repo.as_ref(),
        commit: &args.commit,
        maps: &Maps::default(),
        backend: args.backend,
    })
    .map_err(inputs::no_time)?;
    Ok(FoldOptions {
        backend: args.backend,
        commit: args.commit.clone(),
        build: args.build,
        org: table::default_org(),
        pipeline: args.pipeline.clone(),
        recorded_at,
        jobs: inputs::jobs(args.input.jobs.as_deref())?,
        map_variants: None,
    })
}

/// The gate of `publish`, which a table that is folded first and published later would pass by.
fn check_readable(
    args: &FoldArgs,
    delivery: &Delivery,
    options: &FoldOptions,
) -> Result<(), CommandError> {
    let permissions = GateOptions {
        allow_unreadable: args.allow_unreadable,
        ..GateOptions::default()
    };
    match unreadable_input(delivery, options.jobs.is_some(), &permissions) {
        None => Ok(()),
        Some(refusal) => Err(CommandError::refused(refusal.word(), refusal.to_string())
            .hint("give --jobs FILE, which says whose they are, or --allow-unreadable")),
    }
}

fn nothing_to_fold(delivery: &Delivery, args: &FoldArgs) -> CommandError {
    let problem = format!(
        "no job of backend `{}` belongs to a step: {} jobs delivered, {} of them without a step",
        args.backend,
        delivery.delivered,
        delivery.unfiled.len(),
    );
    CommandError::refused("nothing-to-fold", problem)
        .hint("check --backend, and that the folder is the one that holds the job folders")
}

fn write(
    args: &FoldArgs,
    rows: usize,
    table: &[u8],
    delivery: &Delivery,
) -> Result<(), CommandError> {
    if rows == 0 {
        return Err(nothing_to_fold(delivery, args));
    }
    Ok(artifact::write(&args.out, table)?)
}

fn summary(args: &FoldArgs, options: &FoldOptions, rows: usize, delivery: &Delivery) -> Summary {
    let title = format!(
        "{} jobs folded into {}",
        delivery.folded,
        counted(rows, "row")
    );
    let mut summary = Summary::new("fold", title);
    summary.fact("out", text(args.out.display()));
    summary.fact("recorded_at", text(options.recorded_at));
    summary.fact("steps", rows);
    summary
}

/// What did not become part of a row, as far as there is any. Shared with `publish`.
pub(super) fn delivery_facts(summary: &mut Summary, delivery: &Delivery) {
    if delivery.foreign > 0 {
        summary.fact("jobs_of_another_commit", delivery.foreign);
    }
    if !delivery.unfiled.is_empty() {
        summary.fact("jobs_without_a_step", texts(&delivery.unfiled));
    }
    if !delivery.missing.is_empty() {
        summary.fact("jobs_that_delivered_nothing", texts(&delivery.missing));
    }
    if !delivery.empty.is_empty() {
        let paths = delivery.empty.iter().map(|path| path.display());
        summary.fact("empty_folders", texts(paths));
    }
    if !delivery.links.is_empty() {
        let paths = delivery.links.iter().map(|path| path.display());
        summary.fact("links_not_followed", texts(paths));
    }
    let columns = &["input", "reason", "problem"];
    let title = "bundles and jobs whose step could not be read";
    let mut unreadable = Section::new("unreadable", title, columns, usize::MAX);
    for one in &delivery.unreadable {
        let path = text(one.path.display());
        unreadable.row([path, text(one.reason), text(&one.message)]);
    }
    summary.section(unreadable);
}
