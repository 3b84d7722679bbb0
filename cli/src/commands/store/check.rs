//! `kernrec store check`: a table of promises, each proven.

use crate::args::store::CheckArgs;
use crate::error::CommandError;
use crate::network;
use crate::shell::Shell;
use crate::summary::{Section, Summary, text};
use kernrec_admin::check::{Check, Promise, Verdict, check};
use kernrec_schemas::exit::Exit;
use kernrec_store::{Access, StoreError};

pub(crate) fn run(args: &CheckArgs, shell: &mut Shell) -> Result<Exit, CommandError> {
    let store = args
        .target
        .open(Access::Read, &network::reading(&args.network, None)?)?;
    let found = check(store.as_ref(), &args.pipeline).map_err(untried)?;
    shell.summary(&summary(&args.target.url, &found), args.target.form())?;
    if let Some((prefix, problem)) = &found.left_behind {
        shell.note(format_args!(
            "error: scratch-left-behind: `{prefix}` could not be removed: {problem}"
        ));
    }
    if found.read_only {
        shell.note("note: the store can only be read: nothing can be published here");
    }
    if found.is_untried() {
        shell.note("hint: check --pipeline, and that anybody may read: what is denied looks like what is not there");
    }
    if found.is_broken() {
        shell.note("hint: do not publish to this store: records may be lost or mixed");
    }
    Ok(exit(&found))
}

fn untried(error: StoreError) -> CommandError {
    let absent = matches!(error, StoreError::NotFound { .. });
    let ended = CommandError::from(error);
    if absent {
        return ended.hint("check that the bucket exists: nothing can be written to it");
    }
    ended
}

fn exit(found: &Check) -> Exit {
    if found.is_broken() {
        Exit::Refused
    } else if found.is_unsettled() {
        Exit::Failed
    } else if found.is_untried() {
        Exit::Refused
    } else {
        Exit::Done
    }
}

fn summary(url: &str, found: &Check) -> Summary {
    let title = match (found.is_broken(), found.is_unsettled(), found.read_only) {
        (true, _, _) => "the store BREAKS a promise",
        (false, true, _) => "it could not be told whether the store keeps every promise",
        (false, false, true) if found.is_untried() => {
            "the store can only be read, and there is nothing to try it on"
        }
        (false, false, true) => "the store keeps what readers rely on, and can only be read",
        (false, false, false) => "the store keeps every promise",
    };
    let mut summary = Summary::new("store-check", title);
    summary.fact("store", text(url));
    let kept = !found.is_broken() && !found.is_unsettled() && !found.is_untried();
    summary.fact("kept", kept);
    summary.fact("read_only", found.read_only);
    let columns = &["promise", "verdict", "what", "problem"];
    let mut section = Section::new("promises", "promises", columns, usize::MAX);
    for (promise, verdict) in &found.promises {
        section.row([
            text(promise.word()),
            text(verdict.word()),
            text(meaning(*promise)),
            text(problem(verdict)),
        ]);
    }
    summary.section(section);
    summary
}

fn problem(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Kept => String::new(),
        Verdict::Broken { problem } => problem.clone(),
        Verdict::NotTold { error } => format!("{}: {error}", error.reason()),
        Verdict::NotTried { why } => (*why).to_owned(),
    }
}

const fn meaning(promise: Promise) -> &'static str {
    match promise {
        Promise::ReadAfterWrite => "what was written is read at once",
        Promise::Absence => "nothing reads as nothing",
        Promise::CreateIfAbsent => "one of 8 that create a key wins",
        Promise::CompareAndSwap => "one of 8 that move a pointer wins, no move is lost",
        Promise::ConditionalRead => "an unchanged pointer costs no bytes",
        Promise::Ranges => "a cut download can go on",
        Promise::Listing => "a listing has what is there",
        Promise::Removal => "what is removed is gone, what is young stays",
        Promise::ChecksumRejection => "damaged uploads are refused",
    }
}
