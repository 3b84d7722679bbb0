//! One backend's part of a run, and its report.

use crate::error::FetchError;
use crate::installed::InstalledError;
use crate::local::{FolderLock, Layout, LinkState, RecordId, read_record};
use crate::options::FetchOptions;
use crate::report::{BackendReport, Failure, PairSummary, Status, age};
use crate::reporter::Reporter;
use kernrec_schemas::installed::InstalledRecord;
use kernrec_schemas::{Backend, Commit, Timestamp};

/// What a run is about, for one backend.
#[derive(Clone, Copy)]
pub(crate) struct Job<'a> {
    pub(crate) backend: Backend,
    pub(crate) options: &'a FetchOptions,
    pub(crate) layout: &'a Layout,
    pub(crate) lock: &'a FolderLock<'a>,
    pub(crate) reporter: &'a dyn Reporter,
}

/// What the backend's link leads to at one moment.
#[derive(Debug, PartialEq)]
pub(crate) enum Current {
    /// There is no link.
    Nothing,
    /// A record whose document is readable; its files were not looked at.
    Record(RecordId, Box<InstalledRecord>),
    /// A link, and behind it nothing that can be used; which record it names, and why it is of no use.
    Unusable(RecordId, String),
}

impl Job<'_> {
    /// Reads the link and the document behind it.
    pub(crate) fn current(&self) -> Result<Current, FetchError> {
        self.current_or_damage().map(|(current, _)| current)
    }

    /// As [`Job::current`], with the damage as the report says it.
    pub(crate) fn current_or_damage(&self) -> Result<(Current, Option<Failure>), FetchError> {
        let id = match self.layout.link_state(self.backend)? {
            LinkState::Absent | LinkState::Foreign(_) => return Ok((Current::Nothing, None)),
            LinkState::Record(id) => id,
        };
        Ok(
            match read_record(&self.layout.folder(&id), &id, self.backend) {
                Ok(record) => (Current::Record(id, Box::new(record)), None),
                Err(error) => {
                    let damage = damage(&error);
                    (Current::Unusable(id, damage.message.clone()), Some(damage))
                }
            },
        )
    }

    /// The record the link leads to, if it does.
    pub(crate) fn links_to(&self, id: &RecordId) -> Result<bool, FetchError> {
        Ok(self.layout.link_state(self.backend)? == LinkState::Record(id.clone()))
    }

    /// Refuses a record that was published too long ago.
    pub(crate) fn check_age(
        &self,
        commit: &Commit,
        published_at: Option<Timestamp>,
    ) -> Result<(), FetchError> {
        let Some(limit) = self.options.max_age else {
            return Ok(());
        };
        let Some(published_at) = published_at else {
            return Err(FetchError::AgeUnknown {
                commit: commit.clone(),
            });
        };
        let age_seconds = age(published_at, self.options.now);
        if age_seconds <= limit.as_secs() && !limit.is_zero() {
            return Ok(());
        }
        Err(FetchError::TooOld {
            commit: commit.clone(),
            age_seconds,
            limit_seconds: limit.as_secs(),
        })
    }

    /// The report of a run that failed before it began.
    pub(crate) fn nothing_done(&self, error: &FetchError) -> BackendReport {
        self.report(Err(error), None, 0)
    }

    /// The report, with what is in place now.
    pub(crate) fn report(
        &self,
        result: Result<Status, &FetchError>,
        damage: Option<Failure>,
        bytes_received: u64,
    ) -> BackendReport {
        let (pair, damage_now) = match self.current_or_damage() {
            Ok((Current::Record(id, record), _)) => {
                let folder = self.layout.folder(&id);
                let summary = PairSummary::new(&record, folder, self.options.now);
                (Some(summary), None)
            }
            Ok((_, damage)) => (None, damage),
            Err(_) => (None, None),
        };
        BackendReport {
            backend: self.backend,
            status: result.unwrap_or_else(FetchError::status),
            failure: result.err().map(Failure::from),
            pair,
            damage: damage.or(damage_now),
            bytes_received,
        }
    }
}

pub(crate) fn damage(error: &InstalledError) -> Failure {
    Failure::new(error.reason(), error.to_string())
}
