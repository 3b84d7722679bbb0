//! What a store holds beside the record's files: manifests and pointers.

use crate::summary::{Section, Summary, text, texts};
use kernrec_schemas::manifest::RecordManifest;
use kernrec_schemas::pointer::{Pointer, RecordRef, UpstreamPointer};
use serde_json::Value;

/// A record manifest.
pub(crate) fn manifest(manifest: &RecordManifest, shown: usize) -> Summary {
    let mut summary = Summary::new("manifest", "record manifest");
    summary.fact("pipeline", text(&manifest.pipeline));
    summary.fact("backend", text(manifest.backend));
    summary.fact("commit", text(&manifest.commit));
    summary.fact("build", manifest.build.0);
    summary.fact("recorded_at", text(manifest.recorded_at));
    let counts = manifest.counts;
    summary.fact("steps", counts.rows);
    summary.fact("usable", counts.usable_rows);
    if manifest.backend.has_kernels() {
        summary.fact("kernels", counts.kernels);
        summary.fact("objects", counts.objects);
        summary.fact("symbols", counts.symbols);
        summary.fact("joined", counts.joined);
    } else {
        summary.fact("functions", counts.functions);
    }
    let producer = &manifest.producer;
    summary.fact(
        "producer",
        format!("{} {}", producer.name, producer.version),
    );
    let columns = &["role", "size", "digest"];
    let mut files = Section::new("files", "files (bytes, uncompressed)", columns, usize::MAX);
    for (role, file) in &manifest.files {
        files.row([text(role), file.size.into(), text(file.digest)]);
    }
    summary.section(files);
    let title = format!("bundles folded, {} in all", manifest.bundles.len());
    let mut bundles = Section::new("bundles", title, &["size", "digest"], shown);
    for bundle in &manifest.bundles {
        bundles.row([bundle.size.into(), text(bundle.digest)]);
    }
    summary.section(bundles);
    summary
}

/// A native pointer.
pub(crate) fn pointer(pointer: &Pointer, shown: usize) -> Summary {
    let mut summary = Summary::new("pointer", "pointer");
    summary.fact("pipeline", text(&pointer.pipeline));
    summary.fact("backend", text(pointer.backend));
    summary.fact("generation", pointer.generation.0);
    summary.fact_if(
        "signing_key",
        pointer
            .signature
            .as_ref()
            .map(|signature| text(&signature.key)),
    );
    summary.fact("commit", text(&pointer.current.commit));
    summary.fact("build", pointer.current.build.0);
    summary.fact("published_at", text(pointer.current.published_at));
    summary.fact("manifest", text(pointer.current.manifest));
    let columns = &["build", "commit", "published_at", "manifest", "revoked"];
    let mut history = Section::new("history", "records before, newest first", columns, shown);
    for past in &pointer.history {
        let [build, commit, published, manifest] = reference(&past.record);
        let revoked = past.revoked.map(text).into();
        history.row([build, commit, published, manifest, revoked]);
    }
    summary.section(history);
    summary
}

fn reference(record: &RecordRef) -> [Value; 4] {
    [
        record.build.0.into(),
        text(&record.commit),
        text(record.published_at),
        text(record.manifest),
    ]
}

/// A pointer of the upstream layout.
pub(crate) fn upstream_pointer(pointer: &UpstreamPointer) -> Summary {
    let mut summary = Summary::new("upstream-pointer", "pointer of the upstream layout");
    summary.fact("backend", pointer.backend.map(text));
    summary.fact("commit", text(&pointer.commit));
    summary.fact("build", pointer.build.map(|build| build.0));
    summary.fact("pipeline", pointer.pipeline.as_ref().map(text));
    summary.fact("published_at", pointer.published_at.map(text));
    summary.fact_if(
        "generation",
        pointer.generation.map(|generation| generation.0),
    );
    summary.fact_if(
        "signing_key",
        pointer
            .signature
            .as_ref()
            .map(|signature| text(&signature.key)),
    );
    summary.fact("files", texts(&pointer.files));
    let title = "digests";
    let mut digests = Section::new("digests", title, &["file", "digest"], usize::MAX);
    for (file, digest) in &pointer.digests {
        digests.row([text(file), text(digest)]);
    }
    summary.section(digests);
    summary
}
