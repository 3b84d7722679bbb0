//! The files of one job, as they pass by.

use super::job::{Job, Origin, Process, SidecarState};
use super::names::{Interner, Interners};
use super::python::PythonContent;
use kernrec_schemas::function_recording::is_function_recording_name;
use kernrec_schemas::id::Hasher;
use kernrec_schemas::recording::{ProcessState, Recording};
use kernrec_schemas::sidecar::Sidecar;
use kernrec_schemas::table::RowReason;
use kernrec_schemas::{Backend, Digest, KernelName, RowBackend, StepKey};
use kernrec_store::bundle::{BundleMeta, Part};
use std::collections::BTreeSet;

/// Takes the files of one half of one job in the order of their names.
pub(super) struct Content<'a> {
    part: Part,
    interners: &'a Interners,
    hasher: Buffered,
    sidecar: SidecarState,
    processes: Vec<Process>,
    python: PythonContent,
    is_there: bool,
    whole: bool,
}

impl<'a> Content<'a> {
    pub(super) fn new(part: Part, interners: &'a Interners) -> Self {
        Self {
            part,
            interners,
            hasher: Buffered::default(),
            sidecar: SidecarState::Missing,
            processes: Vec::new(),
            python: PythonContent::default(),
            is_there: false,
            whole: true,
        }
    }

    /// Takes one file; anything but the half's own is passed over.
    pub(super) fn file(&mut self, name: &str, bytes: &[u8]) {
        if Part::of(name.as_bytes()) != Some(self.part) {
            return;
        }
        self.is_there |= self.part.is_evidence(name.as_bytes());
        if name == self.part.sidecar() {
            self.sidecar = match Sidecar::parse(bytes) {
                Ok(sidecar) => SidecarState::Read(Box::new(sidecar)),
                Err(error) => SidecarState::Bad {
                    problem: error.to_string(),
                },
            };
        } else if self.part == Part::Kernels {
            let process = process(name, bytes, &self.interners.kernels);
            self.processes.push(process);
        } else {
            let process = self.python.file(name, bytes, &self.interners.functions);
            self.processes.extend(process);
        }
        self.hash(name.as_bytes());
        self.hash(bytes);
    }

    /// Takes a file that is there and cannot be read: its process's silence means nothing.
    pub(super) fn unreadable(&mut self, name: &str, problem: &str) {
        self.whole = false;
        self.is_there |= self.part.is_evidence(name.as_bytes());
        if name == self.part.sidecar() {
            self.sidecar = SidecarState::Bad {
                problem: problem.to_owned(),
            };
        } else if self.part == Part::Python && !is_function_recording_name(name) {
            self.python.facts.unreadable += 1;
        } else {
            if self.part == Part::Python {
                self.python.facts.unreadable += 1;
                self.python.facts.processes.add(ProcessState::BadHeader);
            }
            self.processes.push(Process {
                file: name.to_owned(),
                state: ProcessState::BadHeader,
                dropped: 0,
                backend: None,
                pid: None,
                exe: None,
                detail: Some(problem.into()),
                names: Vec::new(),
            });
        }
        self.hash(name.as_bytes());
        self.hash(problem.as_bytes());
    }

    fn hash(&mut self, bytes: &[u8]) {
        self.hasher.update(&(bytes.len() as u64).to_le_bytes());
        self.hasher.update(bytes);
    }

    /// Puts the job together; `origin` is told the content's digest and whether every file could be read. `None` when
    /// this half's recorder left neither sidecar nor recording: then this is no job of its.
    pub(super) fn finish(
        mut self,
        meta: BundleMeta,
        origin: impl FnOnce(Digest, bool) -> Origin,
    ) -> Option<Parsed> {
        if !self.is_there {
            return None;
        }
        if let (SidecarState::Missing, Some(told)) = (&self.sidecar, self.python.identity.take()) {
            self.sidecar = SidecarState::Read(Box::new(told));
        }
        let mut steps: BTreeSet<StepKey> = meta.step_key.into_iter().collect();
        let mut flaws = BTreeSet::new();
        match &self.sidecar {
            SidecarState::Read(sidecar) => {
                steps.extend(sidecar.step_key.clone());
                // A bundle's description and the sidecar in it may name two jobs.
                let named = sidecar.job_id.as_ref().filter(|id| !id.is_local());
                if !sidecar.faults.is_empty() || named.is_some_and(|id| *id != meta.job_id) {
                    flaws.insert(RowReason::BadSidecar);
                }
            }
            SidecarState::Bad { .. } => {
                flaws.insert(RowReason::BadSidecar);
            }
            SidecarState::Missing => {}
        }
        if steps.len() > 1 {
            // A bundle's description and the sidecar in it contradict each other.
            flaws.insert(RowReason::BadSidecar);
        }
        let job = Job {
            part: self.part,
            id: meta.job_id,
            step: None,
            layout: meta.layout,
            backend: match self.part {
                Part::Kernels => agreed_backend(&self.processes, &self.sidecar),
                Part::Python => python_backend(&self.sidecar),
            },
            facts: self.python.facts,
            libraries: self.python.libraries,
            sidecar: self.sidecar,
            processes: self.processes,
            flaws,
            origins: vec![origin(self.hasher.finish(), self.whole)],
        };
        Some(Parsed { job, steps })
    }
}

