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

    /// Whether two set-ups are of one job, though they may say different things of it.
    pub(crate) fn is_same_job(&self, other: &Self) -> bool {
        (&self.job_id, &self.step_key) == (&other.job_id, &other.step_key)
    }

    /// What another set-up of the same job contradicts. Its recordings are the job's all the same, and no sidecar can
    /// say of which build, shard or variant.
    pub(crate) fn disagreement(&self, other: &Self) -> Option<Unavailable> {
        let fields = [
            ("build", &self.build, &other.build),
            ("commit", &self.commit, &other.commit),
            ("shard", &self.shard, &other.shard),
            ("shards", &self.shard_count, &other.shard_count),
            ("retry", &self.retry_count, &other.retry_count),
            ("variant", &self.variant, &other.variant),
        ];
        let (field, one, another) = fields.into_iter().find(|(_, one, other)| one != other)?;
        Some(Unavailable::InvalidIdentity {
            field,
            problem: format!("commands of one job say `{one}` and `{another}`"),
        })
    }
}

impl Identity {
    /// Fills what the flags left open. A value that no sidecar may hold is left out and comes back as the
    /// reason why the recordings cannot be trusted: a shard or variant left out in silence would be another.
    pub(crate) fn resolve(&self, environment: &Environment) -> (Resolved, Option<Unavailable>) {
        let mut read = Reader {
            environment,
            fault: None,
        };
        let step = ["BUILDKITE_STEP_KEY", "GITHUB_JOB"];
        let step = read.or("step", self.step_key.as_deref(), &step);
        let shard = ["BUILDKITE_PARALLEL_JOB"];
        let shard = read.or("shard", self.shard.as_deref(), &shard);
        let count = ["BUILDKITE_PARALLEL_JOB_COUNT"];
        let count = read.or("shards", self.shard_count.as_deref(), &count);
        let variant = read.or("variant", self.variant.as_deref(), &["KERNREC_VARIANT"]);
        let build = ["BUILDKITE_BUILD_NUMBER", "GITHUB_RUN_NUMBER"];
        let job = self.job(&mut read, &shard);
        let commit = self.commit(&mut read);
        let retry = self.retry(&mut read);
        let resolved = Resolved {
            step_key: read.checked::<StepKey>("step", step),
            label: read.or("label", self.label.as_deref(), &["BUILDKITE_LABEL"]),
            job_id: read.checked::<JobId>("job-id", job),
            build: read.or("build", self.build.as_deref(), &build),
            commit: read.checked::<Commit>("commit", commit),
            shard: read.checked::<u64>("shard", shard),
            shard_count: read.checked::<u64>("shards", count),
            retry_count: read.checked::<u64>("retry", retry),
            variant: read.checked::<Variant>("variant", variant),
        };
        (resolved.with_job(), read.fault)
    }

    /// GitHub's environment has no id of a job: run, attempt, the job's key and the shard make one.
    fn job(&self, read: &mut Reader<'_>, shard: &str) -> String {
        let named = read.or("job-id", self.job_id.as_deref(), &["BUILDKITE_JOB_ID"]);
        if !named.is_empty() {
            return named;
        }
        let mut github = |name: &str, otherwise: &str| {
            let value = read.or("job-id", None, &[name]);
            if value.is_empty() {
                otherwise.to_owned()
            } else {
                value
            }
        };
        let run = github("GITHUB_RUN_ID", "");
        if run.is_empty() {
            return run;
        }
        let attempt = github("GITHUB_RUN_ATTEMPT", "1");
        let job = github("GITHUB_JOB", "job");
        let dash = if shard.is_empty() { "" } else { "-" };
        format!("{run}-{attempt}-{job}{dash}{shard}")
    }

    /// A build made by hand may say `HEAD`, which names no commit.
    fn commit(&self, read: &mut Reader<'_>) -> String {
        let names = ["BUILDKITE_COMMIT", "GITHUB_SHA"];
        let commit = read.or("commit", self.commit.as_deref(), &names);
        if commit == "HEAD" {
            String::new()
        } else {
            commit
        }
    }

    /// GitHub counts attempts from 1.
    fn retry(&self, read: &mut Reader<'_>) -> String {
        let named = read.or(
            "retry",
            self.retry_count.as_deref(),
            &["BUILDKITE_RETRY_COUNT"],
        );
        if !named.is_empty() {
            return named;
        }
        let attempt = read.or("retry", None, &["GITHUB_RUN_ATTEMPT"]);
        match attempt.parse::<u64>() {
            Ok(attempt) => attempt.saturating_sub(1).to_string(),
            Err(_) => attempt,
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

/// Reads the environment, and keeps the first fault.
struct Reader<'a> {
    environment: &'a Environment,
    fault: Option<Unavailable>,
}

impl Reader<'_> {
    /// The flag, else the first of the variables that is set, else the empty text.
    fn or(&mut self, field: &'static str, flag: Option<&str>, names: &[&str]) -> String {
        if let Some(flag) = flag.filter(|text| !text.is_empty()) {
            return flag.to_owned();
        }
        let set = names
            .iter()
            .find_map(|name| Some((*name, self.environment.set(name)?)));
        match set.map(|(name, value)| (name, value.to_str())) {
            None => String::new(),
            Some((_, Some(value))) => value.to_owned(),
            Some((name, None)) => {
                self.refuse(field, format!("`{name}` is not UTF-8"));
                String::new()
            }
        }
    }

    fn checked<T: FromStr<Err: Display>>(&mut self, field: &'static str, value: String) -> String {
        match value.parse::<T>() {
            _ if value.is_empty() => value,
            Ok(_) => value,
            Err(error) => {
                self.refuse(field, error.to_string());
                String::new()
            }
        }
    }

    fn refuse(&mut self, field: &'static str, problem: String) {
        self.fault
            .get_or_insert(Unavailable::InvalidIdentity { field, problem });
    }
}

#[cfg(test)]
mod tests;
