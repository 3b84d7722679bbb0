//! What one job left: recordings and their sidecar; and the list of a build's jobs.

use crate::summary::{Section, Summary, text, texts};
use kernrec_schemas::jobs::JobsList;
use kernrec_schemas::recording::{HeaderKind, Recording};
use kernrec_schemas::sidecar::Sidecar;
use std::collections::BTreeMap;

/// A recording.
pub(crate) fn recording(recording: &Recording<'_>, shown: usize) -> Summary {
    let mut summary = Summary::new("recording", "recording of one process");
    summary.fact("state", recording.state.word());
    summary.fact("healthy", recording.state.is_healthy());
    summary.fact("backend", recording.backend().map(text));
    if let Some(header) = &recording.header {
        let kind = match header.kind {
            HeaderKind::Valid => "valid",
            HeaderKind::Legacy => "legacy",
            HeaderKind::Bad => "bad",
        };
        summary.fact("header", kind);
        summary.fact_if("pid", header.pid);
        summary.fact_if("ppid", header.ppid);
        summary.fact_if("exe", header.exe.as_deref());
        summary.fact("forked", header.forked);
    }
    summary.fact("kernels", recording.names.len());
    summary.fact("dropped", recording.dropped);
    summary.fact_if("records", recording.footer.map(|footer| footer.records));
    summary.fact_if("first_error", recording.first_error.as_deref());
    let mut names = Section::new("names", "kernels, as first seen", &["name"], shown);
    for name in &recording.names {
        names.row([text(name)]);
    }
    summary.section(names);
    summary
}

/// A sidecar.
pub(crate) fn sidecar(sidecar: &Sidecar) -> Summary {
    let mut summary = Summary::new("sidecar", "sidecar of one job");
    summary.fact("step_key", sidecar.step_key.as_ref().map(text));
    summary.fact_if("label", sidecar.label.as_deref());
    summary.fact("job_id", sidecar.job_id.as_ref().map(text));
    summary.fact("build", sidecar.build.as_deref());
    summary.fact("commit", sidecar.commit.as_ref().map(text));
    if let Some(count) = sidecar.shard_count {
        summary.fact("shard", sidecar.shard);
        summary.fact("shard_count", count);
    }
    summary.fact("exit_status", sidecar.exit_status);
    summary.fact_if("retry_count", sidecar.retry_count);
    summary.fact_if("host", sidecar.host.as_deref());
    summary.fact("backend", sidecar.backend.map(text));
    summary.fact_if("recorder", sidecar.recorder.as_deref());
    summary.fact("collection_available", sidecar.collection_available);
    summary.fact_if("collection_error", sidecar.collection_error.as_deref());
    if !sidecar.variant.is_default() {
        summary.fact("variant", text(&sidecar.variant));
    }
    summary.fact("unrecorded_processes", sidecar.unrecorded_processes);
    summary.fact_if(
        "faults",
        (!sidecar.faults.is_empty()).then(|| texts(&sidecar.faults)),
    );
    summary
}

/// A jobs list.
pub(crate) fn jobs(jobs: &JobsList, shown: usize) -> Summary {
    let mut summary = Summary::new("jobs-list", "jobs list of one build");
    summary.fact("jobs", jobs.iter().count());
    let unkeyed = jobs.iter().filter(|job| job.step_key.is_none()).count();
    summary.fact("without_step_key", unkeyed);
    let mut by_state: BTreeMap<&str, u64> = BTreeMap::new();
    for job in jobs.iter() {
        let state = job.state.as_deref().unwrap_or("unknown");
        *by_state.entry(state).or_default() += 1;
    }
    let mut states = Section::new("states", "jobs by state", &["state", "jobs"], usize::MAX);
    for (state, count) in by_state {
        states.row([text(state), count.into()]);
    }
    summary.section(states);
    let columns = &["step", "state", "job"];
    let mut rows = Section::new("listed", "first jobs", columns, shown);
    for job in jobs.iter() {
        let step = job.step_key.as_ref();
        let state = job.state.as_deref().into();
        rows.row([step.map(text).into(), state, text(&job.id)]);
    }
    summary.section(rows);
    summary
}
