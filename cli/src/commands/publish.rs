//! `kernrec publish`: fold, check, store, move the pointer.

use super::fold::delivery_facts;
use crate::args::layout::WriteLayout;
use crate::args::publish::{BundlesArg, PublishArgs};
use crate::branch;
use crate::document;
use crate::environment;
use crate::error::CommandError;
use crate::inputs;
use crate::network;
use crate::shell::{Form, Shell};
use crate::signing;
use crate::summary::{Summary, text, texts};
use kernrec_publish::publishing::SkippedBranch;
use kernrec_publish::{
    BatchReport, BatchRequest, BundlePolicy, Collected, Evidence, GateOptions, Maps, Outcome,
    PublishReport, Refusal, Table, publish_all,
};
use kernrec_schemas::exit::Exit;
use kernrec_schemas::table;
use kernrec_schemas::{BuildNumber, Commit};
use kernrec_store::{Access, open_with};

pub(crate) fn run(args: PublishArgs, shell: &mut Shell) -> Result<Exit, CommandError> {
    let options = Options::new(args)?;
    let report = match &options.skipped {
        Some(branch) => BatchReport::skipped(branch.clone()),
        None => publish(&options, shell)?,
    };
    if let Form::Json = options.form {
        shell.json(&report)?;
    }
    say(&report, options.form, shell)?;
    Ok(report.exit())
}

/// The arguments, completed from the environment.
struct Options {
    args: PublishArgs,
    form: Form,
    commit: Commit,
    build: BuildNumber,
    source_date_epoch: Option<String>,
    skipped: Option<SkippedBranch>,
}

impl Options {
    fn new(args: PublishArgs) -> Result<Self, CommandError> {
        if args.replace_unnamed && matches!(args.layout, WriteLayout::Native) {
            let problem =
                "--replace-unnamed is for --layout upstream: in ours nothing can be in the way";
            return Err(CommandError::usage(problem));
        }
        let missing = |flag: &str, variable: environment::Variable| {
            let variable = variable.name;
            CommandError::usage(format!("no {flag}: give it, or set `{variable}`"))
        };
        let commit = match args.commit.clone() {
            Some(commit) => commit,
            None => (environment::COMMIT.parse()?)
                .ok_or_else(|| missing("--commit", environment::COMMIT))?,
        };
        let build = match args.build {
            Some(build) => build,
            None => (environment::BUILD.parse()?)
                .ok_or_else(|| missing("--build", environment::BUILD))?,
        };
        let branch = branch::built(args.branch.as_deref())?;
        Ok(Self {
            form: Form::of_flag(args.json),
            skipped: SkippedBranch::check(args.only_branch.as_deref(), branch.as_deref()),
            source_date_epoch: inputs::source_date_epoch()?,
            commit,
            build,
            args,
        })
    }

    fn gates(&self) -> GateOptions {
        GateOptions {
            expected_jobs: self.args.expected_jobs,
            min_delivered: self.args.min_delivered,
            allow_shrink: self.args.allow_shrink,
            allow_unreadable: self.args.allow_unreadable,
        }
    }
}

fn publish(options: &Options, shell: &mut Shell) -> Result<BatchReport, CommandError> {
    let args = &options.args;
    let signing = signing::writing(&args.signing, shell)?;
    let jobs = inputs::jobs(args.input.jobs.as_deref())?;
    // Each is one large file or thousands of small ones, and they have nothing to do with each other.
    let (maps, loaded) = rayon::join(|| Maps::load(&args.symbol_map), || Loaded::new(args));
    let (maps, loaded) = (maps?, loaded?);
    if args.symbol_map.is_empty() && args.backend.is_empty() && !loaded.has_functions() {
        let problem = "no --symbol-map: without one only functions of Python could be published, and none were recorded";
        return Err(CommandError::usage(problem));
    }
    // Last, because it creates a store that is not there yet.
    let access = if args.dry_run {
        Access::Read
    } else {
        Access::Write
    };
    let store = open_with(&args.store, access, &network::writing(&args.network)?)?;
    Ok(publish_all(
        store.as_ref(),
        &BatchRequest {
            backends: args.backend.clone(),
            pipeline: args.pipeline.clone(),
            commit: options.commit.clone(),
            build: options.build,
            org: table::default_org(),
            recorded_at: args.input.recorded_at,
            source_date_epoch: options.source_date_epoch.clone(),
            evidence: loaded.evidence(),
            maps: &maps,
            jobs: jobs.as_ref(),
            gates: options.gates(),
            repo: args.repo.clone(),
            layout: args.layout.into(),
            replace_unnamed: args.replace_unnamed,
            bundles: match args.bundles {
                BundlesArg::Store => BundlePolicy::Store,
                BundlesArg::None => BundlePolicy::None,
            },
            signing,
            dry_run: args.dry_run,
        },
    ))
}

enum Loaded {
    Table(Box<Table>),
    Recordings(Collected),
}

