//! Whose a job's folder is, by what its files say.

use super::{BundleError, Part, file};
use kernrec_schemas::function_recording::{
    FunctionHeader, FunctionRecording, is_function_recording_name,
};
use kernrec_schemas::json::MAX_SMALL_BYTES;
use kernrec_schemas::sidecar::Sidecar;
use kernrec_schemas::{JobId, StepKey};
use std::io::{BufRead as _, BufReader, ErrorKind, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::str::FromStr;

/// No header is longer: its fields are bounded, and there are some forty of them.
const MAX_HEADER_BYTES: u64 = 64 << 10;

/// Whose recordings these are.
#[derive(Debug, Default)]
pub(super) struct Identity {
    pub(super) job_id: Option<JobId>,
    pub(super) step_key: Option<StepKey>,
}

/// What a sidecar says: `None` when there is none, nothing when it cannot be read.
pub(super) fn of_sidecar(folder: &Path, part: Part) -> Option<Identity> {
    let mut bytes = Vec::new();
    match file::read_member(&folder.join(part.sidecar()), MAX_SMALL_BYTES, &mut bytes) {
        Ok(()) => {
            let sidecar = Sidecar::parse(&bytes).unwrap_or_default();
            Some(Identity {
                job_id: sidecar.job_id,
                step_key: sidecar.step_key,
            })
        }
        Err(BundleError::Fs(error)) if error.source.kind() == ErrorKind::NotFound => None,
        Err(_) => Some(Identity::default()),
    }
}

/// What the first header of the Python recorder says that names the job or its step, in the order of the recordings'
/// names.
pub(super) fn of_headers(folder: &Path) -> Identity {
    let Ok(items) = fs_err::read_dir(folder) else {
        return Identity::default();
    };
    let mut paths: Vec<_> = items
        .filter_map(|item| Some(item.ok()?.path()))
        .filter(|path| {
            let name = path.file_name().unwrap_or_default();
            is_function_recording_name(name.as_bytes())
        })
        .collect();
    paths.sort_unstable();
    paths
        .iter()
        .filter_map(|path| of_header(path))
        .find(|identity| identity.job_id.is_some() || identity.step_key.is_some())
        .unwrap_or_default()
}

fn of_header(path: &Path) -> Option<Identity> {
    let file = file::open_member(path).ok()?;
    let mut line = Vec::new();
    let mut start = BufReader::new(file).take(MAX_HEADER_BYTES);
    start.read_until(b'\n', &mut line).ok()?;
    let header = FunctionRecording::read(&line).header?;
    Some(Identity {
        job_id: parsed(&header, "BUILDKITE_JOB_ID"),
        step_key: parsed(&header, "BUILDKITE_STEP_KEY"),
    })
}

fn parsed<T: FromStr>(header: &FunctionHeader, key: &str) -> Option<T> {
    header.field(key)?.parse().ok()
}
