//! One run of a workflow.

use super::api::{Access, AccessError, Api};
use super::artifacts;
use super::jobs::{self, Job, Jobs};
use crate::ci::{Announcement, Ci, CiError, Gathered, Phase, Poll, State};
use crate::parallel::Patience;
use crate::step::Step;
use crate::workplace::Workplace;
use kernrec_schemas::{Commit, StepKey};
use serde::Deserialize;
use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

/// A run, seen from one of its jobs or from another run.
pub struct GitHub {
    api: Api,
    run: u64,
    is_own: bool,
    summary: Option<PathBuf>,
}

#[derive(Debug, Deserialize)]
struct RunState {
    #[serde(default)]
    status: Option<String>,
    #[serde(default)]
    head_sha: Option<String>,
}

impl GitHub {
    /// The run of this job, or another one; `summary` is the file that becomes the job's summary.
    pub fn new(
        access: Access,
        run: &str,
        is_own: bool,
        summary: Option<PathBuf>,
        patience: Patience,
    ) -> Result<Self, AccessError> {
        let run = run.parse().map_err(|_| AccessError::Run(run.to_owned()))?;
        Ok(Self {
            api: Api::new(access, patience)?,
            run,
            is_own,
            summary,
        })
    }

    /// The last attempt of each job, or all of them.
    fn jobs(&self, filter: &str) -> Result<Vec<Job>, CiError> {
        let path = format!("runs/{}/jobs?filter={filter}", self.run);
        self.api.all(&path, |page: Jobs| page.jobs)
    }

    fn state(&self) -> Result<RunState, CiError> {
        self.api.json(&format!("runs/{}", self.run))
    }

    /// A job that needs others is not listed before they are over. A run that is over starts no more.
    fn not_listed(&self) -> Poll {
        if !self.is_own {
            match self.state() {
                Ok(run) if run.status.as_deref() == Some("completed") => return Poll::Absent,
                Ok(_) => {}
                Err(error) => return Poll::Failed(error),
            }
        }
        Poll::State(State {
            phase: Phase::Waiting,
            word: "not started".to_owned(),
            passed: None,
        })
    }
}

impl Ci for GitHub {
    fn poll(&self, steps: &[&Step], _: Instant) -> Vec<Poll> {
        // Three requests at most, each with limits of its own.
        let jobs = match self.jobs("latest") {
            Ok(jobs) => jobs,
            Err(error) => return steps.iter().map(|_| Poll::Failed(error.clone())).collect(),
        };
        let state = |step: &&Step| match jobs::state(step, &jobs) {
            Some(state) => Poll::State(state),
            None => self.not_listed(),
        };
        steps.iter().map(state).collect()
    }

    fn commit(&self) -> Result<Option<Commit>, CiError> {
        let run = self.state()?;
        Ok(run.head_sha.and_then(|commit| commit.parse().ok()))
    }

    fn gather(&self, steps: &[Step], _: &[StepKey], place: &Workplace) -> Gathered {
        let mut gathered = artifacts::gather(&self.api, self.run, place);
        let jobs = self.jobs("all");
        gathered.jobs = jobs
            .ok()
            .and_then(|jobs| jobs::listed(self.run, steps, &jobs));
        gathered
    }

    fn announce(&self, announcement: &Announcement<'_>) -> Vec<String> {
        let Some(path) = &self.summary else {
            return Vec::new();
        };
        let appended = fs_err::OpenOptions::new()
            .create(true)
            .append(true)
            .open(path)
            .and_then(|mut file| file.write_all(announcement.text.as_bytes()));
        appended
            .err()
            .map(|error| error.to_string())
            .into_iter()
            .collect()
    }
}
