//! `kernrec verify record`: fold a published record again from its own bundles, and compare byte for byte.

use super::verdict;
use crate::args::verify::RecordArgs;
use crate::error::CommandError;
use crate::network;
use crate::shell::{Form, Shell};
use crate::signing;
use crate::summary::{Section, Summary, text, texts};
use kernrec_publish::verify::{RefoldError, RowChange, RowDifference};
use kernrec_publish::{Refold, refold};
use kernrec_schemas::exit::Exit;
use kernrec_schemas::json::MAX_SMALL_BYTES;
use kernrec_schemas::manifest::RecordManifest;
use kernrec_schemas::pointer::{Pointer, RecordRef};
use kernrec_store::signing::TrustedKeys;
use kernrec_store::{Access, Key, Store, StoreError, objects, open_with, pointers};

/// Rows and fields shown in the text form.
const SHOWN: usize = 20;

pub(crate) fn run(args: &RecordArgs, shell: &mut Shell) -> Result<Exit, CommandError> {
    let keys = signing::required(&args.signing)?;
    let network = network::reading(&args.network, None)?;
    let store = open_with(&args.store, Access::Read, &network)?;
    let pointer = pointer(store.as_ref(), args, &keys)?;
    let reference = reference(&pointer, args)?;
    let manifest = manifest(store.as_ref(), reference)?;
    let result = refold(store.as_ref(), &manifest).map_err(failed)?;
    let form = Form::of_flag(args.json);
    let of_kernels = manifest.backend.has_kernels();
    shell.summary(&summary(reference, &result, of_kernels), form)?;
    Ok(verdict(result.same))
}

fn pointer(
    store: &dyn Store,
    args: &RecordArgs,
    keys: &TrustedKeys,
) -> Result<Pointer, CommandError> {
    let found = pointers::read(store, &args.pipeline, args.backend)?;
    let found = found.ok_or_else(|| {
        let (pipeline, backend, url) = (&args.pipeline, args.backend, store.url());
        let problem = format!(
            "nothing has been published for pipeline `{pipeline}`, backend `{backend}` in `{url}`"
        );
        CommandError::refused("not-published", problem).hint("check --pipeline")
    })?;
    match keys.refusal(&found.seal) {
        None => Ok(found.pointer),
        Some(problem) => {
            let text = format!("the pointer that names the record: {problem}");
            Err(CommandError::refused(problem.reason(), text))
        }
    }
}

/// The record asked for. A revoked one can be verified like any other.
fn reference<'a>(pointer: &'a Pointer, args: &RecordArgs) -> Result<&'a RecordRef, CommandError> {
    let Some(commit) = &args.commit else {
        return Ok(&pointer.current);
    };
    let past = pointer.history.iter().map(|past| &past.record);
    std::iter::once(&pointer.current)
        .chain(past)
        .find(|record| record.commit == *commit)
        .ok_or_else(|| {
            let known = pointer.history.len() + 1;
            let problem = format!(
                "no record of commit `{commit}` in `{}`, which remembers {known}",
                args.store
            );
            CommandError::refused("commit-not-published", problem)
        })
}

fn manifest(store: &dyn Store, reference: &RecordRef) -> Result<RecordManifest, CommandError> {
    let bytes = objects::read_bounded(store, &reference.manifest, MAX_SMALL_BYTES)?;
    RecordManifest::parse(&bytes).map_err(|source| {
        CommandError::from(StoreError::Document {
            url: store.url().to_owned(),
            key: Key::object(&reference.manifest),
            source,
        })
    })
}

fn failed(error: RefoldError) -> CommandError {
    match error {
        RefoldError::Store(error) => error.into(),
        other => CommandError::failed(other.reason(), other),
    }
}

fn summary(reference: &RecordRef, result: &Refold, of_kernels: bool) -> Summary {
    let title = if result.same {
        "the record is what its bundles say, byte for byte"
    } else {
        "the record is NOT what its bundles say"
    };
    let mut summary = Summary::new("verify-record", title);
    summary.fact("same", result.same);
    summary.fact("commit", text(&reference.commit));
    summary.fact("build", reference.build.0);
    summary.fact("manifest", text(reference.manifest));
    summary.fact("bundles", result.bundles);
    summary.fact("published_table", text(result.published));
    summary.fact("refolded_table", text(result.refolded));
    if result.other_fields {
        summary.fact("differs_outside_the_rows", true);
    }
    if let Some(counts) = result.counts {
        summary.fact("counts_differ", true);
        summary.fact("published_usable", counts.published.usable_rows);
        summary.fact("refolded_usable", counts.refolded.usable_rows);
    }
    let columns = if of_kernels {
        &["step", "change", "fields", "kernels_lost", "kernels_gained"]
    } else {
        &["step", "change", "fields", "entered_lost", "entered_gained"]
    };
    let mut rows = Section::new("rows", "rows that differ", columns, SHOWN);
    for row in &result.rows {
        rows.row(difference(row, of_kernels));
    }
    summary.section(rows);
    summary
}

fn difference(row: &RowDifference, of_kernels: bool) -> [serde_json::Value; 5] {
    let change = match row.change {
        RowChange::Missing => "only-published",
        RowChange::Extra => "only-refolded",
        RowChange::Changed => "changed",
    };
    let fields = row
        .fields
        .iter()
        .map(|field| format!("{}: {} -> {}", field.field, field.first, field.second));
    let (lost, gained) = if of_kernels {
        (texts(&row.kernels_lost), texts(&row.kernels_gained))
    } else {
        (texts(&row.entered_lost), texts(&row.entered_gained))
    };
    [text(&row.step), text(change), texts(fields), lost, gained]
}
