//! The names that readers of the existing system look for: gzip files, and links to them through our link.
//!
//! The files stand in the record folder and are made before it is put in place, so the pair changes for those
//! readers in the same instant. Once the links are there they are kept up without being asked for.

use super::job::Job;
use crate::error::FetchError;
use crate::local::{RecordId, Staging, is_stamped, read_file, stamp};
use kernrec_schemas::installed::InstalledRecord;
use kernrec_schemas::manifest::{ROLE_SYMBOL_MAP, ROLE_TABLE};
use kernrec_schemas::{Backend, Variant};
use kernrec_store::upstream::{Half, file_name};
use kernrec_store::{artifact, fsio};
use std::io;
use std::path::{Path, PathBuf};

const ROLES: [&str; 2] = [ROLE_TABLE, ROLE_SYMBOL_MAP];

/// The upstream name of a role; `None` for a role it has no name for.
pub(super) fn name(backend: Backend, role: &str) -> Option<String> {
    let half = Half::ALL.into_iter().find(|half| half.role() == role)?;
    Some(file_name(half, backend))
}

/// Whether a record of these variants gets twins: asked for, or kept up. Asked for and impossible is an error.
pub(super) fn decide(
    job: &Job<'_>,
    variants: impl IntoIterator<Item = Variant>,
) -> Result<bool, FetchError> {
    // The existing system's function table is another document than ours, which its readers would not take.
    let named = job.backend.has_kernels();
    if !named || !job.options.upstream_names && !links_in_place(job) {
        return Ok(false);
    }
    let named = variants.into_iter().find(|variant| !variant.is_default());
    match named {
        None => Ok(true),
        Some(variant) if job.options.upstream_names => {
            Err(FetchError::VariantNotRepresentable { variant })
        }
        Some(_) => Ok(false),
    }
}

/// Whether nothing has to be done about twins for the record in place.
pub(super) fn are_settled(job: &Job<'_>, record: &InstalledRecord) -> bool {
    let linked = links_in_place(job);
    match decide(job, record.variants()) {
        Ok(true) => linked && record.twins.len() == ROLES.len(),
        Ok(false) => true,
        Err(_) => false,
    }
}

/// Refuses names that are taken by something of somebody else.
pub(super) fn check_links_ours(job: &Job<'_>) -> Result<(), FetchError> {
    for (link, target) in links(job) {
        let found = match fs_err::read_link(&link) {
            Ok(found) if found == target => continue,
            Ok(_) => "a link to elsewhere",
            Err(e) if e.kind() == io::ErrorKind::NotFound => continue,
            Err(_) => "something else",
        };
        return Err(FetchError::NotOurs {
            path: link,
            found,
            expected: "a link into the record in place",
        });
    }
    Ok(())
}

/// Makes the links, when the record in place has twins.
pub(super) fn put_links(job: &Job<'_>, id: &RecordId) -> Result<(), FetchError> {
    let folder = job.layout.folder(id);
    let missing = |(link, target): &(PathBuf, PathBuf)| {
        !fs_err::read_link(link).is_ok_and(|found| found == *target)
    };
    let twins = ROLES.iter().filter_map(|role| name(job.backend, role));
    let wanted = job.options.upstream_names && twins.into_iter().all(|n| folder.join(n).is_file());
    for (link, target) in links(job).into_iter().filter(missing).filter(|_| wanted) {
        let scratch = Staging::create(job.layout)?;
        fsio::replace_symlink_through(scratch.path(), &link, &target)?;
    }
    Ok(())
}

/// Makes the twins that a record in place lacks, or that were touched, from its own files.
pub(super) fn renew(
    job: &Job<'_>,
    folder: &Path,
    record: &mut InstalledRecord,
) -> Result<(), FetchError> {
    for (role, file) in &record.files {
        let Some(name) = name(job.backend, role) else {
            continue;
        };
        let known = record.twins.get(&name);
        if known.is_some_and(|stamp| is_stamped(&folder.join(&name), stamp)) {
            continue;
        }
        let content = read_file(folder, role, file)?;
        let staging = Staging::create(job.layout)?;
        let metadata = staging.write(&name, &artifact::gzip(&content))?;
        staging.move_into(&name, folder)?;
        record.twins.insert(name, stamp(&metadata));
    }
    Ok(())
}

fn links_in_place(job: &Job<'_>) -> bool {
    let ours = |(link, target): (PathBuf, PathBuf)| {
        fs_err::read_link(link).is_ok_and(|found| found == target)
    };
    links(job).into_iter().all(ours)
}

/// Each link and what it says: through the backend's link, so that it follows the record in place.
fn links(job: &Job<'_>) -> Vec<(PathBuf, PathBuf)> {
    let roles = if job.backend.has_kernels() {
        &ROLES[..]
    } else {
        &[]
    };
    let names = roles.iter().filter_map(|role| name(job.backend, role));
    let through = Path::new(job.backend.as_str());
    names
        .map(|name| (job.layout.out().join(&name), through.join(&name)))
        .collect()
}
