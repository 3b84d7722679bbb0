//! `kernrec store log`: what was published, newest first.

use crate::args::fetch::BackendsArg;
use crate::args::store::LogArgs;
use crate::error::CommandError;
use crate::network;
use crate::shell::{Form, Shell};
use crate::signing;
use crate::summary::{Section, Summary, text};
use kernrec_admin::Standing;
use kernrec_admin::history::{Entry, History, history};
use kernrec_schemas::exit::Exit;
use kernrec_schemas::{Backend, KeyId};
use kernrec_store::Access;
use kernrec_store::signing::SignatureProblem;
use serde_json::Value;

pub(crate) fn run(args: &LogArgs, shell: &mut Shell) -> Result<Exit, CommandError> {
    let keys = signing::required(&args.signing)?;
    let store = args
        .target
        .open(Access::Read, &network::reading(&args.network, None)?)?;
    let backends = match args.backend {
        BackendsArg::All => Backend::ALL.to_vec(),
        BackendsArg::One(backend) => vec![backend],
    };
    let mut summaries = Vec::new();
    let mut refusals = Vec::new();
    for backend in backends {
        if let Some(found) = history(store.as_ref(), &args.pipeline, backend, args.limit)? {
            let signed = (!keys.is_empty()).then(|| found.seal.verify(&keys));
            summaries.push(summary(args, backend, &found, signed.as_ref()));
            let refusal = signed.and_then(Result::err);
            refusals.extend(refusal.map(|problem| (backend, problem)));
        }
    }
    let exit = if refusals.is_empty() {
        Exit::Done
    } else {
        Exit::Refused
    };
    if summaries.is_empty() {
        let (pipeline, url) = (&args.pipeline, store.url());
        let problem = format!("nothing has been published for pipeline `{pipeline}` in `{url}`");
        return Err(
            CommandError::refused("not-published", problem).hint("check --pipeline and --backend")
        );
    }
    if args.target.form() == Form::Json {
        let documents: Vec<Value> = summaries.iter().map(Summary::to_json).collect();
        shell.json(&documents)?;
    } else {
        for summary in &summaries {
            shell.summary(summary, Form::Text)?;
        }
    }
    for (backend, problem) in refusals {
        let reason = problem.reason();
        shell.note(format_args!(
            "error: {backend}: {reason}: the pointer: {problem}"
        ));
    }
    Ok(exit)
}

fn summary(
    args: &LogArgs,
    backend: Backend,
    found: &History,
    signed: Option<&Result<KeyId, SignatureProblem>>,
) -> Summary {
    let mut summary = Summary::new("store-log", format!("{backend} of {}", args.pipeline));
    summary.fact("pipeline", text(&args.pipeline));
    summary.fact("backend", text(backend));
    summary.fact("generation", found.generation.0);
    summary.fact("records", found.records);
    match signed {
        Some(Ok(key)) => summary.fact("signed_by", text(key)),
        Some(Err(problem)) => summary.fact("not_believed", problem.reason()),
        None => {}
    }
    let columns = &[
        "standing",
        "build",
        "commit",
        "published_at",
        "rows",
        "usable",
        "manifest",
        "revoked_at",
        "reason",
        "problem",
    ];
    let mut section = Section::new("history", "newest first", columns, usize::MAX);
    for entry in &found.entries {
        section.row(row(entry));
    }
    summary.section(section);
    let unread = found.records - found.entries.len() as u64;
    if unread > 0 {
        summary.fact("older", unread);
    }
    summary
}

fn row(entry: &Entry) -> [Value; 10] {
    let record = &entry.named.record;
    let (standing, revoked, reason) = match &entry.named.standing {
        Standing::Current => ("current", None, None),
        Standing::Past => ("past", None, None),
        Standing::Revoked { at, reason } => ("revoked", Some(*at), reason.as_deref()),
    };
    let count = |count: Option<u64>| count.map_or(Value::Null, Value::from);
    [
        text(standing),
        record.build.0.into(),
        text(&record.commit),
        text(record.published_at),
        count(entry.counts.map(|counts| counts.rows)),
        count(entry.counts.map(|counts| counts.usable_rows)),
        text(record.manifest),
        text(revoked.map_or(String::new(), |at| at.to_string())),
        text(reason.unwrap_or_default()),
        text(entry.problem.unwrap_or_default()),
    ]
}
