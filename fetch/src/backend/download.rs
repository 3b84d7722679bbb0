//! A whole record into a staging folder, and the checks that decide whether it may leave it.

use super::job::Job;
use super::objects::{Arrived, Document, bring};
use super::plan::Target;
use super::remote::Remote;
use super::twins;
use crate::error::{FetchError, RecordProblem};
use crate::local::{HOLD, Staging};
use crate::reporter::Reporter;
use kernrec_schemas::agreement;
use kernrec_schemas::installed::{InstalledParts, InstalledRecord, Verification, file_name};
use kernrec_schemas::manifest::{FileRef, RecordManifest, variant_of_role};
use kernrec_schemas::{Backend, Digest};
use kernrec_store::Store;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::resume_unwind;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// A fleet has a handful of variants; a record with more files than this was made to hurt.
const MAX_FILES: usize = 64;
/// Files downloaded at the same time.
const PARALLEL: usize = 4;

/// Where a record's files come from and go to.
pub(super) struct Source<'a> {
    pub(super) backend: Backend,
    pub(super) store: &'a dyn Store,
    pub(super) manifest: Digest,
    pub(super) staging: &'a Staging,
    pub(super) reporter: &'a dyn Reporter,
    /// Whether gzip twins are wanted.
    pub(super) twins: bool,
}

impl Source<'_> {
    /// The name of a role's twin, when twins are wanted.
    pub(super) fn twin_name(&self, role: &str) -> Option<String> {
        self.twins
            .then(|| twins::name(self.backend, role))
            .flatten()
    }
}

/// A staged record, as its document will describe it.
pub(super) struct Staged {
    pub(super) record: InstalledRecord,
    pub(super) received: u64,
}

/// Downloads and checks the target. Nothing outside the staging folder is touched; the document that describes
/// the record is left to the caller to write.
pub(super) fn download(
    job: &Job<'_>,
    remote: &Remote<'_>,
    target: &Target,
    staging: &Staging,
) -> Result<Staged, FetchError> {
    let manifest = remote.manifest(job.backend, target)?;
    let source = Source {
        backend: job.backend,
        store: remote.store,
        manifest: target.manifest,
        staging,
        reporter: job.reporter,
        twins: twins::decide(job, manifest.symbol_maps().map(|(variant, _)| variant))?,
    };
    let files = files(&manifest, &source)?;
    let arrived = bring_all(&source, &files)?;
    check(&manifest, &arrived, &source)?;
    let received = arrived.values().map(|file| file.received).sum();
    let record = describe(&manifest, target, arrived);
    staging.create_empty(HOLD)?;
    Ok(Staged { record, received })
}

/// The manifest's files that belong in a local folder. Other kinds of file are for other readers.
fn files<'m>(
    manifest: &'m RecordManifest,
    source: &Source<'_>,
) -> Result<Vec<(&'m str, &'m FileRef)>, FetchError> {
    let files: Vec<(&str, &FileRef)> = manifest
        .files
        .iter()
        .map(|(role, file)| (role.as_str(), file))
        .filter(|(role, _)| file_name(role).is_some())
        .collect();
    if files.len() > MAX_FILES {
        let problem = RecordProblem::TooManyFiles {
            found: files.len(),
            limit: MAX_FILES,
        };
        return Err(FetchError::record(source.store, &source.manifest, problem));
    }
    Ok(files)
}

/// Brings every file, several at once. After a failure no other file is begun.
fn bring_all(
    source: &Source<'_>,
    files: &[(&str, &FileRef)],
) -> Result<BTreeMap<String, Arrived>, FetchError> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(BTreeMap::new());
    let worker = || -> Result<(), FetchError> {
        while let Some((role, file)) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            let arrived = bring(source, role, file).inspect_err(|_| {
                next.store(files.len(), Ordering::Relaxed);
            })?;
            let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
            done.insert((*role).to_owned(), arrived);
        }
        Ok(())
    };
    thread::scope(|scope| {
        let others: Vec<_> = (1..files.len().min(PARALLEL))
            .map(|_| scope.spawn(worker))
            .collect();
        let own = worker();
        others
            .into_iter()
            .map(|other| other.join().unwrap_or_else(|panic| resume_unwind(panic)))
            .fold(own, Result::and)
    })?;
    Ok(done.into_inner().unwrap_or_else(PoisonError::into_inner))
}

fn check(
    manifest: &RecordManifest,
    arrived: &BTreeMap<String, Arrived>,
    source: &Source<'_>,
) -> Result<(), FetchError> {
    let mut tables = Vec::new();
    let mut maps = Vec::new();
    let mut functions = Vec::new();
    for (role, file) in arrived {
        match &file.document {
            Document::Table(table) => tables.push(table),
            Document::Functions(table) => functions.push(table),
            Document::Map(map) => maps.push((variant_of_role(role).unwrap_or_default(), map)),
        }
    }
    // The manifest's loader saw to it that there is exactly one, of the kind that its backend has.
    tables
        .into_iter()
        .map(|table| agreement::check(manifest, table, &maps))
        .chain(
            functions
                .into_iter()
                .map(|table| agreement::check_functions(manifest, table)),
        )
        .collect::<Result<(), _>>()
        .map_err(|disagreement| {
            let problem = RecordProblem::Disagreement(disagreement);
            FetchError::record(source.store, &source.manifest, problem)
        })
}

fn describe(
    manifest: &RecordManifest,
    target: &Target,
    arrived: BTreeMap<String, Arrived>,
) -> InstalledRecord {
    let (mut files, mut twins) = (BTreeMap::new(), BTreeMap::new());
    let mut documents = Vec::new();
    for (role, one) in arrived {
        files.insert(role, one.file);
        twins.extend(one.twin);
        documents.push(one.document);
    }
    // Hundreds of thousands of names: to free them takes longer than to put the record in place, and nobody waits for it.
    let _ = thread::Builder::new().spawn(move || drop(documents));
    InstalledRecord::new(InstalledParts {
        pipeline: manifest.pipeline.clone(),
        backend: manifest.backend,
        commit: manifest.commit.clone(),
        build: manifest.build,
        recorded_at: manifest.recorded_at,
        manifest: target.manifest,
        counts: manifest.counts,
        files,
        twins,
        origin: target.origin.clone(),
        verified: BTreeSet::from([
            Verification::Digests,
            Verification::Loaders,
            Verification::Agreement,
        ]),
    })
}