/// Both halves of one job.
pub(crate) struct ParsedJob {
    pub(super) kernels: Option<Parsed>,
    pub(super) python: Option<Parsed>,
}

impl ParsedJob {
    /// The half that a fold of this backend looks at.
    pub(crate) fn half(&self, backend: Backend) -> Option<&Parsed> {
        if backend.has_kernels() {
            self.kernels.as_ref()
        } else {
            self.python.as_ref()
        }
    }

    /// The digest and the size of the bundle it was read from.
    pub(crate) fn bundle(&self) -> Option<(Digest, u64)> {
        self.kernels.as_ref().or(self.python.as_ref())?.bundle()
    }
}

/// One half of a job as read from one place, before it is compared with the other places.
pub(crate) struct Parsed {
    pub(super) job: Job,
    /// The steps it claims: one, none, or several that contradict each other.
    pub(super) steps: BTreeSet<StepKey>,
}

impl Parsed {
    /// The digest over names and bytes of sidecar and recordings.
    pub(crate) fn content(&self) -> Option<Digest> {
        self.job.origins.first().map(Origin::content)
    }

    fn bundle(&self) -> Option<(Digest, u64)> {
        match self.job.origins.first()? {
            Origin::Bundle { digest, size, .. } => Some((*digest, *size)),
            Origin::Folder { .. } => None,
        }
    }
}

fn process(name: &str, bytes: &[u8], interner: &Interner<KernelName>) -> Process {
    let recording = Recording::read(bytes);
    let backend = recording.backend();
    let (pid, exe) = recording
        .header
        .map_or((None, None), |header| (header.pid, header.exe));
    Process {
        file: name.to_owned(),
        state: recording.state,
        dropped: recording.dropped,
        backend,
        pid,
        exe: exe.map(String::into_boxed_str),
        detail: recording.first_error.map(String::into_boxed_str),
        names: interner.intern(&recording.names),
    }
}

/// The backend on which headers and sidecar agree. Files without a readable header have no voice: their state
/// already keeps the row from being usable.
fn agreed_backend(processes: &[Process], sidecar: &SidecarState) -> RowBackend {
    let stated: Option<Backend> = match sidecar {
        SidecarState::Read(sidecar) => sidecar.backend,
        SidecarState::Missing | SidecarState::Bad { .. } => None,
    };
    let mut voices = processes
        .iter()
        .filter_map(|process| process.backend)
        .chain(stated);
    match voices.next() {
        Some(first) if first.has_kernels() && voices.all(|voice| voice == first) => {
            RowBackend::Known(first)
        }
        _ => RowBackend::Unknown,
    }
}

/// Only the Python recorder writes these files, so nothing but their sidecar can contradict them.
fn python_backend(sidecar: &SidecarState) -> RowBackend {
    match sidecar {
        SidecarState::Read(sidecar) if sidecar.backend.is_some_and(Backend::has_kernels) => {
            RowBackend::Unknown
        }
        _ => RowBackend::Known(Backend::Python),
    }
}

/// Hashes many small files in large pieces: BLAKE3 is five times as fast where it can take 16 KiB at once.
#[derive(Default)]
struct Buffered {
    hasher: Hasher,
    pending: Vec<u8>,
}

impl Buffered {
    const PIECE: usize = 64 * 1024;

    fn update(&mut self, mut bytes: &[u8]) {
        while self.pending.len() + bytes.len() >= Self::PIECE {
            let (now, later) = bytes.split_at(Self::PIECE - self.pending.len());
            if self.pending.is_empty() {
                self.hasher.update(now);
            } else {
                self.pending.extend_from_slice(now);
                self.hasher.update(&self.pending);
                self.pending.clear();
            }
            bytes = later;
        }
        self.pending.extend_from_slice(bytes);
    }

    fn finish(mut self) -> Digest {
        self.hasher.update(&self.pending);
        self.hasher.digest()
    }
}
