//! Which step each job belongs to.

use super::FoldOptions;
use crate::collect::{Collected, Job};
use kernrec_schemas::jobs::{JobsList, ListedJob};
use kernrec_schemas::{JobId, RowBackend, StepKey};
use std::collections::{BTreeMap, BTreeSet};

/// The jobs by step, each with what the jobs list says of it.
pub(crate) struct Filing<'a> {
    /// Every job of every backend of kernels, or of Python.
    pub(crate) steps: BTreeMap<&'a StepKey, Vec<Filed<'a>>>,
    /// Jobs that neither their folder, nor their sidecar, nor the jobs list give a step.
    pub(crate) unfiled: Vec<&'a Job>,
    /// Listed jobs by step.
    listed: BTreeMap<&'a StepKey, BTreeSet<&'a JobId>>,
}

/// A job with its entry in the jobs list.
#[derive(Clone, Copy)]
pub(crate) struct Filed<'a> {
    pub(crate) job: &'a Job,
    pub(crate) listed: Option<&'a ListedJob>,
    /// The jobs list files it under another step than its own files do. Nobody knows which is right, so it counts,
    /// flawed, for both.
    pub(crate) contradicted: bool,
}

impl<'a> Filing<'a> {
    /// Files the jobs that a fold of the options' backend looks at: of kernels, or of Python.
    pub(crate) fn new(collected: &'a Collected, options: &'a FoldOptions) -> Self {
        let jobs = options.jobs.as_ref();
        let mut filing = Self {
            steps: BTreeMap::new(),
            unfiled: Vec::new(),
            listed: BTreeMap::new(),
        };
        for job in collected.jobs_of(options.backend) {
            let listed = jobs.and_then(|jobs| jobs.find(&job.id));
            filing.add(job, listed);
        }
        for listed in jobs.into_iter().flat_map(JobsList::iter) {
            if let Some(step) = &listed.step_key {
                filing.listed.entry(step).or_default().insert(&listed.id);
            }
        }
        filing
    }

    fn add(&mut self, job: &'a Job, listed: Option<&'a ListedJob>) {
        let named = listed.and_then(|listed| listed.step_key.as_ref());
        let steps: BTreeSet<&StepKey> = job.step.iter().chain(named).collect();
        if steps.is_empty() {
            self.unfiled.push(job);
        }
        let contradicted = steps.len() > 1;
        for step in steps {
            let filed = self.steps.entry(step).or_default();
            // Jobs come sorted by id: one that claims several steps itself is there already.
            if filed.last().is_none_or(|last| last.job.id != job.id) {
                filed.push(Filed {
                    job,
                    listed,
                    contradicted,
                });
            }
        }
    }

    /// The jobs that are folded into this backend's table, by step: its own and those of unknown backend.
    pub(crate) fn of_backend(
        &self,
        options: &FoldOptions,
    ) -> impl Iterator<Item = (&'a StepKey, Vec<Filed<'a>>)> {
        let wanted = RowBackend::Known(options.backend);
        self.steps.iter().filter_map(move |(&step, filed)| {
            let folded: Vec<Filed<'a>> = filed
                .iter()
                .filter(|filed| [wanted, RowBackend::Unknown].contains(&filed.job.backend))
                .copied()
                .collect();
            (!folded.is_empty()).then_some((step, folded))
        })
    }

    /// Listed jobs of the step that delivered nothing for it, in whatever backend of kernels, or of Python.
    pub(crate) fn missing(&self, step: &StepKey) -> Vec<&'a JobId> {
        let Some(listed) = self.listed.get(step) else {
            return Vec::new();
        };
        let delivered: BTreeSet<&JobId> = self
            .steps
            .get(step)
            .into_iter()
            .flatten()
            .map(|filed| &filed.job.id)
            .collect();
        listed.difference(&delivered).copied().collect()
    }

    /// All listed jobs that delivered nothing for their step.
    pub(super) fn all_missing(&self) -> BTreeSet<&'a JobId> {
        let steps = self.listed.keys();
        steps.flat_map(|step| self.missing(step)).collect()
    }
}
