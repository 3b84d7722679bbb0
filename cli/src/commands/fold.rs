//! `kernrec fold`: recordings to a kernel table.

use crate::args::fold::FoldArgs;
use crate::error::CommandError;
use crate::inputs;
use crate::shell::{Form, Shell};
use crate::summary::{Section, Summary, counted, text, texts};
use kernrec_publish::recorded_at::{Sources, recorded_at};
use kernrec_publish::repo::Repo;
use kernrec_publish::{Collected, Delivery, FoldOptions, Maps, delivery, fold};
use kernrec_schemas::exit::Exit;
use kernrec_schemas::table::{self, KernelTable};
use kernrec_store::artifact;

pub(crate) fn run(args: &FoldArgs, shell: &mut Shell) -> Result<Exit, CommandError> {
    let collected = inputs::recordings(&args.input)?;
    let options = options(args)?;
    check_readable(args, &collected, &options)?;
    let table = fold(&collected, &options);
    let delivery = delivery(&collected, &options);
    if table.rows.is_empty() {
        return Err(nothing_to_fold(&delivery, &options));
    }
    artifact::write(&args.out, &table.to_canonical())?;
    let summary = summary(args, &table, &delivery);
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
    collected: &Collected,
    options: &FoldOptions,
) -> Result<(), CommandError> {
    let Some(first) = collected.unreadable().first() else {
        return Ok(());
    };
    if args.allow_unreadable || options.jobs.is_some() {
        return Ok(());
    }
    let bundles = counted(collected.unreadable().len(), "bundle");
    let problem = format!(
        "{bundles} cannot be read, the first says: {}",
        first.message
    );
    Err(CommandError::refused("unreadable-input", problem)
        .hint("give --jobs FILE, which says whose bundle is missing, or --allow-unreadable"))
}

fn nothing_to_fold(delivery: &Delivery, options: &FoldOptions) -> CommandError {
    let problem = format!(
        "no job of backend `{}` belongs to a step: {} jobs delivered, {} of them without a step",
        options.backend,
        delivery.delivered,
        delivery.unfiled.len(),
    );
    CommandError::refused("nothing-to-fold", problem)
        .hint("check --backend, and that the folder is the one that holds the job folders")
}

fn summary(args: &FoldArgs, table: &KernelTable, delivery: &Delivery) -> Summary {
    let rows = counted(table.rows.len(), "row");
    let title = format!("{} jobs folded into {rows}", delivery.folded);
    let mut summary = Summary::new("fold", title);
    summary.fact("out", text(args.out.display()));
    summary.fact("recorded_at", text(table.source.recorded_at));
    summary.fact("steps", table.rows.len());
    summary.fact("usable", table.usable_rows());
    summary.fact("kernels", table.names.len());
    summary.fact("processes", delivery.processes);
    delivery_facts(&mut summary, delivery);
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
    let columns = &["bundle", "reason", "problem"];
    let title = "bundles that could not be read";
    let mut unreadable = Section::new("unreadable", title, columns, usize::MAX);
    for one in &delivery.unreadable {
        let path = text(one.path.display());
        unreadable.row([path, text(one.reason), text(&one.message)]);
    }
    summary.section(unreadable);
}
