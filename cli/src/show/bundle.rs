//! A trace bundle.

use crate::summary::{Section, Summary, text};
use kernrec_schemas::function_recording::{FunctionRecording, is_function_recording_name};
use kernrec_schemas::recording::{Recording, is_recording_name};
use kernrec_schemas::sidecar::Sidecar;
use kernrec_store::bundle::{self, BundleError, OriginLayout, Part};
use std::path::Path;

/// Reads a bundle whole and reports on the job in it.
pub(crate) fn bundle(path: &Path, shown: usize) -> Result<Summary, BundleError> {
    let columns = &["file", "bytes", "state", "kernels", "functions"];
    let mut files = Section::new("files", "files", columns, shown);
    let mut sidecar = None;
    let read = bundle::read_file(path, &mut |name, content| {
        let bytes = content.len().into();
        if is_recording_name(name) {
            let recording = Recording::read(content);
            let (state, kernels) = (recording.state.word(), recording.names.len());
            files.row([text(name), bytes, text(state), kernels.into(), "".into()]);
            return;
        }
        if is_function_recording_name(name) {
            let recording = FunctionRecording::read(content);
            let (state, functions) = (recording.state.word(), recording.functions.len());
            files.row([text(name), bytes, text(state), "".into(), functions.into()]);
            return;
        }
        // They agree, and where they do not the one of the kernels comes last.
        if [Part::Python, Part::Kernels]
            .map(Part::sidecar)
            .contains(&name)
        {
            sidecar = Sidecar::parse(content).ok();
        }
        files.row([text(name), bytes, "".into(), "".into(), "".into()]);
    })?;
    let mut summary = Summary::new("bundle", "trace bundle of one job");
    summary.fact("job_id", text(&read.meta.job_id));
    summary.fact("step_key", read.meta.step_key.as_ref().map(text));
    let layout = match read.meta.layout {
        OriginLayout::InBuild => "in-build",
        OriginLayout::StepJob => "step-job",
    };
    summary.fact("layout", layout);
    if let Some(sidecar) = sidecar {
        summary.fact("commit", sidecar.commit.as_ref().map(text));
        summary.fact("build", sidecar.build.as_deref());
        summary.fact("exit_status", sidecar.exit_status);
    }
    summary.fact("digest", text(read.digest));
    summary.fact("uncompressed_bytes", read.size);
    summary.section(files);
    Ok(summary)
}
