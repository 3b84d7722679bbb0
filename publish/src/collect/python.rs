//! What Python left of one job: function recordings and the notes of pytest's sessions.

use super::job::Process;
use super::names::{FunctionKey, Interner};
use kernrec_schemas::function_recording::{
    FunctionHeader, FunctionRecording, JobFacts, PYTEST_MARKER, SessionNotes,
    is_function_recording_name, is_session_notes_name,
};
use kernrec_schemas::function_table::{CodePath, FunctionName, LibraryName, Places};
use kernrec_schemas::recording::ProcessState;
use kernrec_schemas::sidecar::Sidecar;
use kernrec_schemas::{Backend, StepKey};
use std::collections::{BTreeSet, HashMap};
use std::str::FromStr;

/// What the files told so far.
#[derive(Default)]
pub(super) struct PythonContent {
    pub(super) facts: JobFacts,
    pub(super) libraries: BTreeSet<LibraryName>,
    /// What the first header that has an identity says, for a job without a sidecar.
    pub(super) identity: Option<Sidecar>,
}

impl PythonContent {
    /// Takes one file; a recording is a process.
    pub(super) fn file(
        &mut self,
        name: &str,
        bytes: &[u8],
        interner: &Interner<FunctionKey>,
    ) -> Option<Process> {
        if is_function_recording_name(name) {
            return Some(self.recording(name, bytes, interner));
        }
        if is_session_notes_name(name) {
            self.facts.add_notes(&SessionNotes::read(bytes));
        } else if name != PYTEST_MARKER {
            // Notes of the first plugins, of which nobody has said what they mean.
            self.facts.unparsed = self.facts.unparsed.saturating_add(1);
        }
        None
    }

    fn recording(&mut self, name: &str, bytes: &[u8], interner: &Interner<FunctionKey>) -> Process {
        let recording = FunctionRecording::read(bytes);
        self.facts.add_recording(&recording);
        let libraries = recording.packages.iter();
        let libraries = libraries.filter_map(|name| LibraryName::new(name).ok());
        self.libraries.extend(libraries);
        let header = recording.header.as_ref();
        if self.identity.is_none() {
            self.identity = header.and_then(identity);
        }
        let (keys, lost) = keys(&recording);
        // A name that no table can hold was entered, and cannot be found again.
        self.facts.malformed_lines = self.facts.malformed_lines.saturating_add(lost);
        Process {
            file: name.to_owned(),
            state: match recording.state {
                ProcessState::Clean if lost > 0 => ProcessState::BrokenLine,
                state => state,
            },
            dropped: 0,
            backend: Some(Backend::Python),
            pid: header.and_then(FunctionHeader::process).map(u64::from),
            exe: header
                .and_then(|header| header.field("exe"))
                .map(Into::into),
            detail: recording.first_error.as_deref().map(Into::into),
            names: interner.intern(&keys),
        }
    }
}

/// The functions under their repository's names, and how many have none.
fn keys(recording: &FunctionRecording<'_>) -> (Vec<String>, u64) {
    let places = Places::of(recording);
    let mut files: HashMap<&str, Option<CodePath>> = HashMap::new();
    let mut keys = Vec::with_capacity(recording.functions.len());
    let mut key = String::new();
    for function in &recording.functions {
        let named = || places.path(&function.file).map(|(path, _)| path);
        let path = files.entry(&function.file).or_insert_with(named);
        if let (Some(path), Ok(_)) = (path, FunctionName::new(&function.qualname)) {
            FunctionKey::write(path, &function.qualname, &mut key);
            keys.push(key.clone());
        }
    }
    let lost = recording.functions.len() - keys.len();
    keys.sort_unstable();
    keys.dedup();
    (keys, lost as u64)
}

/// Whose job a process says that it is of, as a sidecar would.
fn identity(header: &FunctionHeader) -> Option<Sidecar> {
    let shard: Option<u64> = parsed(header, "BUILDKITE_PARALLEL_JOB");
    let label = header.field("BUILDKITE_LABEL").map(str::to_owned);
    let step_key =
        parsed(header, "BUILDKITE_STEP_KEY").or_else(|| step_of_label(label.as_deref()?, shard));
    let job_id = parsed(header, "BUILDKITE_JOB_ID");
    let is_told = step_key.is_some() || job_id.is_some();
    is_told.then(|| Sidecar {
        step_key,
        label,
        job_id,
        shard,
        shard_count: parsed(header, "BUILDKITE_PARALLEL_JOB_COUNT"),
        retry_count: parsed(header, "BUILDKITE_RETRY_COUNT"),
        host: header.field("host").map(str::to_owned),
        ..Sidecar::default()
    })
}

/// A step without a key is known by its label. Those of its shards end in a number from 1.
fn step_of_label(label: &str, shard: Option<u64>) -> Option<StepKey> {
    let number = shard.map(|shard| format!(" {}", shard.saturating_add(1)));
    let label = match number {
        Some(number) => label.strip_suffix(number.as_str()).unwrap_or(label),
        None => label,
    };
    StepKey::new(label).ok()
}

fn parsed<T: FromStr>(header: &FunctionHeader, key: &str) -> Option<T> {
    header.field(key)?.parse().ok()
}
