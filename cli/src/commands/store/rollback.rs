//! `kernrec store rollback`: a past record becomes current, everything newer is revoked.

use crate::args::store::RollbackArgs;
use crate::error::{CommandError, chain};
use crate::network;
use crate::shell::Shell;
use crate::signing;
use crate::summary::{Section, Summary, text};
use kernrec_admin::rollback::{Outcome, Rollback, RollbackError, RollbackRequest, rollback};
use kernrec_schemas::exit::Exit;
use kernrec_store::Access;

pub(crate) fn run(args: &RollbackArgs, shell: &mut Shell) -> Result<Exit, CommandError> {
    let store = args
        .target
        .open(Access::Read, &network::writing(&args.network)?)?;
    let signing = signing::writing(&args.signing, shell)?;
    let request = RollbackRequest {
        pipeline: &args.pipeline,
        backend: args.backend,
        to: &args.to,
        reason: args.reason.as_deref(),
        bundles: !args.no_bundles,
        signing,
        dry_run: args.dry_run,
    };
    let done = rollback(store.as_ref(), &request).map_err(refused)?;
    shell.summary(&summary(args, &done), args.target.form())?;
    let Outcome::Unknown(error) = &done.outcome else {
        return Ok(Exit::Done);
    };
    let (reason, message) = (error.reason(), chain(error));
    shell.note(format_args!("error: {reason}: {message}"));
    shell
        .note("hint: `kernrec store log` says which record is current; rolling back again is safe");
    Ok(Exit::Unknown)
}

fn refused(error: RollbackError) -> CommandError {
    let reason = error.reason();
    let hint = match &error {
        RollbackError::NotInHistory { .. } | RollbackError::Revoked { .. } => {
            Some("`kernrec store log` shows what can be gone back to")
        }
        RollbackError::Ambiguous { .. } => Some("give the manifest"),
        RollbackError::Broken { .. } => {
            Some("`kernrec store fsck` names all that is broken; --no-bundles leaves bundles out")
        }
        _ => None,
    };
    let ended = match error {
        RollbackError::Store(error) => return error.into(),
        RollbackError::ReasonTooLong => CommandError::usage(error),
        error if error.is_refusal() => CommandError::refused(reason, error),
        error => CommandError::failed(reason, error),
    };
    match hint {
        Some(hint) => ended.hint(hint),
        None => ended,
    }
}

fn summary(args: &RollbackArgs, done: &Rollback) -> Summary {
    let (outcome, title) = match (&done.outcome, args.dry_run) {
        (Outcome::RolledBack, false) => ("rolled-back", "rolled back"),
        (Outcome::RolledBack, true) => ("rolled-back", "would be rolled back"),
        (Outcome::Unchanged, _) => ("unchanged", "already current"),
        (Outcome::Unknown(_), _) => ("unknown", "unknown: the answer was lost"),
    };
    let title = format!("{}: {title}", args.backend);
    let mut summary = Summary::new("store-rollback", title);
    summary.fact("outcome", text(outcome));
    summary.fact("pipeline", text(&args.pipeline));
    summary.fact("commit", text(&done.target.commit));
    summary.fact("build", done.target.build.0);
    summary.fact("manifest", text(done.target.manifest));
    summary.fact("published_at", text(done.target.published_at));
    summary.fact_if("generation", done.generation.map(|generation| generation.0));
    let columns = &["build", "commit", "published_at", "manifest"];
    let mut revoked = Section::new("revoked", "revoked by this", columns, usize::MAX);
    for record in &done.revoked {
        revoked.row([
            record.build.0.into(),
            text(&record.commit),
            text(record.published_at),
            text(record.manifest),
        ]);
    }
    summary.section(revoked);
    summary
}
