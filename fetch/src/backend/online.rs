//! Deciding what a fetch from a store has to do.

use super::install::{self, Done};
use super::job::{Current, Job};
use super::plan::{self, Target};
use super::remote::{Remote, Seen};
use super::twins;
use crate::error::FetchError;
use crate::local::is_untouched;
use crate::report::{BackendReport, Failure, Status};
use kernrec_schemas::Timestamp;
use kernrec_schemas::installed::Origin;

/// Brings the chosen record of one backend into place.
pub(crate) fn online(job: &Job<'_>, remote: &Remote<'_>) -> BackendReport {
    let mut damage = None;
    let result = attempt(job, remote, &mut damage);
    match result {
        Ok(done) => job.report(Ok(done.status), damage.or(done.damage), done.received),
        Err(error) => job.report(Err(&error), damage, 0),
    }
}

/// What the pointer asks for, given what is in place.
struct Plan {
    target: Result<Target, FetchError>,
    /// The record in place was revoked then, and is not marked so yet.
    mark: Option<Timestamp>,
}

fn attempt(
    job: &Job<'_>,
    remote: &Remote<'_>,
    damage: &mut Option<Failure>,
) -> Result<Done, FetchError> {
    check_ours(job)?;
    let (before, found) = job.current_or_damage()?;
    *damage = found;
    let mut plan = look(job, remote, &before)?;
    if plan.mark.is_none() {
        let target = plan.target?;
        job.check_age(&target.commit, target.origin.published_at)?;
        if is_settled(job, &before, &target) {
            return Ok(Done {
                status: Status::Unchanged,
                received: 0,
                damage: None,
            });
        }
        plan.target = Ok(target);
    }
    job.lock.acquire()?;
    check_ours(job)?;
    // Another fetcher may have had the lock: what it installed may be newer than the pointer read above.
    let now = job.current()?;
    if now != before {
        plan = look(job, remote, &now)?;
    }
    if let (Some(at), Current::Record(id, record)) = (plan.mark, &now) {
        install::mark_revoked(job, id, record, at)?;
    }
    let target = plan.target?;
    job.check_age(&target.commit, target.origin.published_at)?;
    install::install(job, remote, &target)
}

fn check_ours(job: &Job<'_>) -> Result<(), FetchError> {
    job.layout.check_ours(job.backend)?;
    if job.options.upstream_names {
        twins::check_links_ours(job)?;
    }
    Ok(())
}

/// One pointer request, conditional where that is enough, and what follows from the answer.
fn look(job: &Job<'_>, remote: &Remote<'_>, current: &Current) -> Result<Plan, FetchError> {
    let choice = &job.options.choice;
    let installed = match current {
        Current::Record(_, record) => Some(record),
        Current::Nothing | Current::Unusable(..) => None,
    };
    let known = installed.and_then(|record| plan::known_version(remote, choice, record));
    let found = match (remote.look(job.backend, known)?, installed) {
        (Seen::Pointer(found), _) => found,
        (Seen::Unchanged, Some(record)) => {
            return Ok(Plan {
                target: Ok(Target::installed(record)),
                mark: None,
            });
        }
        // A store that says "unchanged" without having been told a version.
        (Seen::Unchanged, None) => return Err(remote.nonsense(job.backend)),
    };
    let mut mark = None;
    if let Some(record) = installed {
        plan::check_forward(remote, record, &found.pointer)?;
        if record.pipeline == *remote.pipeline && record.revoked.is_none() {
            mark = found.pointer.revocation(&record.manifest, record.build);
        }
    }
    Ok(Plan {
        target: plan::choose(remote, &found, choice, job.options.now),
        mark,
    })
}

/// Whether the record in place is the target, untouched, and its document has nothing to learn.
fn is_settled(job: &Job<'_>, current: &Current, target: &Target) -> bool {
    let Current::Record(id, record) = current else {
        return false;
    };
    let fetched_at = record.origin.fetched_at;
    let origin = Origin {
        fetched_at,
        ..target.origin.clone()
    };
    record.manifest == target.manifest
        && record.origin == origin
        && is_untouched(&job.layout.folder(id), record)
        && twins::are_settled(job, record)
}
