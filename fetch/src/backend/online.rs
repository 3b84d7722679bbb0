//! Deciding what a fetch from a store has to do.

use super::install::{self, Done};
use super::job::{Current, Job};
use super::plan::{self, Target};
use super::remote::{Remote, Seen};
use super::twins;
use super::upstream;
use crate::error::FetchError;
use crate::local::is_untouched;
use crate::report::{BackendReport, Failure, Status};
use kernrec_schemas::Timestamp;
use kernrec_schemas::installed::{InstalledRecord, Origin, StoreLayout};

/// Brings the chosen record of one backend into place.
pub(crate) fn online(job: &Job<'_>, remote: &Remote<'_>) -> BackendReport {
    let mut damage = None;
    let result = attempt(job, remote, &mut damage);
    match result {
        Ok(done) => job.report(Ok(done.status), damage.or(done.damage), done.received),
        Err(error) => job.report(Err(&error), damage, 0),
    }
}

/// What is to be in place.
enum Wanted {
    Record(Target),
    /// A pair that has no manifest before it is read.
    Upstream(Box<upstream::Wanted>),
}

impl Wanted {
    fn check_age(&self, job: &Job<'_>) -> Result<(), FetchError> {
        let (commit, origin) = match self {
            Self::Record(target) => (&target.commit, &target.origin),
            Self::Upstream(wanted) => (&wanted.commit, &wanted.origin),
        };
        job.check_age(commit, origin.published_at)
    }
}

/// What the pointer asks for, given what is in place.
struct Plan {
    target: Result<Wanted, FetchError>,
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
    let mut plan = look(job, remote, &before, Ask::Changes)?;
    if plan.mark.is_none() {
        let target = plan.target?;
        target.check_age(job)?;
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
        plan = look(job, remote, &now, Ask::Changes)?;
    }
    if let (Some(at), Current::Record(id, record)) = (plan.mark, &now) {
        install::mark_revoked(job, id, record, at)?;
    }
    let mut target = plan.target?;
    if let Wanted::Record(record) = &target
        && record.origin.layout == StoreLayout::Upstream
        && !install::is_whole(job, record)
    {
        // The pointer has not moved, and the pair it names has to be read again.
        target = look(job, remote, &now, Ask::All)?.target?;
    }
    target.check_age(job)?;
    match &target {
        Wanted::Record(target) => install::install(job, remote, target),
        Wanted::Upstream(wanted) => upstream::install(job, remote, wanted),
    }
}

fn check_ours(job: &Job<'_>) -> Result<(), FetchError> {
    job.layout.check_ours(job.backend)?;
    if job.options.upstream_names {
        twins::check_links_ours(job)?;
    }
    Ok(())
}

/// What a pointer request asks for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ask {
    /// The pointer if it moved since the record in place was chosen.
    Changes,
    /// The pointer.
    All,
}

/// One pointer request, conditional where that is enough, and what follows from the answer.
fn look(
    job: &Job<'_>,
    remote: &Remote<'_>,
    current: &Current,
    ask: Ask,
) -> Result<Plan, FetchError> {
    let choice = &job.options.choice;
    let installed = match current {
        Current::Record(_, record) => Some(record.as_ref()),
        Current::Nothing | Current::Unusable(..) => None,
    };
    let known = installed
        .filter(|_| ask == Ask::Changes)
        .and_then(|record| plan::known_version(remote, choice, record));
    let native = match (remote.look(job.backend, known)?, installed) {
        (Seen::Pointer(native), _) => native,
        (Seen::Upstream(found), _) => return look_upstream(job, remote, installed, *found),
        (Seen::Unchanged, Some(record)) => {
            return Ok(Plan {
                target: Ok(Wanted::Record(Target::installed(record))),
                mark: None,
            });
        }
        // A store that says "unchanged" without having been told a version.
        (Seen::Unchanged, None) => return Err(remote.nonsense(job.backend)),
    };
    let mut mark = None;
    if let Some(record) = installed {
        plan::check_forward(remote, record, &native.found.pointer)?;
        if record.pipeline == *remote.pipeline && record.revoked.is_none() {
            mark = native
                .found
                .pointer
                .revocation(&record.manifest, record.build);
        }
    }
    Ok(Plan {
        target: plan::choose(remote, &native, choice, job.options.now).map(Wanted::Record),
        mark,
    })
}

/// As [`look`]; nothing is ever revoked in that layout.
fn look_upstream(
    job: &Job<'_>,
    remote: &Remote<'_>,
    installed: Option<&InstalledRecord>,
    found: upstream::Found,
) -> Result<Plan, FetchError> {
    if let Some(record) = installed {
        upstream::check_forward(remote, record, &found)?;
    }
    let wanted = upstream::choose(remote, found, &job.options.choice, job.options.now);
    Ok(Plan {
        target: wanted.map(|wanted| Wanted::Upstream(Box::new(wanted))),
        mark: None,
    })
}

/// Whether the record in place is the target, untouched, and its document has nothing to learn.
fn is_settled(job: &Job<'_>, current: &Current, wanted: &Wanted) -> bool {
    let (Current::Record(id, record), Wanted::Record(target)) = (current, wanted) else {
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
