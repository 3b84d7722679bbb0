//! `kernrec store put` and `kernrec store get`: any content by its digest.

use crate::args::store::{GetArgs, PutArgs};
use crate::document;
use crate::error::CommandError;
use crate::network;
use crate::shell::{Form, Shell};
use crate::summary::{Summary, text};
use kernrec_admin::artifact::{
    Artifact, TransferError, get_document, get_to_file, put_bundle, put_document,
};
use kernrec_schemas::exit::Exit;
use kernrec_store::Access;
use std::io::{self, IsTerminal};

pub(crate) fn put(args: &PutArgs, shell: &mut Shell) -> Result<Exit, CommandError> {
    // The file first: a store is not made for one that cannot be read.
    let is_bundle = document::is_bundle(&args.file)?;
    let store = args
        .target
        .open(Access::Write, &network::reading(&args.network, None)?)?;
    let put = if is_bundle {
        put_bundle(store.as_ref(), &args.file)
    } else {
        put_document(store.as_ref(), &args.file)
    };
    let summary = summary("store-put", "stored", &put.map_err(failed)?);
    shell.summary(&summary, args.target.form())?;
    Ok(Exit::Done)
}

pub(crate) fn get(args: &GetArgs, shell: &mut Shell) -> Result<Exit, CommandError> {
    let store = args
        .target
        .open(Access::Read, &network::reading(&args.network, None)?)?;
    if let Some(out) = &args.out {
        let got = get_to_file(store.as_ref(), &args.digest, out).map_err(failed)?;
        let mut summary = summary("store-get", "written", &got);
        summary.fact("out", text(out.display()));
        shell.summary(&summary, args.target.form())?;
        return Ok(Exit::Done);
    }
    if args.target.form() == Form::Json {
        let problem = "--json says what was written to a file: give --out";
        return Err(CommandError::usage(problem));
    }
    let content = get_document(store.as_ref(), &args.digest).map_err(failed)?;
    if io::stdout().is_terminal() && !is_text(&content) {
        let problem = "the content is binary, and stdout is a terminal";
        return Err(CommandError::failed("needs-a-file", problem).hint("give --out"));
    }
    shell.bytes(&content)?;
    Ok(Exit::Done)
}

/// Nothing that a terminal would act on.
fn is_text(content: &[u8]) -> bool {
    std::str::from_utf8(content).is_ok_and(|text| {
        !text
            .chars()
            .any(|c| c.is_control() && !matches!(c, '\n' | '\t'))
    })
}

fn failed(error: TransferError) -> CommandError {
    match error {
        TransferError::Store(error) => error.into(),
        TransferError::File(error) => error.into(),
        TransferError::Bundle(error) => error.into(),
        TransferError::Fs(error) => error.into(),
        error @ TransferError::NeedsFile { .. } => {
            CommandError::failed(error.reason(), error).hint("give --out")
        }
        other => CommandError::failed(other.reason(), other),
    }
}

fn summary(kind: &'static str, title: &str, artifact: &Artifact) -> Summary {
    let mut summary = Summary::new(kind, title);
    summary.fact("digest", text(artifact.digest));
    summary.fact("key", text(&artifact.key));
    summary.fact("size", artifact.size);
    summary
}
