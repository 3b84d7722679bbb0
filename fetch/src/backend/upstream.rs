//! A record from a store in the existing system's layout. It is read whole before it can be named, because only
//! then is there a manifest; from there on it is installed like any other.

use super::ancestry;
use super::install::{self, Done};
use super::job::Job;
use super::plan::Target;
use super::remote::Remote;
use crate::error::FetchError;
use crate::options::Choice;
use kernrec_schemas::installed::{InstalledRecord, Origin, StoreLayout};
use kernrec_schemas::{Commit, Digest, Generation, KeyId, Timestamp};
use kernrec_store::StoreError;
use kernrec_store::upstream::{Place, ServedPair, VersionedUpstream, read_pair};
use std::collections::BTreeMap;

/// A pointer, and where it was found.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) place: Place,
    pub(crate) pointer: VersionedUpstream,
    /// Whose signature on it was verified.
    pub(crate) signed_by: Option<KeyId>,
}

/// The pair that should be in place.
#[derive(Debug)]
pub(crate) struct Wanted {
    place: Place,
    pub(crate) commit: Commit,
    /// What the pointer says the files are, by name.
    digests: BTreeMap<String, Digest>,
    pub(crate) origin: Origin,
}

/// Refuses a pointer older than the one by which the installed record came from the same place. Pointers of other
/// collectors do not say which is older.
pub(crate) fn check_forward(
    remote: &Remote<'_>,
    installed: &InstalledRecord,
    found: &Found,
) -> Result<(), FetchError> {
    let origin = &installed.origin;
    let same = remote.is_origin_of(installed) && origin.url == found.place.url(&remote.url);
    match found.pointer.pointer.generation {
        Some(generation) if same && generation < origin.generation => {
            Err(FetchError::PointerWentBack {
                url: remote.store.url().to_owned(),
                installed: origin.generation,
                found: generation,
            })
        }
        _ => Ok(()),
    }
}

/// Chooses. The layout has no history: besides the pointer's commit only one that is asked for by name can be had,
/// and nothing says when that was published.
pub(crate) fn choose(
    remote: &Remote<'_>,
    found: Found,
    choice: &Choice,
    now: Timestamp,
) -> Result<Wanted, FetchError> {
    let pointer = found.pointer.pointer;
    let commit = match choice {
        Choice::Newest => pointer.commit.clone(),
        Choice::Commit(commit) => commit.clone(),
        Choice::AncestorOf {
            revision,
            repository,
        } => {
            ancestry::newest_ancestor(&[&pointer.commit], revision, repository)?;
            pointer.commit.clone()
        }
    };
    let current = commit == pointer.commit;
    if !current && remote.requires_signature() {
        return Err(FetchError::CommitNotSigned {
            url: found.place.url(&remote.url),
            commit,
            signed: pointer.commit,
        });
    }
    Ok(Wanted {
        commit,
        digests: if current {
            pointer.digests
        } else {
            BTreeMap::new()
        },
        origin: Origin {
            url: found.place.url(&remote.url),
            layout: StoreLayout::Upstream,
            version: found.pointer.version.as_str().to_owned(),
            generation: pointer.generation.unwrap_or(Generation(0)),
            current,
            signed_by: found.signed_by,
            published_at: pointer.published_at.filter(|_| current),
            fetched_at: now,
        },
        place: found.place,
    })
}

/// Downloads the pair and makes it the record in place. Needs the output folder's lock.
pub(crate) fn install(
    job: &Job<'_>,
    remote: &Remote<'_>,
    wanted: &Wanted,
) -> Result<Done, FetchError> {
    let pair = read_pair(
        remote.store,
        &wanted.place,
        remote.pipeline,
        job.backend,
        &wanted.commit,
        &wanted.digests,
    )
    .map_err(|error| match error {
        StoreError::NotFound { .. } if !wanted.origin.current => FetchError::CommitNotPublished {
            url: wanted.origin.url.clone(),
            commit: wanted.commit.clone(),
            known: 1,
        },
        error => error.into(),
    })?;
    let served = ServedPair::new(&wanted.origin.url, &pair);
    let target = Target {
        manifest: served.manifest(),
        commit: wanted.commit.clone(),
        build: pair.manifest.build,
        origin: wanted.origin.clone(),
    };
    let done = install::install(job, &Remote::new(&served, remote.pipeline), &target)?;
    Ok(Done {
        received: pair.received,
        ..done
    })
}
