//! One set-up: from looking at the machine to the variables, and to the end.

use crate::cuda;
use crate::environment::Environment;
use crate::ffi::signals;
use crate::functions;
use crate::job::{self, Entry, Kind, Record, Setup, State};
use crate::options::{Options, Purpose};
use crate::provenance;
use crate::python;
use crate::reason::Unavailable;
use crate::rocm;
use crate::run::Watched;
use kernrec_schemas::Backend;
use kernrec_store::fsio;
use std::collections::hash_map::RandomState;
use std::ffi::{OsStr, OsString};
use std::hash::{BuildHasher as _, Hasher as _};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

/// Names the session and its folder to what runs in it: `<id>:<folder>`.
pub(crate) const SESSION: &str = "KERNREC_SESSION";
/// The folder that recorders write to.
pub(crate) const FOLDER: &str = "KERNREC_DIR";

/// vLLM gives its workers this many seconds to end, which they need to write the ends of their recordings;
/// its own default is 5.
pub(crate) const VLLM_SHUTDOWN: (&str, &str) = ("VLLM_WORKER_SHUTDOWN_TIMEOUT_SECONDS", "30");

/// Recordings of the largest steps seen are a few MiB; less than this would end in the middle of one.
const NEEDED_BYTES: u64 = 16 << 20;

/// Names in the sidecar's versions.
pub(crate) const ROCM: &str = "rocm";
pub(crate) const ROCPROFILER_SDK: &str = "rocprofiler-sdk";
const PYTHON: &str = "python";

/// The variables that a backend's recorder needs, and what to note of them.
#[derive(Debug, Default)]
pub(crate) struct Injection {
    driver: &'static str,
    recorder: &'static str,
    variables: Vec<(&'static str, OsString)>,
    notes: Vec<String>,
    versions: Vec<(&'static str, String)>,
}

impl Injection {
    /// Loads the library at `path` through `variable`. `driver` starts the name of the library without which no process
    /// uses the GPU.
    pub(crate) fn load(
        recorder: &'static str,
        variable: &'static str,
        path: &Path,
        driver: &'static str,
    ) -> Self {
        Self {
            driver,
            recorder,
            variables: vec![(variable, path.into())],
            ..Self::default()
        }
    }

    pub(crate) fn set(&mut self, name: &'static str, value: impl Into<OsString>) {
        self.variables.push((name, value.into()));
    }

    pub(crate) fn note(&mut self, text: impl Into<String>) {
        self.notes.push(text.into());
    }

    /// The version of something that the recorder uses.
    pub(crate) fn version(&mut self, of: &'static str, version: String) {
        self.versions.push((of, version));
    }
}

/// A workload that is set up, recorded or not.
#[derive(Debug)]
pub struct Session {
    id: String,
    record: Record,
    state: State,
    outer: Option<Outer>,
    standing: Standing,
    /// What the workload gets for each recorder.
    kernels: Vec<Variable>,
    python: Vec<Variable>,
    watched: Option<Watched>,
    problems: Vec<String>,
}

type Variable = (&'static str, OsString);

/// How a session stands to its folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    /// It writes there.
    Own,
    /// The folder is another job's, and stays as it is.
    Detached,
    /// The shell is set up already.
    Repeated,
}

/// The session that this process runs in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Outer {
    pub(crate) id: String,
    pub(crate) folder: PathBuf,
}

impl Outer {
    /// A session that has ended leaves its variables in the shell, and a container may get those of a session
    /// outside it, whose folder it does not have.
    fn is_open(&self) -> bool {
        let state = Record::at(&self.folder).state();
        state.is_some_and(|state| state.is_open(&self.id))
    }
}

/// How a session was finished.
#[derive(Debug, Default)]
pub struct Finished {
    /// The bundle, if one was packed.
    pub bundle: Option<PathBuf>,
    /// What went wrong, for people.
    pub problems: Vec<String>,
}

impl Session {
    /// Sets a workload up. Never fails: what stands in the way is in [`Session::problems`] and the sidecar.
    pub fn begin(options: &Options, environment: &Environment, purpose: Purpose<'_>) -> Self {
        signals::hold_file_size_signal();
        let (identity, fault) = options.identity.resolve(environment);
        let outer = outer(environment).filter(Outer::is_open);
        let folder = match (&options.dir, &outer) {
            // Within a set-up, the one in force unless another is asked for.
            (None, Some(outer)) => outer.folder.clone(),
            _ => job::choose(options.dir.as_deref(), &identity.job_id, environment),
        };
        let mut state = State::new(identity, environment);
        let backend = options.backend.resolve(environment);
        state.kernels = backend.map(|backend| kernels(backend, environment, purpose));
        let python = options.python.as_ref();
        state.python = python.map(|_| Setup::new(Backend::Python, environment));
        let mut session = Self::new(&folder, state, outer, purpose);
        if session.is_repeated(purpose) {
            session.standing = Standing::Repeated;
            return session;
        }
        if let Some(fault) = fault {
            session.spoil(&fault);
        }
        let checked = session.check_folder().and_then(|()| session.check_outer());
        match checked {
            Ok(()) => {
                session.prepare_kernels(options, environment, purpose);
                session.prepare_python(options, environment, purpose);
            }
            Err(reason) => session.give_up(&reason),
        }
        if session.standing == Standing::Own {
            session.write_down();
        }
        session
    }

