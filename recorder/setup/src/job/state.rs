//! What set-up remembers between start and end, and between the commands of one job.
//!
//! A job may run several commands, each set up on its own, even at once. So the state lists them: the job
//! has an exit status once all of them have one.

use crate::identity::Resolved;
use crate::provenance;
use crate::rocm::EXPECTED_SDK;
use kernrec_schemas::Backend;
use kernrec_schemas::json::{self, DocumentError, MAX_SMALL_BYTES};
use kernrec_schemas::sidecar::{Provenance, SidecarDocument};
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
}

/// The state of a job's folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct State {
    pub(crate) identity: Resolved,
    pub(crate) host: String,
    pub(crate) backend: Backend,
    pub(crate) available: bool,
    pub(crate) error: Option<String>,
    pub(crate) branch: Option<String>,
    pub(crate) environment: BTreeMap<String, String>,
    /// Versions of the packages that bring kernels.
    #[serde(default)]
    pub(crate) versions: BTreeMap<String, String>,
    pub(crate) notes: Vec<String>,
    pub(crate) sessions: Vec<Entry>,
    /// The file name of the bundle packed last.
    pub(crate) bundle: Option<String>,
}

impl State {
    /// A job of which nothing has run.
    pub(crate) fn new(
        identity: Resolved,
        backend: Backend,
        environment: &crate::Environment,
    ) -> Self {
        Self {
            identity,
            host: provenance::host(),
            backend,
            available: true,
            error: None,
            branch: provenance::branch(environment),
            environment: provenance::variables(environment),
            versions: BTreeMap::new(),
            notes: Vec::new(),
            sessions: Vec::new(),
            bundle: None,
        }
    }

    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, DocumentError> {
        json::read(DOCUMENT, bytes, MAX_SMALL_BYTES)
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        json::canonical(self)
    }

    /// The first reason that stands is the one that is told.
    pub(crate) fn set_error(&mut self, text: String) {
        self.error.get_or_insert(text);
    }

    /// Takes a further set-up of the same job in.
    pub(crate) fn join(&mut self, other: &Self) {
        self.available &= other.available && self.backend == other.backend;
        if let Some(error) = &other.error {
            self.set_error(error.clone());
        }
        if let Some(fault) = self.identity.disagreement(&other.identity) {
            self.set_error(fault.text());
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
        self.sessions.extend_from_slice(&other.sessions);
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

    /// The sidecar that says all this.
    pub(crate) fn sidecar(&self) -> SidecarDocument {
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
            backend: Some(self.backend),
            recorder: Some(self.backend.recorder().to_owned()),
            collection_available: Some(self.available),
            collection_error: self.error.clone(),
            retry_count: self.identity.retry_count.clone(),
            variant: self.identity.variant.clone(),
            unrecorded_processes: self.sessions.iter().map(|entry| entry.unrecorded).sum(),
            provenance: Provenance {
                ci_infra_branch: self.branch.clone(),
                versions: self.versions.clone(),
                expected_rocprofiler_sdk: (self.backend == Backend::Rocm)
                    .then(|| EXPECTED_SDK.to_owned()),
                environment: self.environment.clone(),
                notes: self.notes.clone(),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Environment;

    fn state(statuses: &[Option<i64>]) -> State {
        let mut state = State::new(Resolved::default(), Backend::Cuda, &Environment::default());
        let entry = |(n, status): (usize, &Option<i64>)| Entry {
            id: n.to_string(),
            kind: Kind::Env,
            status: *status,
            unrecorded: 0,
        };
        state.sessions = statuses.iter().enumerate().map(entry).collect();
        state
    }

    #[test]
    fn a_job_has_ended_when_all_of_it_has() {
        for (statuses, expected) in [
            (&[][..], None),
            (&[Some(0)], Some(0)),
            (&[Some(0), None], None),
            (&[Some(7), None], None),
            (&[Some(0), Some(7), Some(3)], Some(7)),
        ] {
            assert_eq!(state(statuses).sidecar().exit_status, expected);
        }
    }

    #[test]
    fn a_failure_said_later_replaces_a_success_and_nothing_else_changes() {
        for (said, expected) in [
            (&[Some(0), Some(0)][..], Some(0)),
            (&[Some(0), Some(5)], Some(5)),
            (&[Some(5), Some(0)], Some(5)),
            (&[Some(5), Some(6)], Some(5)),
            (&[None, Some(0)], Some(0)),
            (&[Some(0), None], Some(0)),
        ] {
            let mut state = state(&[None]);
            for status in said {
                state.end("0", *status, 0);
            }
            assert_eq!(state.sidecar().exit_status, expected, "{said:?}");
        }
    }

    #[test]
    fn joining_never_makes_a_job_healthier() {
        let mut first = state(&[None]);
        let mut second = state(&[None]);
        second.available = false;
        second.set_error("recorder-missing: x".to_owned());
        first.join(&second);
        let sidecar = first.sidecar();
        assert_eq!(sidecar.collection_available, Some(false));
        assert_eq!(
            sidecar.collection_error.as_deref(),
            Some("recorder-missing: x")
        );
        assert_eq!(first.sessions.len(), 2);
    }

    #[test]
    fn the_state_reads_back() {
        let state = state(&[Some(0), None]);
        assert_eq!(State::parse(&state.to_bytes()).unwrap(), state);
        assert!(State::parse(b"{}").is_err());
    }
}
