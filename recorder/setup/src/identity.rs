//! Whose recordings these are: flags first, then the CI system's environment.

use crate::environment::Environment;
use crate::reason::Unavailable;
use kernrec_schemas::{Commit, JobId, StepKey, Variant};
use serde::{Deserialize, Serialize};
use std::fmt::Display;
use std::str::FromStr;

/// The job id where no CI system gives one. It tells no job from another.
pub(crate) const LOCAL: &str = "local";

/// What is known of a job; `None` and the empty text both stand for "not known".
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Identity {
    /// The step's key.
    pub step_key: Option<String>,
    /// The step's label, any text.
    pub label: Option<String>,
    /// The job.
    pub job_id: Option<String>,
    /// The build's number.
    pub build: Option<String>,
    /// The commit under test.
    pub commit: Option<String>,
    /// The shard's index from 0.
    pub shard: Option<String>,
    /// How many shards the step has.
    pub shard_count: Option<String>,
    /// Which attempt this is, from 0.
    pub retry_count: Option<String>,
    /// The image variant.
    pub variant: Option<String>,
}

/// An identity that a sidecar can hold.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Resolved {
    pub(crate) step_key: String,
    pub(crate) label: String,
    pub(crate) job_id: String,
    pub(crate) build: String,
    pub(crate) commit: String,
    pub(crate) shard: String,
    pub(crate) shard_count: String,
    pub(crate) retry_count: String,
    pub(crate) variant: String,
}

impl Resolved {
    /// Whether a job id of CI tells this job from others.
    pub(crate) fn is_local(&self) -> bool {
        self.job_id == LOCAL
    }

    /// Whether two set-ups say the same of their jobs.
    pub(crate) fn agrees_with(&self, other: &Self) -> bool {
        (&self.job_id, &self.step_key, &self.build, &self.commit)
            == (&other.job_id, &other.step_key, &other.build, &other.commit)
            && (&self.shard, &self.retry_count, &self.variant)
                == (&other.shard, &other.retry_count, &other.variant)
    }
}

impl Identity {
    /// Fills what the flags left open. A value that no sidecar may hold is left out and comes back as the
    /// reason why the recordings cannot be trusted: a shard or variant left out in silence would be another.
    pub(crate) fn resolve(&self, environment: &Environment) -> (Resolved, Option<Unavailable>) {
        let mut fault = None;
        let shard = or(
            self.shard.as_deref(),
            environment,
            &["BUILDKITE_PARALLEL_JOB"],
        );
        let count = or(
            self.shard_count.as_deref(),
            environment,
            &["BUILDKITE_PARALLEL_JOB_COUNT"],
        );
        let resolved = Resolved {
            step_key: checked::<StepKey>(
                "step",
                or(
                    self.step_key.as_deref(),
                    environment,
                    &["BUILDKITE_STEP_KEY", "GITHUB_JOB"],
                ),
                &mut fault,
            ),
            label: or(self.label.as_deref(), environment, &["BUILDKITE_LABEL"]),
            job_id: checked::<JobId>("job-id", self.job(environment, &shard), &mut fault),
            build: or(
                self.build.as_deref(),
                environment,
                &["BUILDKITE_BUILD_NUMBER", "GITHUB_RUN_NUMBER"],
            ),
            commit: checked::<Commit>("commit", self.commit(environment), &mut fault),
            shard: checked::<u64>("shard", shard, &mut fault),
            shard_count: checked::<u64>("shards", count, &mut fault),
            retry_count: checked::<u64>("retry", self.retry(environment), &mut fault),
            variant: checked::<Variant>(
                "variant",
                or(self.variant.as_deref(), environment, &["KERNREC_VARIANT"]),
                &mut fault,
            ),
        };
        (resolved.with_job(), fault)
    }

    /// GitHub's environment has no id of a job: run, attempt, the job's key and the shard make one.
    fn job(&self, environment: &Environment, shard: &str) -> String {
        let named = or(self.job_id.as_deref(), environment, &["BUILDKITE_JOB_ID"]);
        if !named.is_empty() {
            return named;
        }
        let Some(run) = environment.text("GITHUB_RUN_ID") else {
            return String::new();
        };
        let attempt = environment.text("GITHUB_RUN_ATTEMPT").unwrap_or("1");
        let job = environment.text("GITHUB_JOB").unwrap_or("job");
        let dash = if shard.is_empty() { "" } else { "-" };
        format!("{run}-{attempt}-{job}{dash}{shard}")
    }

    /// A build made by hand may say `HEAD`, which names no commit.
    fn commit(&self, environment: &Environment) -> String {
        let commit = or(
            self.commit.as_deref(),
            environment,
            &["BUILDKITE_COMMIT", "GITHUB_SHA"],
        );
        if commit == "HEAD" {
            String::new()
        } else {
            commit
        }
    }

    /// GitHub counts attempts from 1.
    fn retry(&self, environment: &Environment) -> String {
        let named = or(
            self.retry_count.as_deref(),
            environment,
            &["BUILDKITE_RETRY_COUNT"],
        );
        if !named.is_empty() {
            return named;
        }
        let attempt = environment.text("GITHUB_RUN_ATTEMPT").unwrap_or_default();
        match attempt.parse::<u64>() {
            Ok(attempt) => attempt.saturating_sub(1).to_string(),
            Err(_) => attempt.to_owned(),
        }
    }
}

impl Resolved {
    fn with_job(mut self) -> Self {
        if self.job_id.is_empty() {
            LOCAL.clone_into(&mut self.job_id);
        }
        self
    }
}

/// The flag, else the first of the variables that is set, else the empty text.
fn or(flag: Option<&str>, environment: &Environment, names: &[&str]) -> String {
    flag.filter(|text| !text.is_empty())
        .or_else(|| environment.first(names))
        .unwrap_or_default()
        .to_owned()
}

fn checked<T: FromStr<Err: Display>>(
    field: &'static str,
    value: String,
    fault: &mut Option<Unavailable>,
) -> String {
    if value.is_empty() {
        return value;
    }
    match value.parse::<T>() {
        Ok(_) => value,
        Err(error) => {
            fault.get_or_insert(Unavailable::InvalidIdentity {
                field,
                problem: error.to_string(),
            });
            String::new()
        }
    }
}

#[cfg(test)]
mod tests;