    /// The variables to add to the workload's environment; none where it is not recorded.
    pub fn variables(&self) -> Vec<(&'static str, OsString)> {
        let mut variables = Vec::new();
        if self.is_available() {
            variables.push((SESSION, self.name()));
            variables.extend_from_slice(&self.kernels);
            variables.extend_from_slice(&self.python);
        }
        variables
    }

    /// Whether anything of the workload is recorded.
    pub fn is_available(&self) -> bool {
        self.state.is_available()
    }

    /// What stands in the way, for people.
    pub fn problems(&self) -> &[String] {
        &self.problems
    }

    /// How the workload's processes that are recorded are told from others; `None` where none is.
    pub(crate) fn watched(&self) -> Option<Watched> {
        self.watched.clone()
    }

    /// The job's folder.
    pub fn folder(&self) -> &Path {
        self.record.folder()
    }

    /// Writes the exit status and packs the bundle. `unrecorded` is how many processes are known to have run
    /// without a recorder.
    pub fn finish(self, status: i64, unrecorded: u64) -> Finished {
        match self.standing {
            Standing::Own => {}
            Standing::Detached | Standing::Repeated => return Finished::default(),
        }
        functions::withdraw(self.record.folder(), &self.id);
        let mut own = self.state;
        own.end(&self.id, Some(status), unrecorded);
        let id = self.id;
        end(&self.record, |found| match found {
            Some(mut state) if state.has_session(&id) => {
                state.end(&id, Some(status), unrecorded);
                Some(state)
            }
            Some(_) => None,
            // Nothing was written at the start, for a reason that is known; or it is gone.
            None => {
                own.give_up(&Unavailable::FolderLost);
                Some(own)
            }
        })
    }

    /// What a shell exports: the variables, and the session's name also where nothing is recorded.
    pub(crate) fn shell_variables(&self) -> Vec<(&'static str, OsString)> {
        let is_within_another = self
            .outer
            .as_ref()
            .is_some_and(|outer| outer.folder != self.folder());
        match self.standing {
            Standing::Own if self.is_available() => self.variables(),
            // The shell goes on to name the session that it runs in.
            Standing::Own if is_within_another => Vec::new(),
            Standing::Own => vec![(SESSION, self.name())],
            Standing::Detached | Standing::Repeated => Vec::new(),
        }
    }

    /// The workload runs unrecorded after all.
    pub(crate) fn give_up(&mut self, reason: &Unavailable) {
        self.problems.push(reason.text());
        self.give_up_kernels(reason);
        self.give_up_python(reason);
        if let Unavailable::NotFresh { .. } = reason {
            self.standing = Standing::Detached;
        }
    }

    fn give_up_kernels(&mut self, reason: &Unavailable) {
        self.watched = None;
        let Some(setup) = &mut self.state.kernels else {
            return;
        };
        setup.give_up(reason);
        for (name, _) in self.kernels.drain(..) {
            setup.environment.remove(name);
        }
        if let Unavailable::SdkVersion { found, .. } = reason {
            let versions = &mut setup.versions;
            versions.insert(ROCPROFILER_SDK.to_owned(), found.clone());
        }
        for entry in &mut self.state.sessions {
            // The command itself; what it starts is not known.
            entry.unrecorded = u64::from(entry.kind == Kind::Run);
        }
    }

    fn give_up_python(&mut self, reason: &Unavailable) {
        functions::withdraw(self.record.folder(), &self.id);
        self.python.clear();
        let Some(setup) = &mut self.state.python else {
            return;
        };
        setup.give_up(reason);
        for entry in &mut self.state.sessions {
            entry.unrecorded_python = u64::from(entry.kind == Kind::Run);
        }
    }

