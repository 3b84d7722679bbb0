//! What a CI system is asked for.

use crate::step::Step;
use crate::workplace::Workplace;
use kernrec_schemas::jobs::ListedJob;
use kernrec_schemas::{Commit, JobId, StepKey};
use serde::Serialize;
use std::path::PathBuf;
use std::time::Instant;

/// A CI system, and one build in it.
pub trait Ci: Sync {
    /// How each of these steps stands, in their order. What is not answered until then is not known.
    fn poll(&self, steps: &[&Step], until: Instant) -> Vec<Poll>;

    /// The commit of the build, where the system tells it.
    fn commit(&self) -> Result<Option<Commit>, CiError>;

    /// Downloads what the steps' jobs left, and the maps of the steps that build images.
    fn gather(&self, steps: &[Step], map_steps: &[StepKey], place: &Workplace) -> Gathered;

    /// Shows the annotation and keeps the files, where the system has a place for them; every problem, for people.
    fn announce(&self, announcement: &Announcement<'_>) -> Vec<String>;
}

/// Why the CI system could not be asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}: {problem}")]
pub struct CiError {
    /// What was asked for.
    pub what: String,
    /// What went wrong.
    pub problem: String,
}

impl CiError {
    /// An error with its causes on one line.
    pub(crate) fn new(what: impl Into<String>, problem: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            problem: problem.into(),
        }
    }

    /// The stable word.
    pub const fn reason(&self) -> &'static str {
        "ci-unavailable"
    }
}

/// The answer for one step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Poll {
    /// It stands so.
    State(State),
    /// The build has no such step.
    Absent,
    /// Nobody knows this time.
    Failed(CiError),
}

/// How a step stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    /// How far it is.
    pub phase: Phase,
    /// The CI system's own word.
    pub word: String,
    /// Whether it passed, if it ended and the system says.
    pub passed: Option<bool>,
}

/// How far a step is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// It waits for others.
    Waiting,
    /// It runs, or could.
    Running,
    /// It is over.
    Ended,
    /// It is over without having run, or waits for what may never come.
    CannotRun,
}

/// What was downloaded.
#[derive(Debug, Default)]
pub struct Gathered {
    /// Folders of job folders and bundles.
    pub folders: Vec<PathBuf>,
    /// Symbol maps.
    pub maps: Vec<PathBuf>,
    /// What the CI system knows of the jobs, if it knows enough.
    pub jobs: Option<Vec<ListedJob>>,
    /// Jobs that uploaded something, by step.
    pub uploads: Vec<Upload>,
    /// What did not arrive.
    pub lost: Vec<Lost>,
    /// Bundles downloaded, wherever in the folders they stand.
    pub bundles: Vec<PathBuf>,
    /// Job folders downloaded because no bundle holds what is in them.
    pub raw_folders: u64,
    /// Artifacts that are none of ours, among ours.
    pub ignored: u64,
}

/// A job that uploaded something.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Upload {
    /// The job.
    pub job: JobId,
    /// Its step, if known.
    pub step: Option<StepKey>,
}

/// Something that is there and did not arrive.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Lost {
    /// The artifact or the search.
    pub what: String,
    /// Why, in one word.
    pub reason: Trouble,
    /// Why, in words.
    pub message: String,
    /// The job, if known.
    pub job: Option<JobId>,
    /// The step, if known.
    pub step: Option<StepKey>,
}

/// Why something did not arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Trouble {
    /// The search for artifacts failed.
    SearchFailed,
    /// The download failed.
    DownloadFailed,
    /// The name is none that a path is made of.
    UnsafeName,
    /// What arrived is not what was uploaded, or cannot be read.
    ArtifactDamaged,
    /// It is larger than anything that is read.
    ArtifactTooLarge,
    /// The CI system has removed it.
    ArtifactExpired,
}

impl Trouble {
    /// Every word.
    pub const WORDS: [&'static str; 6] = [
        "search-failed",
        "download-failed",
        "unsafe-name",
        "artifact-damaged",
        "artifact-too-large",
        "artifact-expired",
    ];

    /// The stable word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::SearchFailed => "search-failed",
            Self::DownloadFailed => "download-failed",
            Self::UnsafeName => "unsafe-name",
            Self::ArtifactDamaged => "artifact-damaged",
            Self::ArtifactTooLarge => "artifact-too-large",
            Self::ArtifactExpired => "artifact-expired",
        }
    }
}

/// What is shown when all is over.
#[derive(Debug)]
pub struct Announcement<'a> {
    /// Which annotation it replaces.
    pub context: &'a str,
    /// How it looks.
    pub style: Style,
    /// The text, in Markdown.
    pub text: &'a str,
    /// The folder of the files.
    pub folder: &'a std::path::Path,
    /// Names of files in it to keep.
    pub files: &'a [String],
}

/// How an annotation looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Style {
    /// All is well.
    Info,
    /// Something is missing.
    Warning,
    /// Nothing was published that should have been.
    Error,
}

impl Style {
    /// Buildkite's word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

impl Gathered {
    /// Adds what another part of the work gathered.
    pub(crate) fn join(&mut self, other: Self) {
        self.folders.extend(other.folders);
        self.maps.extend(other.maps);
        self.uploads.extend(other.uploads);
        self.lost.extend(other.lost);
        self.bundles.extend(other.bundles);
        self.raw_folders += other.raw_folders;
        self.ignored += other.ignored;
    }
}
