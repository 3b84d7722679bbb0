//! What set-up remembers between start and end, and between the commands of one job.
//!
//! A job may run several commands, each set up on its own, even at once. So the state lists them: the job
//! has an exit status once all of them have one.

use crate::identity::Resolved;
use crate::provenance;
use crate::reason::Unavailable;
use crate::rocm::EXPECTED_SDK;
use kernrec_schemas::Backend;
use kernrec_schemas::json::{self, DocumentError, MAX_SMALL_BYTES};
use kernrec_schemas::sidecar::{Provenance, SidecarDocument};
use kernrec_store::bundle::Part;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

const DOCUMENT: &str = "set-up state";

/// How a session came about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    /// One command.
    Run,
    /// A shell took the variables.
    Env,
}

/// One set-up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Entry {
    pub(crate) id: String,
    pub(crate) kind: Kind,
    pub(crate) status: Option<i64>,
    pub(crate) unrecorded: u64,
    /// Commands that the Python recorder did not see.
    #[serde(default)]
    pub(crate) unrecorded_python: u64,
}

/// What one recorder was set up for, and how that went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Setup {
    pub(crate) backend: Backend,
    pub(crate) available: bool,
    pub(crate) error: Option<String>,
    pub(crate) environment: BTreeMap<String, String>,
    /// Versions of the packages that bring what is recorded.
    pub(crate) versions: BTreeMap<String, String>,
    pub(crate) notes: Vec<String>,
}

/// The state of a job's folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct State {
    pub(crate) identity: Resolved,
    pub(crate) host: String,
    pub(crate) branch: Option<String>,
    /// What was asked for; neither knows of the other.
    pub(crate) kernels: Option<Setup>,
    pub(crate) python: Option<Setup>,
    pub(crate) sessions: Vec<Entry>,
    /// The file name of the bundle packed last.
    pub(crate) bundle: Option<String>,
}

impl Setup {
    pub(crate) fn new(backend: Backend, environment: &crate::Environment) -> Self {
        Self {
            backend,
            available: true,
            error: None,
            environment: provenance::variables(environment),
            versions: BTreeMap::new(),
            notes: Vec::new(),
        }
    }

    /// The first reason that stands is the one that is told.
    pub(crate) fn set_error(&mut self, text: String) {
        self.error.get_or_insert(text);
    }

    pub(crate) fn give_up(&mut self, reason: &Unavailable) {
        self.available = false;
        self.set_error(reason.text());
    }

    /// Takes a further set-up of the same recorder in.
    fn join(&mut self, other: &Self) {
        self.available &= other.available && self.backend == other.backend;
        if let Some(error) = &other.error {
            self.set_error(error.clone());
        }
        if self.backend != other.backend {
            self.set_error(format!(
                "several-backends: set up for {} and for {}",
                self.backend, other.backend
            ));
        }
        for note in &other.notes {
            if !self.notes.contains(note) {
                self.notes.push(note.clone());
            }
        }
        // Where commands have environments of their own, the first that has a package is told.
        for (package, version) in &other.versions {
            let versions = &mut self.versions;
            versions
                .entry(package.clone())
                .or_insert_with(|| version.clone());
        }
    }
}

/// Takes a further set-up in, of which either may be without the recorder. What one command of a job entered or
/// launched unseen is nobody's silence to speak for; within another set-up its recorder goes on.
fn join(known: &mut Option<Setup>, other: Option<&Setup>, is_within: bool) {
    match (known.as_mut(), other) {
        (Some(known), Some(other)) => known.join(other),
        (Some(known), None) if !is_within => known.give_up(&Unavailable::NotInEveryCommand),
        (Some(_) | None, None) => {}
        (None, Some(other)) => {
            let mut other = other.clone();
            other.give_up(&Unavailable::NotInEveryCommand);
            *known = Some(other);
        }
    }
}

impl State {
    /// A job of which nothing has run, and nothing is recorded.
    pub(crate) fn new(identity: Resolved, environment: &crate::Environment) -> Self {
        Self {
            identity,
            host: provenance::host(),
            branch: provenance::branch(environment),
            kernels: None,
            python: None,
            sessions: Vec::new(),
            bundle: None,
        }
    }

    pub(crate) fn setups(&self) -> impl Iterator<Item = &Setup> {
        self.kernels.iter().chain(&self.python)
    }

    pub(crate) fn setups_mut(&mut self) -> impl Iterator<Item = &mut Setup> {
        self.kernels.iter_mut().chain(&mut self.python)
    }