    /// As [`Session::give_up`], once the start has been written.
    pub(crate) fn give_up_late(&mut self, reason: &Unavailable) {
        self.give_up(reason);
        let own = self.state.clone();
        let id = &self.id;
        let written = self.record.update(|found| match found {
            Some(mut state) if state.has_session(id) => {
                state.give_up(reason);
                for entry in &own.sessions {
                    state.replace(entry);
                }
                Some(state)
            }
            Some(_) => None,
            None => Some(own),
        });
        if let Err(error) = written {
            self.problems.push(error.text());
        }
    }

    fn new(folder: &Path, mut state: State, outer: Option<Outer>, purpose: Purpose<'_>) -> Self {
        let id = random_id();
        let kind = match purpose {
            Purpose::Command(_) => Kind::Run,
            Purpose::Shell => Kind::Env,
        };
        state.sessions.push(Entry {
            id: id.clone(),
            kind,
            status: None,
            unrecorded: 0,
            unrecorded_python: 0,
        });
        Self {
            id,
            record: Record::at(folder),
            state,
            outer,
            standing: Standing::Own,
            kernels: Vec::new(),
            python: Vec::new(),
            watched: None,
            problems: Vec::new(),
        }
    }

    /// The recordings are made, and cannot be trusted.
    fn spoil(&mut self, reason: &Unavailable) {
        let text = reason.text();
        for setup in self.state.setups_mut() {
            setup.set_error(text.clone());
        }
        self.problems.push(text);
    }

    fn prepare_kernels(
        &mut self,
        options: &Options,
        environment: &Environment,
        purpose: Purpose<'_>,
    ) {
        let Some(setup) = &self.state.kernels else {
            return;
        };
        match prepare(setup.backend, options, environment, purpose) {
            Ok(injection) => self.take(injection),
            Err(reason) => {
                self.problems.push(reason.text());
                self.give_up_kernels(&reason);
            }
        }
    }

    fn prepare_python(
        &mut self,
        options: &Options,
        environment: &Environment,
        purpose: Purpose<'_>,
    ) {
        let (Some(options), Some(setup)) = (&options.python, &mut self.state.python) else {
            return;
        };
        let job = functions::Job {
            folder: self.record.folder(),
            id: &self.id,
        };
        match functions::prepare(options, environment, purpose, job) {
            Ok(prepared) => {
                self.python = prepared.variables;
                let versions = &mut setup.versions;
                versions.insert(PYTHON.to_owned(), prepared.version);
            }
            Err(reason) => {
                self.problems.push(reason.text());
                self.give_up_python(&reason);
            }
        }
    }

    fn take(&mut self, injection: Injection) {
        self.kernels = vec![(FOLDER, self.folder().as_os_str().to_owned())];
        let variable = injection.variables.first();
        self.watched = variable.map(|(variable, _)| Watched {
            variable,
            recorder: injection.recorder,
            folder_variable: FOLDER,
            folder: self.folder().to_path_buf(),
            driver: injection.driver,
        });
        self.kernels.extend(injection.variables);
        // What the workload gets is what it ran with.
        for setup in self.state.setups_mut() {
            provenance::add(&mut setup.environment, &self.kernels);
        }
        if let Some(setup) = &mut self.state.kernels {
            setup.notes = injection.notes;
            let versions = injection.versions.into_iter();
            let versions = versions.map(|(of, version)| (of.to_owned(), version));
            setup.versions.extend(versions);
        }
    }

    fn name(&self) -> OsString {
        let mut name = self.id.clone().into_bytes();
        name.push(b':');
        name.extend_from_slice(self.folder().as_os_str().as_bytes());
        OsString::from_vec(name)
    }

    /// A shell that takes the variables a second time has them already.
    fn is_repeated(&self, purpose: Purpose<'_>) -> bool {
        let (Purpose::Shell, Some(outer)) = (purpose, &self.outer) else {
            return false;
        };
        let open = self.record.state().map(|state| state.open_shells());
        outer.folder == self.folder() && open.is_some_and(|open| open.contains(&outer.id))
    }