impl Loaded {
    fn new(args: &PublishArgs) -> Result<Self, CommandError> {
        Ok(match &args.table {
            Some(path) => Self::Table(Box::new(document::table(path)?)),
            None => Self::Recordings(inputs::recordings(&args.input)?),
        })
    }

    fn has_functions(&self) -> bool {
        match self {
            Self::Table(table) => matches!(**table, Table::Functions(_)),
            Self::Recordings(collected) => !collected.python_jobs().is_empty(),
        }
    }

    fn evidence(&self) -> Evidence<'_> {
        match self {
            Self::Table(table) => Evidence::Table(table),
            Self::Recordings(collected) => Evidence::Recordings(collected),
        }
    }
}

/// Text reports go to stdout; what went wrong goes to stderr in either form.
fn say(report: &BatchReport, form: Form, shell: &mut Shell) -> Result<(), CommandError> {
    if let Some(skipped) = &report.skipped {
        let branch = skipped.branch.as_deref().unwrap_or("unknown");
        shell.note(format_args!(
            "nothing published: the branch is `{branch}`, and only `{}` publishes",
            skipped.only_branch
        ));
    }
    for one in &report.reports {
        if form == Form::Text {
            shell.summary(&summary(one), form)?;
        }
        problems(one, shell);
    }
    for map in &report.unused_maps {
        let path = map.path.display();
        match &map.problem {
            Some(problem) => shell.note(format_args!("error: map-refused: `{path}`: {problem}")),
            None => shell.note(format_args!(
                "note: `{path}` was not used: its backend was not asked for"
            )),
        }
    }
    for backend in &report.backends_without_map {
        shell.note(format_args!(
            "note: there are recordings of `{backend}`, which is not published: it has no symbol map"
        ));
    }
    Ok(())
}

pub(super) fn problems(report: &PublishReport, shell: &mut Shell) {
    let backend = report.backend;
    for refusal in &report.refusals {
        shell.note(format_args!(
            "error: {backend}: {}: {refusal}",
            refusal.word()
        ));
    }
    let unsigned = |refusal: &Refusal| matches!(refusal, Refusal::SignatureMissing { .. });
    if report.refusals.iter().any(unsigned) {
        shell
            .note("hint: when signing begins, --adopt-unsigned takes over what stands there, once");
    }
    for job in &report.without_bundle {
        let (reason, message) = (job.reason, &job.message);
        let path = job.path.display();
        shell.note(format_args!(
            "note: {backend}: {reason}: no bundle of `{path}` is stored: {message}"
        ));
    }
    if let Some(superseded) = &report.superseded {
        shell.note(format_args!("error: {backend}: superseded: {superseded}"));
    }
    if let Some(failure) = &report.failure {
        let (reason, message) = (failure.reason, &failure.message);
        shell.note(format_args!("error: {backend}: {reason}: {message}"));
    }
    let failed_for = |reason| report.failure.as_ref().is_some_and(|f| f.reason == reason);
    if failed_for("no-conditional-writes") {
        shell.note("hint: if only one publisher at a time ever runs, --unsafe-no-cas accepts this");
    }
    if report.outcome == Outcome::Unknown {
        shell.note(
            "hint: publish again: it finds out which record is current, and nothing was deleted",
        );
    }
}

pub(super) fn summary(report: &PublishReport) -> Summary {
    let outcome = match (report.outcome, report.dry_run) {
        (Outcome::Published, true) => "would be published",
        (outcome, _) => outcome.word(),
    };
    let mut summary = Summary::new("publish", format!("{}: {outcome}", report.backend));
    summary.fact("pipeline", text(&report.pipeline));
    summary.fact("commit", text(&report.commit));
    summary.fact("build", report.build.0);
    summary.fact_if("recorded_at", report.recorded_at.map(text));
    if let Some(counts) = report.counts {
        summary.fact("steps", counts.rows);
        summary.fact("usable", counts.usable_rows);
        if report.backend.has_kernels() {
            summary.fact("kernels", counts.kernels);
            let joined = format!("{} of {} in the map", counts.joined, counts.symbols);
            summary.fact("joined", joined);
        } else {
            summary.fact("functions", counts.functions);
        }
    }
    if let Some(delivery) = &report.delivery {
        summary.fact("jobs", delivery.folded);
        summary.fact("processes", delivery.processes);
        delivery_facts(&mut summary, delivery);
    }
    if !report.faulty_rows.is_empty() {
        summary.fact("rows_set_aside", texts(&report.faulty_rows));
    }
    summary.fact_if("manifest", report.manifest.map(text));
    summary.fact("bundles", report.bundles);
    if !report.without_bundle.is_empty() {
        let told = report.without_bundle.iter().map(|one| &one.message);
        summary.fact("jobs_without_a_bundle", texts(told));
    }
    summary.fact_if(
        "generation",
        report.generation.map(|generation| generation.0),
    );
    summary.fact_if("signed_by", report.signed_by.as_ref().map(text));
    summary
}
