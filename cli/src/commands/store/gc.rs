//! `kernrec store gc`: what is named by nothing, and old, goes.

use super::fsck::stored;
use crate::args::store::GcArgs;
use crate::error::CommandError;
use crate::network;
use crate::shell::Shell;
use crate::signing;
use crate::summary::{Section, Summary, text};
use kernrec_admin::gc::{Gc, GcError, GcOptions, gc};
use kernrec_schemas::exit::Exit;
use kernrec_store::{Access, Key};

pub(crate) fn run(args: &GcArgs, shell: &mut Shell) -> Result<Exit, CommandError> {
    let store = args
        .target
        .open(Access::Read, &network::reading(&args.network, None)?)?;
    let options = GcOptions {
        grace: args.grace,
        delete: args.delete,
        quiescent: args.quiescent,
        accept_broken: args.accept_broken,
        require_keys: signing::required(&args.signing)?,
    };
    let done = gc(store.as_ref(), &options).map_err(refused)?;
    shell.summary(&summary(args, &done), args.target.form())?;
    let finds = !done.removed.is_empty() || !done.scratch.is_empty();
    if finds && !args.delete {
        shell.note("note: nothing was removed: that takes --delete");
    }
    let Some(failure) = &done.failure else {
        return Ok(Exit::Done);
    };
    shell.note(format_args!("error: {}: {failure}", failure.reason()));
    if let GcError::RemovedNamed { .. } = failure {
        shell.note("hint: publish that build again: it stores anew what it lacks");
    }
    Ok(Exit::Failed)
}

fn refused(error: GcError) -> CommandError {
    match error {
        GcError::Store(error) => error.into(),
        GcError::GraceTooShort { .. } => CommandError::usage(error)
            .hint("with --quiescent, when nothing publishes to this store meanwhile"),
        GcError::ClosureUnknown { .. } => CommandError::refused("closure-unknown", error).hint(
            "`kernrec store fsck` names what is broken; --accept-broken goes on without what is lost",
        ),
        GcError::Signature { .. } => CommandError::refused(error.reason(), error)
            .hint("nothing was removed: what a stranger's pointer names says nothing of what is needed"),
        other => CommandError::failed(other.reason(), other),
    }
}

fn summary(args: &GcArgs, done: &Gc) -> Summary {
    let title = match (args.delete, &done.failure) {
        (false, _) => "what would be removed",
        (true, None) => "removed",
        (true, Some(_)) => "removed, until it failed",
    };
    let mut summary = Summary::new("store-gc", title);
    summary.fact("store", text(&args.target.url));
    summary.fact("dry_run", !args.delete);
    summary.fact("grace_seconds", args.grace.as_secs());
    summary.fact("store_time", text(done.now));
    summary.fact("objects", done.removed.len());
    let bytes: u64 = done.removed.iter().map(|entry| entry.stat.size).sum();
    summary.fact("bytes", bytes);
    summary.fact("kept_named", done.named);
    summary.fact("kept_young", done.young);
    summary.fact("kept_foreign", done.foreign.len());
    if let Some(failure) = &done.failure {
        summary.fact("failure", text(failure.reason()));
    }
    let title = "named by no record, and older than the grace";
    summary.section(stored("removed", title, &done.removed, args.rows));
    summary.section(keys(
        "scratch",
        "left behind by checks that were killed",
        &done.scratch,
        args.rows,
    ));
    summary.section(keys(
        "spared",
        "named, stored anew or gone before their turn",
        &done.spared,
        args.rows,
    ));
    summary.section(keys(
        "foreign",
        "foreign: never touched",
        &done.foreign,
        args.rows,
    ));
    summary
}

fn keys(key: &'static str, title: &'static str, keys: &[Key], shown: usize) -> Section {
    let mut section = Section::new(key, title, &["key"], shown);
    for key in keys {
        section.row([text(key)]);
    }
    section
}
