//! `kernrec collect`: wait for armed steps, download what they left, publish it.

use super::publish::{problems, summary};
use crate::args::collect::{CiArg, CollectArgs};
use crate::args::layout::WriteLayout;
use crate::args::publish::BundlesArg;
use crate::branch;
use crate::environment::{self, Variable};
use crate::error::{CommandError, chain};
use crate::inputs;
use crate::network;
use crate::shell::{Form, Shell};
use crate::signing;
use kernrec_collect::{
    ANNOTATION, Access as ApiAccess, AccessError, Buildkite, Ci, CollectReport, GitHub, Obstacle,
    Patience, Progress, Request, WaitOptions, WorkplaceError, collect,
};
use kernrec_git::Repo;
use kernrec_publish::publishing::SkippedBranch;
use kernrec_publish::recorded_at::{Sources, recorded_at};
use kernrec_publish::{BundlePolicy, GateOptions, Maps};
use kernrec_schemas::exit::Exit;
use kernrec_schemas::{Commit, Timestamp};
use kernrec_store::{Access, OpenError, Store, open_with};
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Where GitHub's own API is.
const GITHUB_API: &str = "https://api.github.com";

pub(crate) fn run(args: &CollectArgs, shell: &mut Shell) -> Result<Exit, CommandError> {
    check_functions(args)?;
    let form = Form::of_flag(args.json);
    let ci = ci(args)?;
    let request = request(args, shell)?;
    if request.skipped.is_none() {
        check_store(args)?;
    }
    let open = || open_store(args);
    let report = {
        let shell = RefCell::new(&mut *shell);
        let progress = |progress| shell.borrow_mut().note(said(progress));
        collect(ci.as_ref(), &request, &open, &progress)?
    };
    if form == Form::Json {
        shell.json(&report)?;
    }
    say(args, &report, form, shell)?;
    Ok(report.outcome.exit())
}

/// What functions have no place for is said before the waiting.
fn check_functions(args: &CollectArgs) -> Result<(), CommandError> {
    if args.backend.has_kernels() {
        return Ok(());
    }
    let problem = match (args.map_step.is_empty(), args.layout) {
        (true, WriteLayout::Native) => return Ok(()),
        (false, _) => "--map-step: functions have no symbol map",
        (true, WriteLayout::Upstream) => "--layout upstream: it has no place for functions",
    };
    let problem = format!("--backend {}: {problem}", args.backend);
    Err(CommandError::usage(problem))
}

/// The time of a record. No symbol map tells that of functions, so theirs is the commit's, in the clone that the
/// collector runs in if no other is given.
fn time(
    args: &CollectArgs,
    source_date_epoch: Option<&str>,
    commit: &Commit,
) -> Result<Option<Timestamp>, CommandError> {
    if args.backend.has_kernels() {
        return Ok(args.recorded_at);
    }
    let repo = Repo::new(args.repo.as_deref().unwrap_or(Path::new(".")));
    recorded_at(&Sources {
        given: args.recorded_at,
        source_date_epoch,
        repo: Some(&repo),
        commit,
        maps: &Maps::default(),
        backend: args.backend,
    })
    .map(Some)
    .map_err(|error| {
        inputs::no_time(error)
            .hint("give --recorded-at, or --repo with a clone that has the commit")
    })
}

fn request(args: &CollectArgs, shell: &mut Shell) -> Result<Request, CommandError> {
    let branch = branch::built(args.branch.as_deref())?;
    let variables = [environment::COMMIT, environment::SHA];
    let commit = given(args.commit.clone(), "--commit", variables)?;
    let variables = [environment::BUILD, environment::RUN_NUMBER];
    let build = given(args.build, "--build", variables)?;
    let source_date_epoch = inputs::source_date_epoch()?;
    let recorded_at = time(args, source_date_epoch.as_deref(), &commit)?;
    Ok(Request {
        backend: args.backend,
        pipeline: args.pipeline.clone(),
        commit,
        build,
        skipped: SkippedBranch::check(args.only_branch.as_deref(), branch.as_deref()),
        source_build: args.source_build.clone(),
        steps: args.step.clone(),
        map_steps: args.map_step.clone(),
        wait: WaitOptions {
            deadline: args.deadline,
            longest_pause: args.poll,
        },
        out: args.out.clone(),
        recorded_at,
        source_date_epoch,
        gates: GateOptions {
            expected_jobs: None,
            min_delivered: args.min_delivered,
            allow_shrink: args.allow_shrink,
            allow_unreadable: args.allow_unreadable,
        },
        repo: args.repo.clone(),
        layout: args.layout.into(),
        bundles: match args.bundles {
            BundlesArg::Store => BundlePolicy::Store,
            BundlesArg::None => BundlePolicy::None,
        },
        signing: signing::writing(&args.signing, shell)?,
        dry_run: args.dry_run,
    })
}

/// What was given, or what the first variable that is set says.
fn given<T>(flag: Option<T>, name: &str, variables: [Variable; 2]) -> Result<T, CommandError>
where
    T: FromStr<Err: std::fmt::Display>,
{
    if let Some(value) = flag {
        return Ok(value);
    }
    for variable in variables {
        if let Some(value) = variable.parse()? {
            return Ok(value);
        }
    }
    let [one, other] = variables.map(|variable| variable.name);
    let problem = format!("no {name}: give it, or set `{one}` or `{other}`");
    Err(CommandError::usage(problem))
}

