//! Putting a record in place. Every function here needs the output folder's lock.

use super::download::download;
use super::job::{Job, damage};
use super::plan::Target;
use super::remote::Remote;
use super::twins;
use crate::error::FetchError;
use crate::local::{FolderState, HOLD, Layout, RECORD, RecordId, Staging, inspect, read_record};
use crate::report::{Failure, Status};
use kernrec_schemas::Timestamp;
use kernrec_schemas::installed::{InstalledRecord, file_name};
use kernrec_store::fsio::{self, FsError};
use std::path::Path;

/// How an installation ended.
pub(super) struct Done {
    pub(super) status: Status,
    pub(super) received: u64,
    /// What was wrong with the folder before, if something was.
    pub(super) damage: Option<Failure>,
}

/// Makes the target the record in place: downloads it, or heals or takes up what is there already.
pub(super) fn install(
    job: &Job<'_>,
    remote: &Remote<'_>,
    target: &Target,
) -> Result<Done, FetchError> {
    let id = RecordId::of(&target.manifest);
    let linked = job.links_to(&id)?;
    let moved = |in_place| if linked { in_place } else { Status::Installed };
    let done = match inspect(job.layout, &id, job.backend) {
        FolderState::Missing => Done {
            status: Status::Installed,
            received: fresh(job, remote, target, &id)?,
            damage: None,
        },
        FolderState::Whole(record) => {
            refresh(job, target, &id, *record)?;
            Done {
                status: moved(Status::Unchanged),
                received: 0,
                damage: None,
            }
        }
        FolderState::Damaged(error) => Done {
            received: heal(job, remote, target, &id)?,
            status: moved(Status::Healed),
            damage: Some(damage(&error)),
        },
    };
    if !linked {
        let scratch = Staging::create(job.layout)?;
        let link = job.layout.link(job.backend);
        fsio::replace_symlink_through(scratch.path(), &link, &Layout::link_target(&id))?;
    }
    twins::put_links(job, &id)?;
    Ok(done)
}

/// Whether the target's folder is there and needs nothing from the store.
pub(super) fn is_whole(job: &Job<'_>, target: &Target) -> bool {
    let id = RecordId::of(&target.manifest);
    matches!(inspect(job.layout, &id, job.backend), FolderState::Whole(_))
}

/// Marks the record in place as revoked, for readers to see even if nothing newer can be installed.
pub(super) fn mark_revoked(
    job: &Job<'_>,
    id: &RecordId,
    record: &InstalledRecord,
    at: Timestamp,
) -> Result<(), FetchError> {
    let mut marked = record.clone();
    marked.revoked = Some(at);
    rewrite(job, &job.layout.folder(id), &marked)
}

/// A record that is not there: downloaded, and its folder renamed into place as a whole.
fn fresh(
    job: &Job<'_>,
    remote: &Remote<'_>,
    target: &Target,
    id: &RecordId,
) -> Result<u64, FetchError> {
    let staging = Staging::create(job.layout)?;
    let staged = download(job, remote, target, &staging)?;
    staging.write(RECORD, &staged.record.to_bytes())?;
    staging.become_folder(&job.layout.folder(id))?;
    Ok(staged.received)
}

/// A record that is there and whole: only its document may have to say something new.
fn refresh(
    job: &Job<'_>,
    target: &Target,
    id: &RecordId,
    mut record: InstalledRecord,
) -> Result<(), FetchError> {
    let folder = job.layout.folder(id);
    let fetched_at = record.origin.fetched_at;
    record.origin.clone_from(&target.origin);
    record.origin.fetched_at = fetched_at;
    if twins::decide(job, record.variants())? {
        twins::renew(job, &folder, &mut record)?;
    }
    let path = folder.join(RECORD);
    let stored = fs_err::read(&path).map_err(FsError::on("read", &path))?;
    if stored == record.to_bytes() {
        return Ok(());
    }
    rewrite(job, &folder, &record)
}

/// A record that is there and damaged: downloaded again, and each file put in its place.
///
/// The folder is not exchanged as a whole, because the link names it and would lead nowhere for a moment. File
/// by file is as safe: the folder is named by its manifest, so a file either is the one that belongs there or
/// is recognised as damaged. The document comes last.
fn heal(
    job: &Job<'_>,
    remote: &Remote<'_>,
    target: &Target,
    id: &RecordId,
) -> Result<u64, FetchError> {
    let folder = job.layout.folder(id);
    if !folder.is_dir() {
        return Err(FetchError::NotOurs {
            path: folder,
            found: "no folder",
            expected: "a record folder",
        });
    }
    let staging = Staging::create(job.layout)?;
    let mut staged = download(job, remote, target, &staging)?;
    staged.record.revoked = read_record(&folder, id, job.backend)
        .ok()
        .and_then(|record| record.revoked);
    staging.write(RECORD, &staged.record.to_bytes())?;
    // Readers may hold the one that is there.
    if !folder.join(HOLD).exists() {
        staging.move_into(HOLD, &folder)?;
    }
    for name in staged
        .record
        .files
        .keys()
        .filter_map(|role| file_name(role))
    {
        staging.move_into(&name, &folder)?;
    }
    for name in staged.record.twins.keys() {
        staging.move_into(name, &folder)?;
    }
    staging.move_into(RECORD, &folder)?;
    Ok(staged.received)
}

fn rewrite(job: &Job<'_>, folder: &Path, record: &InstalledRecord) -> Result<(), FetchError> {
    let staging = Staging::create(job.layout)?;
    staging.write(RECORD, &record.to_bytes())?;
    Ok(staging.move_into(RECORD, folder)?)
}
