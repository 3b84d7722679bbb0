//! Which record is wanted. No effects, but for questions to git.

use super::ancestry;
use super::remote::Remote;
use crate::error::{FetchError, revoked_record};
use crate::options::Choice;
use kernrec_schemas::installed::{InstalledRecord, Origin, StoreLayout};
use kernrec_schemas::pointer::{PastRecord, Pointer, RecordRef};
use kernrec_schemas::{BuildNumber, Commit, Digest, KeyId, Timestamp};
use kernrec_store::pointers::VersionedPointer;

/// A pointer as it was read, and whose signature on it was verified.
#[derive(Debug)]
pub(crate) struct Native {
    pub(crate) found: VersionedPointer,
    pub(crate) signed_by: Option<KeyId>,
}

/// The record that should be in place, and how its origin will be written down.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Target {
    pub(crate) manifest: Digest,
    pub(crate) commit: Commit,
    pub(crate) build: BuildNumber,
    pub(crate) origin: Origin,
}

impl Target {
    /// The installed record itself: the pointer has not moved, and the choice was made before.
    pub(crate) fn installed(record: &InstalledRecord) -> Self {
        Self {
            manifest: record.manifest,
            commit: record.commit.clone(),
            build: record.build,
            origin: record.origin.clone(),
        }
    }

    fn of(
        remote: &Remote<'_>,
        Native { found, signed_by }: &Native,
        chosen: &RecordRef,
        now: Timestamp,
    ) -> Self {
        Self {
            manifest: chosen.manifest,
            commit: chosen.commit.clone(),
            build: chosen.build,
            origin: Origin {
                url: remote.url.clone(),
                layout: StoreLayout::Native,
                version: found.version.as_str().to_owned(),
                generation: found.pointer.generation,
                current: *chosen == found.pointer.current,
                signed_by: signed_by.clone(),
                published_at: Some(chosen.published_at),
                fetched_at: now,
            },
        }
    }
}

/// The pointer version at which the installed record is known to be the one chosen; asking for changes since
/// then is enough. `None` when the pointer has to be read whole to know.
pub(crate) fn known_version<'r>(
    remote: &Remote<'_>,
    choice: &Choice,
    installed: &'r InstalledRecord,
) -> Option<&'r Origin> {
    let decided = match choice {
        Choice::Newest => installed.origin.current,
        // Whatever the choice was, of several records of one commit the newest good one was taken.
        Choice::Commit(commit) => installed.commit == *commit,
        // The repository may have moved.
        Choice::AncestorOf { .. } => false,
    };
    let same = decided && remote.is_origin_of(installed) && installed.revoked.is_none();
    // An unverified record would stay unverified as long as the pointer stands still.
    (same && remote.believes(&installed.origin)).then_some(&installed.origin)
}

/// Refuses a pointer older than the one by which the installed record came from the same store.
pub(crate) fn check_forward(
    remote: &Remote<'_>,
    installed: &InstalledRecord,
    pointer: &Pointer,
) -> Result<(), FetchError> {
    let origin = &installed.origin;
    let same = remote.is_origin_of(installed) && origin.layout == StoreLayout::Native;
    let seen = origin.generation;
    if same && pointer.generation < seen {
        return Err(FetchError::PointerWentBack {
            url: remote.store.url().to_owned(),
            installed: seen,
            found: pointer.generation,
        });
    }
    Ok(())
}

/// Chooses among the pointer's records.
pub(crate) fn choose(
    remote: &Remote<'_>,
    native: &Native,
    choice: &Choice,
    now: Timestamp,
) -> Result<Target, FetchError> {
    let pointer = &native.found.pointer;
    let mut good = pointer.good_records();
    let chosen = match choice {
        Choice::Newest => &pointer.current,
        Choice::Commit(commit) => match good.find(|record| record.commit == *commit) {
            Some(record) => record,
            None => return Err(without_commit(remote, pointer, commit)),
        },
        Choice::AncestorOf {
            revision,
            repository,
        } => {
            let good: Vec<&RecordRef> = good.collect();
            let commits: Vec<&Commit> = good.iter().map(|record| &record.commit).collect();
            let index = ancestry::newest_ancestor(&commits, revision, repository)?;
            good[index]
        }
    };
    Ok(Target::of(remote, native, chosen, now))
}

/// Why a commit has no good record: never published, or revoked since.
fn without_commit(remote: &Remote<'_>, pointer: &Pointer, commit: &Commit) -> FetchError {
    let url = remote.store.url().to_owned();
    let of_commit = |past: &&PastRecord| past.record.commit == *commit;
    match pointer
        .history
        .iter()
        .filter(of_commit)
        .find_map(|past| past.revoked)
    {
        Some(at) => FetchError::Revoked {
            url,
            what: revoked_record(commit, at),
        },
        None => FetchError::CommitNotPublished {
            url,
            commit: commit.clone(),
            known: pointer.history.len() + 1,
        },
    }
}
