//! Everything that was read, in an order of its own: the order of the inputs leaves no trace.

use super::Job;
use crate::shown;
use kernrec_schemas::function_table::TableFunction;
use kernrec_schemas::{Backend, KernelName};
use serde::Serialize;
use std::path::PathBuf;

/// Everything that was read.
#[derive(Debug, Clone, Default)]
pub struct Collected {
    pub(crate) jobs: Vec<Job>,
    pub(crate) names: Vec<KernelName>,
    pub(crate) python_jobs: Vec<Job>,
    pub(crate) functions: Vec<TableFunction>,
    pub(crate) empty: Vec<PathBuf>,
    pub(crate) links: Vec<PathBuf>,
    pub(crate) unreadable: Vec<Unreadable>,
}

/// Something that was delivered and cannot be read, so that nobody knows which step it belongs to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Unreadable {
    /// The bundle or job folder.
    #[serde(serialize_with = "shown::path")]
    pub path: PathBuf,
    /// The stable word of what is wrong.
    pub reason: &'static str,
    /// What is wrong.
    pub message: String,
}

impl Collected {
    /// What Python left of every job in which it was recorded, in the same order as [`Self::jobs`].
    pub fn python_jobs(&self) -> &[Job] {
        &self.python_jobs
    }

    /// The jobs that a fold of this backend looks at.
    pub fn jobs_of(&self, backend: Backend) -> &[Job] {
        if backend.has_kernels() {
            &self.jobs
        } else {
            &self.python_jobs
        }
    }

    /// Every Python function seen, sorted.
    pub fn functions(&self) -> &[TableFunction] {
        &self.functions
    }

    /// What kernel recorders left of every job, sorted by id, then step. A job that two steps claim stands once for
    /// each.
    pub fn jobs(&self) -> &[Job] {
        &self.jobs
    }

    /// Every kernel name seen, sorted.
    pub fn names(&self) -> &[KernelName] {
        &self.names
    }

    /// Job folders with neither recording nor sidecar, sorted.
    pub fn empty(&self) -> &[PathBuf] {
        &self.empty
    }

    /// Links among the recordings, which were not followed, sorted.
    pub fn links(&self) -> &[PathBuf] {
        &self.links
    }

    /// Bundles that could not be read, sorted by path.
    pub fn unreadable(&self) -> &[Unreadable] {
        &self.unreadable
    }
}
