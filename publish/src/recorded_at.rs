//! The time a record speaks of. Never the wall clock: the same inputs give the same bytes.

use crate::maps::Maps;
use kernrec_git::{GitError, Repo};
use kernrec_schemas::{Backend, Commit, Timestamp};

/// Where the time may come from, best first.
#[derive(Debug, Clone, Copy)]
pub struct Sources<'a> {
    /// `--recorded-at`.
    pub given: Option<Timestamp>,
    /// The value of `SOURCE_DATE_EPOCH`.
    pub source_date_epoch: Option<&'a str>,
    /// A clone that holds the commit.
    pub repo: Option<&'a Repo>,
    /// The commit.
    pub commit: &'a Commit,
    /// The maps; the newest `generated_at` of the backend's counts.
    pub maps: &'a Maps,
    /// The backend.
    pub backend: Backend,
}

/// Why there is no time.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordedAtError {
    /// The variable is no number of seconds.
    #[error("`SOURCE_DATE_EPOCH` is `{0}`, expected seconds since 1970-01-01")]
    SourceDateEpoch(String),
    /// The repository did not tell the commit's time.
    #[error(transparent)]
    Repo(#[from] GitError),
    /// No source has a time.
    #[error(
        "no time for the record: give --recorded-at, set SOURCE_DATE_EPOCH, give --repo, or a symbol map with \
         `generated_at`"
    )]
    NoSource,
}

impl RecordedAtError {
    /// The stable word.
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::SourceDateEpoch(_) => "source-date-epoch",
            Self::Repo(source) => source.reason(),
            Self::NoSource => "no-recorded-at",
        }
    }
}

/// The time of the first source that has one.
pub fn recorded_at(sources: &Sources<'_>) -> Result<Timestamp, RecordedAtError> {
    if let Some(time) = stated(sources.given, sources.source_date_epoch)? {
        return Ok(time);
    }
    if let Some(repo) = sources.repo {
        return Ok(repo.commit_time(sources.commit)?);
    }
    sources
        .maps
        .of(sources.backend)
        .filter_map(|(_, file)| file.map.generated_at)
        .max()
        .ok_or(RecordedAtError::NoSource)
}

/// The time that the caller or the value of `SOURCE_DATE_EPOCH` states, if either does.
pub fn stated(
    given: Option<Timestamp>,
    source_date_epoch: Option<&str>,
) -> Result<Option<Timestamp>, RecordedAtError> {
    let (None, Some(text)) = (given, source_date_epoch) else {
        return Ok(given);
    };
    let seconds = text.parse().ok().and_then(Timestamp::from_unix);
    seconds.map(Some).ok_or_else(|| {
        let shown = text.chars().take(80).flat_map(char::escape_debug);
        RecordedAtError::SourceDateEpoch(shown.collect())
    })
}
