//! `kernrec store fsck`: is everything there that the pointers name?

use crate::args::store::FsckArgs;
use crate::error::CommandError;
use crate::network;
use crate::shell::Shell;
use crate::signing;
use crate::summary::{Section, Summary, text, texts};
use kernrec_admin::fsck::{Finding, Fsck, FsckOptions, fsck};
use kernrec_admin::{Named, Standing};
use kernrec_schemas::exit::Exit;
use kernrec_store::{Access, Listed};

pub(crate) fn run(args: &FsckArgs, shell: &mut Shell) -> Result<Exit, CommandError> {
    let store = args
        .target
        .open(Access::Read, &network::reading(&args.network, None)?)?;
    let options = FsckOptions {
        quick: args.quick,
        bundles: !args.no_bundles,
        pipeline: args.pipeline.clone(),
        require_keys: signing::required(&args.signing)?,
    };
    let found = fsck(store.as_ref(), &options)?;
    shell.summary(&summary(args, &found), args.target.form())?;
    if is_empty(&found) {
        shell.note("note: no pointer was found, so nothing was looked at");
    }
    if is_blind(&found) {
        shell.note("hint: check --pipeline, and that anybody may read: what is denied looks like what is not there");
    } else if found.orphans.is_none() {
        shell.note("note: orphans are not known: the store cannot be listed, or a pointer or manifest cannot be read");
    }
    if found.findings.iter().any(|finding| finding.unsigned) {
        shell.note("hint: a publisher without the key, or an attack: look at who writes the store");
    }
    if found
        .findings
        .iter()
        .any(|finding| finding.told && !finding.unsigned)
    {
        shell.note("hint: publishing a record again stores anew what it lacks; a past one is only missed by whoever asks for it");
    }
    Ok(exit(&found))
}

fn is_empty(found: &Fsck) -> bool {
    found.pointers == 0 && found.findings.is_empty()
}

/// In a store that cannot be listed one pipeline is looked for. Not finding it proves nothing.
fn is_blind(found: &Fsck) -> bool {
    is_empty(found) && found.orphans.is_none()
}

fn exit(found: &Fsck) -> Exit {
    if is_blind(found) {
        return Exit::Refused;
    }
    let of = |finding: &Finding| {
        if finding.told {
            Exit::Refused
        } else {
            Exit::Failed
        }
    };
    found.findings.iter().map(of).fold(Exit::Done, Exit::worst)
}

fn summary(args: &FsckArgs, found: &Fsck) -> Summary {
    let current = |finding: &Finding| {
        let is_current = |named: &Named| named.standing == Standing::Current;
        finding.told && (finding.breaks.is_empty() || finding.breaks.iter().any(is_current))
    };
    let title = match exit(found) {
        _ if is_empty(found) => "nothing is published here",
        Exit::Done if args.quick => "everything that the pointers name is there",
        Exit::Done => "everything that the pointers name is there and whole",
        _ if !found.findings.iter().any(|finding| finding.told) => {
            "it could not be told whether everything is there and whole"
        }
        _ if found.findings.iter().all(|finding| finding.unsigned) => {
            "no required key vouches for what is there"
        }
        _ if found.findings.iter().any(current) => "a CURRENT record is not whole",
        _ => "past records are not whole",
    };
    let mut summary = Summary::new("store-fsck", title);
    summary.fact("store", text(&args.target.url));
    summary.fact("whole", exit(found) == Exit::Done);
    summary.fact("pointers", found.pointers);
    summary.fact("records", found.records);
    summary.fact("checked", found.checked);
    if !args.quick {
        summary.fact("hashed_bytes", found.hashed_bytes);
    }
    if let Some(orphans) = &found.orphans {
        summary.fact("orphans", orphans.len());
        let bytes: u64 = orphans.iter().map(|orphan| orphan.stat.size).sum();
        summary.fact("orphan_bytes", bytes);
    }
    summary.fact("foreign", found.foreign.len());
    let columns = &["key", "reason", "breaks", "problem"];
    let title = if found.findings.iter().any(|finding| finding.unsigned) {
        "damaged, missing or not believed"
    } else {
        "damaged or missing"
    };
    let mut findings = Section::new("findings", title, columns, args.rows);
    for finding in &found.findings {
        findings.row([
            text(&finding.key),
            text(finding.reason),
            texts(&finding.breaks),
            text(&finding.message),
        ]);
    }
    summary.section(findings);
    if let Some(orphans) = &found.orphans {
        let title = "orphans: no record names them";
        summary.section(stored("orphaned", title, orphans, args.rows));
    }
    let title = "foreign: no part of a store";
    let mut foreign = Section::new("foreign_keys", title, &["key"], args.rows);
    for key in &found.foreign {
        foreign.row([text(key)]);
    }
    summary.section(foreign);
    summary
}

/// A table of what stands in a store.
pub(super) fn stored(
    key: &'static str,
    title: &'static str,
    entries: &[Listed],
    shown: usize,
) -> Section {
    let columns = &["key", "bytes", "stored_at"];
    let mut section = Section::new(key, title, columns, shown);
    for entry in entries {
        let stat = &entry.stat;
        section.row([text(&entry.key), stat.size.into(), text(stat.modified)]);
    }
    section
}
