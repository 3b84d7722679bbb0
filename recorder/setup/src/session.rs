//! One set-up: from looking at the machine to the variables, and to the end.

use crate::cuda;
use crate::environment::Environment;
use crate::ffi::signals;
use crate::job::{self, Entry, Kind, Record, State};
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
const FOLDER: &str = "KERNREC_DIR";

/// vLLM gives its workers this many seconds to end, which they need to write the ends of their recordings;
/// its own default is 5.
pub(crate) const VLLM_SHUTDOWN: (&str, &str) = ("VLLM_WORKER_SHUTDOWN_TIMEOUT_SECONDS", "30");

/// Recordings of the largest steps seen are a few MiB; less than this would end in the middle of one.
const NEEDED_BYTES: u64 = 16 << 20;

/// Names in the sidecar's versions.
pub(crate) const ROCM: &str = "rocm";
pub(crate) const ROCPROFILER_SDK: &str = "rocprofiler-sdk";

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
    variables: Vec<(&'static str, OsString)>,
    watched: Option<Watched>,
    problems: Vec<String>,
}

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
        let backend = options.backend.resolve(environment);
        let mut state = State::new(identity, backend, environment);
        state.versions = python::versions(environment, purpose);
        if backend == Backend::Rocm {
            let release = rocm::installed(environment);
            state
                .versions
                .extend(release.map(|it| (ROCM.to_owned(), it)));
        }
        let mut session = Self::new(&folder, state, outer, purpose);
        if session.is_repeated(purpose) {
            session.standing = Standing::Repeated;
            return session;
        }
        if let Some(fault) = fault {
            session.spoil(&fault);
        }
        let prepared = session
            .check_folder()
            .and_then(|()| session.check_outer())
            .and_then(|()| prepare(backend, options, environment, purpose));
        match prepared {
            Ok(injection) => session.take(injection),
            Err(reason) => session.give_up(&reason),
        }
        if session.standing == Standing::Own {
            session.write_down();
        }
        session
    }

    /// The variables to add to the workload's environment; none where it is not recorded.
    pub fn variables(&self) -> &[(&'static str, OsString)] {
        &self.variables
    }

    /// Whether the workload is recorded.
    pub fn is_available(&self) -> bool {
        self.state.available
    }

    /// What stands in the way, for people.
    pub fn problems(&self) -> &[String] {
        &self.problems
    }

    /// How the workload's processes that are recorded are told from others; `None` where none is.
    pub(crate) fn watched(&self) -> Option<Watched> {
        self.watched.clone().filter(|_| self.is_available())
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
                own.available = false;
                own.set_error(Unavailable::FolderLost.text());
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
            Standing::Own if self.state.available => self.variables.clone(),
            // The shell goes on to name the session that it runs in.
            Standing::Own if is_within_another => Vec::new(),
            Standing::Own => vec![(SESSION, self.name())],
            Standing::Detached | Standing::Repeated => Vec::new(),
        }
    }

    /// The workload runs unrecorded after all.
    pub(crate) fn give_up(&mut self, reason: &Unavailable) {
        self.state.available = false;
        for (name, _) in self.variables.drain(..) {
            self.state.environment.remove(name);
        }
        if let Unavailable::SdkVersion { found, .. } = reason {
            let versions = &mut self.state.versions;
            versions.insert(ROCPROFILER_SDK.to_owned(), found.clone());
        }
        self.spoil(reason);
        if let Unavailable::NotFresh { .. } = reason {
            self.standing = Standing::Detached;
        }
        for entry in &mut self.state.sessions {
            // The command itself; what it starts is not known.
            entry.unrecorded = u64::from(entry.kind == Kind::Run);
        }
    }

    /// As [`Session::give_up`], once the start has been written.
    pub(crate) fn give_up_late(&mut self, reason: &Unavailable) {
        self.give_up(reason);
        let own = self.state.clone();
        let id = &self.id;
        let written = self.record.update(|found| match found {
            Some(mut state) if state.has_session(id) => {
                state.available = false;
                state.set_error(reason.text());
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
        });
        Self {
            id,
            record: Record::at(folder),
            state,
            outer,
            standing: Standing::Own,
            variables: Vec::new(),
            watched: None,
            problems: Vec::new(),
        }
    }

    /// The recordings are made, and cannot be trusted.
    fn spoil(&mut self, reason: &Unavailable) {
        let text = reason.text();
        self.problems.push(text.clone());
        self.state.set_error(text);
    }

    fn take(&mut self, injection: Injection) {
        self.variables = vec![
            (FOLDER, self.folder().as_os_str().to_owned()),
            (SESSION, self.name()),
        ];
        let variable = injection.variables.first();
        self.watched = variable.map(|(variable, _)| Watched {
            variable,
            recorder: injection.recorder,
            folder_variable: FOLDER,
            folder: self.folder().to_path_buf(),
            driver: injection.driver,
        });
        self.variables.extend(injection.variables);
        // What the workload gets is what it ran with.
        provenance::add(&mut self.state.environment, &self.variables);
        self.state.notes = injection.notes;
        let versions = injection.versions.into_iter();
        let versions = versions.map(|(of, version)| (of.to_owned(), version));
        self.state.versions.extend(versions);
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
                state.join(&self.state);
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

fn is_id(text: &str) -> bool {
    text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
