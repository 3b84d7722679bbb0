//! What a fold needs to know beside the recordings.

use kernrec_schemas::jobs::JobsList;
use kernrec_schemas::{Backend, BuildNumber, Commit, Pipeline, Timestamp, Variant};
use std::collections::BTreeSet;

/// What a fold needs to know beside the recordings.
#[derive(Debug, Clone)]
pub struct FoldOptions {
    /// Whose table it is: jobs of this backend are folded, and those of which nobody knows it.
    pub backend: Backend,
    /// The commit; jobs that recorded another one make their row unusable.
    pub commit: Commit,
    /// The build.
    pub build: BuildNumber,
    /// The organisation named in the table.
    pub org: String,
    /// The pipeline.
    pub pipeline: Pipeline,
    /// The time the table speaks of.
    pub recorded_at: Timestamp,
    /// What the CI system knows of the build's jobs.
    pub jobs: Option<JobsList>,
    /// The variants that have a symbol map; `None` when maps are no concern, as in `kernrec fold`.
    pub map_variants: Option<BTreeSet<Variant>>,
}
