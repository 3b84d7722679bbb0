//! `kernrec symbol-map`: the objects of a build to a symbol map.
//!
//! Runs inside image builds, which it must not fail: whatever is wrong with the build stands in the map, and only
//! `--strict` makes it an exit status.

use crate::args::symbol_map::SymbolMapArgs;
use crate::environment;
use crate::error::{CommandError, chain};
use crate::inputs;
use crate::shell::{Form, Shell};
use crate::summary::{Section, Summary, counted, text, texts};
use kernrec_git::Repo;
use kernrec_publish::recorded_at::stated;
use kernrec_schemas::exit::Exit;
use kernrec_schemas::symbol_map::SymbolMap;
use kernrec_schemas::{Commit, Timestamp};
use kernrec_store::artifact;
use kernrec_symbols::{BuildOptions, Labels, NO_SOURCES, ObjectsOptions, map_build, map_objects};

/// A tree that changed after its build has an error for every object.
const SHOWN_ERRORS: usize = 20;

pub(crate) fn run(args: &SymbolMapArgs, shell: &mut Shell) -> Result<Exit, CommandError> {
    let map = map(args, labels(args, shell)?);
    artifact::write(&args.out, &map.to_canonical())?;
    shell.summary(&summary(args, &map), Form::of_flag(args.json))?;
    say_errors(&map, shell);
    if let Some(problem) = problem(&map) {
        shell.note(problem);
    }
    let wrong = map.reason.is_some() || !map.errors.is_empty();
    Ok(if args.strict && wrong {
        Exit::Refused
    } else {
        Exit::Done
    })
}

fn map(args: &SymbolMapArgs, labels: Labels) -> SymbolMap {
    match &args.source_root {
        None => map_objects(&ObjectsOptions {
            labels,
            objects: args.objects.clone(),
        }),
        Some(source_root) => map_build(&BuildOptions {
            labels,
            build_roots: args.build_root.clone(),
            source_root: source_root.clone(),
            partial: args.partial,
        }),
    }
}

fn labels(args: &SymbolMapArgs, shell: &mut Shell) -> Result<Labels, CommandError> {
    let commit = match args.commit.clone() {
        Some(commit) => Some(commit),
        None => said(environment::COMMIT.parse(), args.strict, shell)?,
    };
    Ok(Labels {
        backend: args.backend,
        generated_at: time(args, commit.as_ref(), shell)?,
        commit,
        variant: args.variant.clone(),
    })
}

/// What a variable of the build says. Without `--strict`, what it says wrongly counts as unsaid.
fn said<T>(
    said: Result<Option<T>, CommandError>,
    strict: bool,
    shell: &mut Shell,
) -> Result<Option<T>, CommandError> {
    match said {
        Err(error) if !strict => {
            shell.note(format_args!("note: {}", error.message()));
            Ok(None)
        }
        said => said,
    }
}

/// The time the map speaks of. A map without one is as good; a clone that does not know it fails nothing.
fn time(
    args: &SymbolMapArgs,
    commit: Option<&Commit>,
    shell: &mut Shell,
) -> Result<Option<Timestamp>, CommandError> {
    let epoch = inputs::source_date_epoch()
        .and_then(|epoch| stated(args.recorded_at, epoch.as_deref()).map_err(inputs::no_time));
    let stated = said(epoch, args.strict, shell)?;
    let (None, Some(repo), Some(commit)) = (stated, &args.repo, commit) else {
        return Ok(stated);
    };
    Ok(match Repo::new(repo).commit_time(commit) {
        Ok(time) => Some(time),
        Err(error) => {
            let reason = error.reason();
            let error = chain(&error);
            shell.note(format_args!("note: {reason}: the map has no time: {error}"));
            None
        }
    })
}

fn summary(args: &SymbolMapArgs, map: &SymbolMap) -> Summary {
    let kernels = counted(
        usize::try_from(map.distinct_symbols()).unwrap_or(usize::MAX),
        "kernel",
    );
    let objects = counted(map.objects.len(), "object");
    let mut summary = Summary::new("symbol-map", format!("{kernels} in {objects}"));
    summary.fact("out", text(args.out.display()));
    summary.fact("backend", text(map.backend));
    summary.fact_if("commit", map.commit.as_ref().map(text));
    if !map.variant.is_default() {
        summary.fact("variant", text(&map.variant));
    }
    summary.fact_if("generated_at", map.generated_at.map(text));
    if !map.build_dirs.is_empty() {
        summary.fact("build_dirs", texts(&map.build_dirs));
    }
    let device = map.objects.iter().filter(|object| object.device).count();
    summary.fact("objects", map.objects.len());
    summary.fact("device_objects", device);
    summary.fact("symbols", map.distinct_symbols());
    summary.fact("incomplete", map.incomplete);
    summary.fact_if("reason", map.reason.as_deref().map(text));
    let columns = &["object", "source", "error"];
    // In the text form they stand on stderr, uncut: the build's log is where they are looked for.
    let mut errors = Section::new("errors", "what could not be mapped", columns, 0);
    for one in &map.errors {
        let name = |name: &Option<String>| name.as_ref().map_or_else(|| text(""), text);
        errors.row([name(&one.object), name(&one.source), text(&one.error)]);
    }
    summary.section(errors);
    summary
}

fn say_errors(map: &SymbolMap, shell: &mut Shell) {
    for one in map.errors.iter().take(SHOWN_ERRORS) {
        match &one.object {
            Some(object) => shell.note(format_args!("error: `{object}`: {}", one.error)),
            None => shell.note(format_args!("error: {}", one.error)),
        }
    }
    let more = map.errors.len().saturating_sub(SHOWN_ERRORS);
    if more > 0 {
        shell.note(format_args!("… and {more} more, which are in the map"));
    }
}

/// What a reader of the build's log has to know, if anything.
fn problem(map: &SymbolMap) -> Option<String> {
    match map.reason.as_deref() {
        Some(NO_SOURCES) => Some(format!(
            "note: {NO_SOURCES}: the map can be shown, and not published"
        )),
        Some(reason) => Some(format!(
            "warning: {reason}: the map is empty, and no record can be published with it"
        )),
        None if map.incomplete => {
            Some("warning: the map is incomplete: with it, no step can be skipped".to_owned())
        }
        None if !map.errors.is_empty() => Some(format!(
            "warning: {} could not be mapped: no step can be skipped for the files behind them",
            counted(map.errors.len(), "object"),
        )),
        None => None,
    }
}