fn ci(args: &CollectArgs) -> Result<Box<dyn Ci>, CommandError> {
    let system = match args.ci {
        Some(system) => system,
        None if is_true(environment::BUILDKITE)? => CiArg::Buildkite,
        None if is_true(environment::GITHUB_ACTIONS)? => CiArg::Github,
        None => {
            let problem = "no --ci, and this is neither a job of Buildkite nor of GitHub Actions";
            return Err(CommandError::usage(problem));
        }
    };
    let patience = Patience {
        retries: args.network.remote.retries,
        longest_pause: args.poll,
    };
    Ok(match system {
        CiArg::Buildkite => Box::new(Buildkite {
            build: args.source_build.clone(),
            patience,
        }),
        CiArg::Github => Box::new(github(args, patience)?),
    })
}

fn is_true(variable: Variable) -> Result<bool, CommandError> {
    Ok(variable.read()?.is_some_and(|value| value == "true"))
}

fn github(args: &CollectArgs, patience: Patience) -> Result<GitHub, CommandError> {
    let set = |variable: Variable| {
        let missing = || CommandError::usage(format!("`{}` is not set", variable.name));
        variable.read()?.ok_or_else(missing)
    };
    let access = ApiAccess {
        url: environment::GITHUB_API_URL
            .read()?
            .unwrap_or_else(|| GITHUB_API.to_owned()),
        repository: set(environment::GITHUB_REPOSITORY)?,
        token: environment::GITHUB_TOKEN.read()?,
        allow_http: args.network.remote.allow_http,
        http: network::reading(&args.network.remote, None)?.http,
    };
    let run = match &args.source_build {
        Some(run) => run.clone(),
        None => set(environment::GITHUB_RUN_ID)?,
    };
    let summary = environment::STEP_SUMMARY.read()?.map(PathBuf::from);
    let is_own = args.source_build.is_none();
    Ok(GitHub::new(access, &run, is_own, summary, patience)?)
}

/// A store that no try would open is known before the waiting, not hours later.
fn check_store(args: &CollectArgs) -> Result<(), CommandError> {
    match open_with(&args.store, Access::Read, &network::writing(&args.network)?) {
        Ok(_) | Err(OpenError::Store(_)) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn open_store(args: &CollectArgs) -> Result<Box<dyn Store>, Obstacle> {
    let access = if args.dry_run {
        Access::Read
    } else {
        Access::Write
    };
    let failed = |reason, message| Obstacle {
        reason,
        message,
        refuses: false,
    };
    let options =
        network::writing(&args.network).map_err(|error| failed("usage", error.message()))?;
    open_with(&args.store, access, &options).map_err(|error| match error {
        OpenError::Store(error) => failed(error.reason(), chain(&error)),
        other => failed("usage", chain(&other)),
    })
}

fn said(progress: Progress) -> String {
    match progress {
        Progress::Waiting(1) => "waiting for 1 step".to_owned(),
        Progress::Waiting(0) => "every step is over".to_owned(),
        Progress::Waiting(steps) => format!("waiting for {steps} steps"),
        Progress::Gathering => "downloading".to_owned(),
        Progress::Publishing => "folding".to_owned(),
    }
}

fn say(
    args: &CollectArgs,
    report: &CollectReport,
    form: Form,
    shell: &mut Shell,
) -> Result<(), CommandError> {
    for step in report.waited.late() {
        let (step, state) = (&step.step, &step.state);
        shell.note(format_args!(
            "note: `{step}` was not over at the deadline: {state}"
        ));
    }
    for short in &report.short {
        let (step, delivered, expected) = (&short.step, short.delivered, short.expected);
        shell.note(format_args!(
            "note: `{step}`: {delivered} of {expected} jobs delivered"
        ));
    }
    for lost in &report.lost {
        let (reason, what, message) = (lost.reason.word(), &lost.what, &lost.message);
        shell.note(format_args!(
            "note: {reason}: `{what}` did not arrive: {message}"
        ));
    }
    for obstacle in &report.obstacles {
        let (reason, message) = (obstacle.reason, &obstacle.message);
        shell.note(format_args!("error: {reason}: {message}"));
    }
    if let Some(skipped) = &report.skipped {
        let branch = skipped.branch.as_deref().unwrap_or("unknown");
        shell.note(format_args!(
            "nothing published: the branch is `{branch}`, and only `{}` publishes",
            skipped.only_branch
        ));
    }
    if let Some(publish) = &report.publish {
        if form == Form::Text {
            shell.summary(&summary(publish), form)?;
        }
        problems(publish, shell);
    } else if form == Form::Text {
        let (backend, outcome) = (report.backend, report.outcome.word());
        shell.line(format_args!("{backend}: {outcome}"))?;
    }
    for problem in &report.announcing {
        shell.note(format_args!("note: not shown: {problem}"));
    }
    let annotation = args.out.join(ANNOTATION);
    shell.note(format_args!("the report is in `{}`", annotation.display()));
    Ok(())
}

impl From<WorkplaceError> for CommandError {
    fn from(error: WorkplaceError) -> Self {
        Self::failed(error.reason(), error)
    }
}

impl From<AccessError> for CommandError {
    fn from(error: AccessError) -> Self {
        match error {
            AccessError::Setup(_) => Self::failed(error.reason(), error),
            _ => Self::usage(error),
        }
    }
}
