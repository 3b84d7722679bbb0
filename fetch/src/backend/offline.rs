//! Using what is installed, when the store is not to be asked.

use super::ancestry;
use super::job::Job;
use crate::error::{FetchError, revoked_record};
use crate::installed;
use crate::options::Choice;
use crate::report::{BackendReport, Status};
use kernrec_schemas::installed::InstalledRecord;

/// Checks the installed record byte by byte and says how old it is. Nothing is written.
pub(crate) fn offline(job: &Job<'_>) -> BackendReport {
    match check(job) {
        Ok(()) => job.report(Ok(Status::Offline), None, 0),
        Err(error) => job.report(Err(&error), None, 0),
    }
}

fn check(job: &Job<'_>) -> Result<(), FetchError> {
    let out = job.layout.out();
    let record = if job.backend.has_kernels() {
        installed::open(out, job.backend)?.record
    } else {
        installed::open_functions(out)?.record
    };
    let record = &record;
    if record.pipeline != job.options.pipeline {
        return Err(FetchError::PipelineNotInstalled {
            wanted: job.options.pipeline.clone(),
            installed: record.pipeline.clone(),
        });
    }
    check_signature(job, record)?;
    check_choice(&job.options.choice, record)?;
    if let Some(at) = record.revoked {
        return Err(FetchError::Revoked {
            url: job.layout.out().display().to_string(),
            what: revoked_record(&record.commit, at),
        });
    }
    job.check_age(&record.commit, record.origin.published_at)
}

/// What was installed without the signature that is asked for is not believed now either.
fn check_signature(job: &Job<'_>, record: &InstalledRecord) -> Result<(), FetchError> {
    let keys = &job.options.require_keys;
    let signed_by = record.origin.signed_by.as_ref();
    if keys.is_empty() || signed_by.is_some_and(|key| keys.holds(key)) {
        return Ok(());
    }
    Err(FetchError::NotVerified {
        commit: record.commit.clone(),
        signed_by: signed_by.cloned(),
        wanted: keys.names(),
    })
}

fn check_choice(choice: &Choice, record: &InstalledRecord) -> Result<(), FetchError> {
    match choice {
        Choice::Newest => Ok(()),
        Choice::Commit(wanted) if *wanted == record.commit => Ok(()),
        Choice::Commit(wanted) => Err(FetchError::CommitNotInstalled {
            wanted: wanted.clone(),
            installed: record.commit.clone(),
        }),
        Choice::AncestorOf {
            revision,
            repository,
        } => {
            ancestry::newest_ancestor(&[&record.commit], revision, repository)?;
            Ok(())
        }
    }
}
