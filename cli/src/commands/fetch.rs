//! `kernrec fetch`: the newest good record, into a local folder.

use crate::args::fetch::{BackendsArg, FetchArgs};
use crate::environment;
use crate::error::CommandError;
use crate::network;
use crate::progress;
use crate::shell::{Form, Shell};
use crate::signing;
use crate::summary::{Summary, text};
use kernrec_fetch::{
    Age, BackendReport, Backends, Choice, DEFAULT_LOCK_WAIT, FetchOptions, FetchReport, Source,
    Status, fetch,
};
use kernrec_schemas::exit::Exit;
use kernrec_store::{Access, OpenError, Store, open_with};
use std::time::Duration;

/// A job that waits longer than this for its record had better run everything.
const LIMIT: Duration = Duration::from_mins(10);

pub(crate) fn run(args: FetchArgs, shell: &mut Shell) -> Result<Exit, CommandError> {
    let form = Form::of_flag(args.json);
    let url = url(&args)?;
    let reporter = progress::reporter()?;
    let limit = network::limit(&args.network)?.unwrap_or(LIMIT);
    let remote = network::reading(&args.network, Some(limit))?;
    let options = FetchOptions {
        require_keys: signing::required(&args.signing)?,
        lock_wait: DEFAULT_LOCK_WAIT.min(limit),
        ..options(args)
    };
    let store = url
        .as_deref()
        .map(|url| open_with(url, Access::Read, &remote));
    let source = source(url.as_deref(), store.as_ref())?;
    let report = fetch(source, &options, reporter.as_ref());
    // The bars are gone before anything is said.
    drop(reporter);
    if form == Form::Json {
        shell.json(&report)?;
    }
    say(&report, form, shell)?;
    Ok(report.exit)
}

/// The store; `None` offline.
fn url(args: &FetchArgs) -> Result<Option<String>, CommandError> {
    if args.offline {
        return Ok(None);
    }
    if let Some(url) = &args.url {
        return Ok(Some(url.clone()));
    }
    match environment::RECORD_URL.read()? {
        Some(url) => Ok(Some(url)),
        None => Err(CommandError::usage(format!(
            "no store: give --url, or set `{}`",
            environment::RECORD_URL.name
        ))),
    }
}

fn options(args: FetchArgs) -> FetchOptions {
    let choice = match (args.commit, args.ancestor_of, args.repo) {
        (Some(commit), _, _) => Choice::Commit(commit),
        (None, Some(revision), Some(repository)) => Choice::AncestorOf {
            revision,
            repository,
        },
        (None, _, _) => Choice::Newest,
    };
    FetchOptions {
        pipeline: args.pipeline,
        backends: match args.backend {
            BackendsArg::All => Backends::All,
            BackendsArg::One(backend) => Backends::Listed(vec![backend]),
        },
        layout: args.layout.into(),
        choice,
        max_age: args.max_age,
        upstream_names: args.upstream_names,
        ..FetchOptions::new(args.out)
    }
}

/// A URL that can never be opened is a usage error; a store that is not there today is a failed fetch, whose
/// report says what is still installed.
fn source<'a>(
    url: Option<&'a str>,
    store: Option<&'a Result<Box<dyn Store>, OpenError>>,
) -> Result<Source<'a>, CommandError> {
    match (url, store) {
        (_, Some(Ok(store))) => Ok(Source::Store(store.as_ref())),
        (Some(url), Some(Err(error @ OpenError::Store(_)))) => Ok(Source::Unopened { url, error }),
        (_, Some(Err(error))) => Err(CommandError::unopenable(error)),
        (_, None) => Ok(Source::Offline),
    }
}

/// Text reports go to stdout; what went wrong goes to stderr in either form.
fn say(report: &FetchReport, form: Form, shell: &mut Shell) -> Result<(), CommandError> {
    for one in &report.backends {
        if form == Form::Text {
            shell.summary(&summary(one), form)?;
        }
        problems(one, report, shell);
    }
    let unpublished = |one: &BackendReport| one.status == Status::NotPublished;
    if report.exit != Exit::Done && report.backends.iter().any(unpublished) {
        shell.note("hint: check --pipeline, and that the collector publishes to this store");
    }
    Ok(())
}

fn problems(report: &BackendReport, whole: &FetchReport, shell: &mut Shell) {
    let backend = report.backend;
    // With `--backend all` a backend that nobody publishes is no error while another is there.
    let level = if report.status.exit() == Exit::Done || whole.exit == Exit::Done {
        "note"
    } else {
        "error"
    };
    if let Some(damage) = &report.damage {
        let (reason, message) = (damage.reason, &damage.message);
        shell.note(format_args!("note: {backend}: {reason}: {message}"));
    }
    let Some(failure) = &report.failure else {
        return;
    };
    let (reason, message) = (failure.reason, &failure.message);
    shell.note(format_args!("{level}: {backend}: {reason}: {message}"));
    if level == "note" {
        return;
    }
    if report.pair.is_some() {
        let age = report.pair.as_ref().and_then(|pair| pair.age_seconds);
        let published = age.map_or_else(String::new, |age| format!(", published {} ago", Age(age)));
        shell.note(format_args!(
            "hint: {backend}: the record that was installed is still in place{published}"
        ));
    }
}

fn summary(report: &BackendReport) -> Summary {
    let title = format!("{}: {}", report.backend, report.status.as_str());
    let mut summary = Summary::new("fetch", title);
    let Some(pair) = &report.pair else {
        return summary;
    };
    summary.fact("pipeline", text(&pair.pipeline));
    summary.fact("commit", text(&pair.commit));
    summary.fact("build", pair.build.0);
    summary.fact("recorded_at", text(pair.recorded_at));
    summary.fact("published_at", pair.published_at.map(text));
    summary.fact("age", pair.age_seconds.map(|seconds| text(Age(seconds))));
    summary.fact("steps", pair.counts.rows);
    summary.fact("usable", pair.counts.usable_rows);
    summary.fact("folder", text(pair.folder.display()));
    summary.fact_if("signed_by", pair.signed_by.as_ref().map(text));
    summary.fact_if("revoked_at", pair.revoked.map(text));
    summary.fact("bytes_received", report.bytes_received);
    summary
}
