//! `record.json`: what is installed.

use crate::summary::{Section, Summary, text, texts};
use kernrec_schemas::installed::{InstalledRecord, Verification, file_name};

/// An installed record.
pub(crate) fn installed(record: &InstalledRecord) -> Summary {
    let mut summary = Summary::new("installed-record", "installed record");
    summary.fact("pipeline", text(&record.pipeline));
    summary.fact("backend", text(record.backend));
    summary.fact("commit", text(&record.commit));
    summary.fact("build", record.build.0);
    summary.fact("recorded_at", text(record.recorded_at));
    summary.fact("steps", record.counts.rows);
    summary.fact("usable", record.counts.usable_rows);
    summary.fact("manifest", text(record.manifest));
    summary.fact("url", record.origin.url.as_str());
    summary.fact("generation", record.origin.generation.0);
    summary.fact_if("signed_by", record.origin.signed_by.as_ref().map(text));
    summary.fact("published_at", record.origin.published_at.map(text));
    summary.fact("fetched_at", text(record.origin.fetched_at));
    summary.fact_if("revoked_at", record.revoked.map(text));
    summary.fact(
        "verified",
        texts(record.verified.iter().map(|&what| word(what))),
    );
    let columns = &["role", "file", "size", "digest"];
    let mut files = Section::new("files", "files (bytes, uncompressed)", columns, usize::MAX);
    for (role, file) in &record.files {
        let name = file_name(role).unwrap_or_default();
        files.row([text(role), text(name), file.size.into(), text(file.digest)]);
    }
    summary.section(files);
    if !record.twins.is_empty() {
        summary.fact("twins", texts(record.twins.keys()));
    }
    summary
}

const fn word(what: Verification) -> &'static str {
    match what {
        Verification::Digests => "digests",
        Verification::Loaders => "loaders",
        Verification::Agreement => "agreement",
        _ => "other",
    }
}
