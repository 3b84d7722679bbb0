//! The jobs list of a build: `[{"id", "state", "step_key"}]`, as the existing system writes it.

use crate::id::{JobId, StepKey};
use crate::json::{self, DocumentError, MAX_SMALL_BYTES};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

const DOCUMENT: &str = "jobs list";

/// One job as the CI system knows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ListedJob {
    /// The job's id.
    pub id: JobId,
    /// The CI system's word for how the job ended, `passed` when it did; absent when not known.
    #[serde(default)]
    pub state: Option<String>,
    /// The step the job belongs to; absent or empty when it has no key.
    #[serde(default, deserialize_with = "empty_is_none")]
    #[schemars(with = "Option<String>")]
    pub step_key: Option<StepKey>,
}

impl ListedJob {
    /// Whether the CI system says the job passed; `None` when it says nothing.
    pub fn passed(&self) -> Option<bool> {
        self.state.as_deref().map(|state| state == "passed")
    }
}

/// All listed jobs, by id.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JobsList(BTreeMap<JobId, ListedJob>);

impl JobsList {
    /// Reads the list; a job listed twice is refused, and so is an empty list: it would excuse every job that
    /// delivered nothing.
    pub fn parse(bytes: &[u8]) -> Result<Self, DocumentError> {
        let listed: Vec<ListedJob> = json::read(DOCUMENT, bytes, MAX_SMALL_BYTES)?;
        let mut jobs = BTreeMap::new();
        for (index, job) in listed.into_iter().enumerate() {
            let id = job.id.clone();
            if jobs.insert(id.clone(), job).is_some() {
                let place = format!("[{index}].id");
                return Err(DocumentError::rule(
                    DOCUMENT,
                    place,
                    format!("job `{id}` stands twice"),
                ));
            }
        }
        if jobs.is_empty() {
            let problem = "it lists no job";
            return Err(DocumentError::rule(DOCUMENT, "[]", problem));
        }
        Ok(Self(jobs))
    }

    /// The job of this id.
    pub fn find(&self, id: &JobId) -> Option<&ListedJob> {
        self.0.get(id)
    }

    /// Every job, sorted by id.
    pub fn iter(&self) -> impl Iterator<Item = &ListedJob> {
        self.0.values()
    }
}

fn empty_is_none<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<StepKey>, D::Error> {
    match Option::<String>::deserialize(from)? {
        Some(text) if !text.is_empty() => StepKey::new(text)
            .map(Some)
            .map_err(serde::de::Error::custom),
        _ => Ok(None),
    }
}