    /// Whether anything is recorded.
    pub(crate) fn is_available(&self) -> bool {
        self.setups().any(|setup| setup.available)
    }

    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, DocumentError> {
        json::read(DOCUMENT, bytes, MAX_SMALL_BYTES)
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        json::canonical(self)
    }

    /// Takes a further set-up of the same job in; `is_within`: it was made by what an earlier one set up.
    pub(crate) fn join(&mut self, other: &Self, is_within: bool) {
        join(&mut self.kernels, other.kernels.as_ref(), is_within);
        join(&mut self.python, other.python.as_ref(), is_within);
        if let Some(fault) = self.identity.disagreement(&other.identity) {
            for setup in self.setups_mut() {
                setup.set_error(fault.text());
            }
        }
        self.sessions.extend_from_slice(&other.sessions);
    }

    /// The workload's commands ran unrecorded.
    pub(crate) fn give_up(&mut self, reason: &Unavailable) {
        for setup in self.setups_mut() {
            setup.give_up(reason);
        }
    }

    /// Writes down how a session ended. Said twice, the first status counts, unless it was a good one and
    /// the later is not.
    pub(crate) fn end(&mut self, id: &str, status: Option<i64>, unrecorded: u64) {
        for entry in self.sessions.iter_mut().filter(|entry| entry.id == id) {
            entry.unrecorded = entry.unrecorded.max(unrecorded);
            if let (None | Some(0), Some(_)) = (entry.status, status) {
                entry.status = status;
            }
        }
    }

    /// Takes over what is known of a session.
    pub(crate) fn replace(&mut self, known: &Entry) {
        let same = self.sessions.iter_mut().find(|entry| entry.id == known.id);
        if let Some(entry) = same {
            *entry = known.clone();
        }
    }

    pub(crate) fn has_session(&self, id: &str) -> bool {
        self.sessions.iter().any(|entry| entry.id == id)
    }

    pub(crate) fn is_open(&self, id: &str) -> bool {
        let mut open = self.sessions.iter().filter(|entry| entry.status.is_none());
        open.any(|entry| entry.id == id)
    }

    /// The sessions that a shell took and has not finished.
    pub(crate) fn open_shells(&self) -> Vec<String> {
        self.sessions
            .iter()
            .filter(|entry| entry.kind == Kind::Env && entry.status.is_none())
            .map(|entry| entry.id.clone())
            .collect()
    }

    /// Null until every session has ended; then that of the first that failed, else 0.
    fn exit_status(&self) -> Option<i64> {
        let statuses: Option<Vec<i64>> = self.sessions.iter().map(|entry| entry.status).collect();
        let statuses = statuses.filter(|statuses| !statuses.is_empty())?;
        statuses
            .iter()
            .copied()
            .find(|status| *status != 0)
            .or(Some(0))
    }

    /// The sidecars that say all this, one for each recorder.
    pub(crate) fn sidecars(&self) -> Vec<(Part, SidecarDocument)> {
        let sum = |count: fn(&Entry) -> u64| self.sessions.iter().map(count).sum();
        let kernels = self.kernels.iter().map(|setup| {
            let unrecorded = sum(|entry| entry.unrecorded);
            (Part::Kernels, self.sidecar(setup, unrecorded))
        });
        let python = self.python.iter().map(|setup| {
            let unrecorded = sum(|entry| entry.unrecorded_python);
            (Part::Python, self.sidecar(setup, unrecorded))
        });
        kernels.chain(python).collect()
    }

    fn sidecar(&self, setup: &Setup, unrecorded_processes: u64) -> SidecarDocument {
        SidecarDocument {
            step_key: self.identity.step_key.clone(),
            label: self.identity.label.clone(),
            job_id: self.identity.job_id.clone(),
            build: self.identity.build.clone(),
            commit: self.identity.commit.clone(),
            parallel_job: self.identity.shard.clone(),
            parallel_job_count: self.identity.shard_count.clone(),
            exit_status: self.exit_status(),
            host: self.host.clone(),
            backend: Some(setup.backend),
            recorder: Some(setup.backend.recorder().to_owned()),
            collection_available: Some(setup.available),
            collection_error: setup.error.clone(),
            retry_count: self.identity.retry_count.clone(),
            variant: self.identity.variant.clone(),
            unrecorded_processes,
            provenance: Provenance {
                ci_infra_branch: self.branch.clone(),
                versions: setup.versions.clone(),
                expected_rocprofiler_sdk: (setup.backend == Backend::Rocm)
                    .then(|| EXPECTED_SDK.to_owned()),
                environment: setup.environment.clone(),
                notes: setup.notes.clone(),
            },
        }
    }
}

#[cfg(test)]
mod tests;