    /// The folder is fresh or this job's, exists, and has room.
    fn check_folder(&self) -> Result<(), Unavailable> {
        let folder = self.folder();
        let not_fresh = || Unavailable::NotFresh {
            path: folder.to_path_buf(),
        };
        match self.record.state() {
            Some(state) if !self.joins(&state) => return Err(not_fresh()),
            None if !job::is_fresh(folder) => return Err(not_fresh()),
            Some(_) | None => {}
        }
        job::make(folder).map_err(Unavailable::Folder)?;
        let free = fsio::available_space(folder).map_err(Unavailable::Folder)?;
        if free < NEEDED_BYTES {
            return Err(Unavailable::NoSpace {
                path: folder.to_path_buf(),
                free,
                needed: NEEDED_BYTES,
            });
        }
        Ok(())
    }

    /// Another folder than that of the session around would take recordings away from it.
    fn check_outer(&self) -> Result<(), Unavailable> {
        match &self.outer {
            Some(outer) if outer.folder != self.folder() => Err(Unavailable::Nested {
                outer: outer.folder.clone(),
            }),
            Some(_) | None => Ok(()),
        }
    }

    /// Whether this is a further command of the job whose state was found, whatever else it says of the job. A local
    /// run has no id to know its job by, and joins only from within.
    fn joins(&self, found: &State) -> bool {
        let is_within = self
            .outer
            .as_ref()
            .is_some_and(|outer| found.has_session(&outer.id));
        found.identity.is_same_job(&self.state.identity)
            && (is_within || !found.identity.is_local())
    }

    /// Writes the start down. Where that cannot be done the workload runs unrecorded, and nothing may pass for all of
    /// the job.
    fn write_down(&mut self) {
        match self.write_start() {
            Ok(()) => self.record.reopen_bundle(),
            Err(reason) => {
                self.give_up(&reason);
                if self.standing == Standing::Own {
                    self.record.withdraw(|found| self.joins(found));
                }
            }
        }
    }

    /// The sidecar with its null status. Where it cannot be written nothing may be recorded: recordings
    /// without it would be somebody's, and nobody's.
    fn write_start(&self) -> Result<(), Unavailable> {
        self.record.update(|found| match found {
            Some(mut state) if self.joins(&state) => {
                let outer = self.outer.as_ref();
                let is_within = outer.is_some_and(|outer| state.has_session(&outer.id));
                state.join(&self.state, is_within);
                Some(state)
            }
            Some(_) => None,
            None => Some(self.state.clone()),
        })
    }
}

/// Changes the state for the end, then packs.
pub(crate) fn end(
    record: &Record,
    change: impl FnOnce(Option<State>) -> Option<State>,
) -> Finished {
    signals::hold_file_size_signal();
    let mut finished = Finished::default();
    if let Err(reason) = record.update(change) {
        finished.problems.push(reason.text());
    }
    match record.pack() {
        Ok(path) => finished.bundle = Some(path),
        Err(error) => finished
            .problems
            .push(format!("{}: {error}", error.reason())),
    }
    finished
}

/// The session that this process runs in.
pub(crate) fn outer(environment: &Environment) -> Option<Outer> {
    let name = environment.set(SESSION)?.as_bytes();
    let colon = name.iter().position(|byte| *byte == b':')?;
    let id = std::str::from_utf8(&name[..colon]).ok()?.to_owned();
    let folder = Path::new(OsStr::from_bytes(&name[colon + 1..])).to_path_buf();
    (is_id(&id) && folder.is_absolute()).then_some(Outer { id, folder })
}

/// The set-up of the kernel recorder of a backend before anything is done for it.
fn kernels(backend: Backend, environment: &Environment, purpose: Purpose<'_>) -> Setup {
    let mut setup = Setup::new(backend, environment);
    setup.versions = python::versions(environment, purpose);
    if backend == Backend::Rocm {
        let release = rocm::installed(environment);
        let release = release.map(|it| (ROCM.to_owned(), it));
        setup.versions.extend(release);
    }
    setup
}

fn prepare(
    backend: Backend,
    options: &Options,
    environment: &Environment,
    purpose: Purpose<'_>,
) -> Result<Injection, Unavailable> {
    match backend {
        Backend::Cuda => cuda::prepare(options, environment, purpose),
        Backend::Rocm => rocm::prepare(options, environment, purpose),
        other => Err(Unavailable::NoRecorder(other)),
    }
}

fn random_id() -> String {
    // Random, as the standard library's hash keys are; the process id tells apart what copies them.
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u32(std::process::id());
    format!("{:016x}", hasher.finish())
}

/// Whether a text is a session's id.
pub(crate) fn is_id(text: &str) -> bool {
    text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
