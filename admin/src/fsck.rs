//! Whether a store holds everything that its pointers name, whole.
//!
//! Only reads. What a running publish or collection changes meanwhile is no finding: a finding stands only if
//! a pointer still names the record it breaks after everything was looked at.

use crate::closure::{Closure, Kind, Manifests, Need, is_told};
use crate::pointers::Pointers;
use crate::record::Named;
use kernrec_schemas::Pipeline;
use kernrec_store::pointers::VersionedPointer;
use kernrec_store::signing::TrustedKeys;
use kernrec_store::{Area, Key, Listed, Store, StoreError, objects};
use rayon::prelude::*;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

/// What is looked at.
#[derive(Debug, Clone)]
pub struct FsckOptions {
    /// Presence and size only: content is not read.
    pub quick: bool,
    /// Whether the bundles that records name are looked at.
    pub bundles: bool,
    /// The pipeline that is looked at where a store cannot be listed.
    pub pipeline: Pipeline,
    /// The keys one of which must have signed each pointer; none: signatures are not looked at.
    pub require_keys: TrustedKeys,
}

/// What a store holds.
#[derive(Debug, Default)]
pub struct Fsck {
    /// Pointers read.
    pub pointers: u64,
    /// Records they name.
    pub records: u64,
    /// Things looked at: manifests, files, bundles.
    pub checked: u64,
    /// Bytes of content that were hashed.
    pub hashed_bytes: u64,
    /// What is wrong.
    pub findings: Vec<Finding>,
    /// Objects and bundles that no record names; `None` when the store cannot be listed.
    pub orphans: Option<Vec<Listed>>,
    /// Files that are no part of a store.
    pub foreign: Vec<Key>,
}

/// One thing that is wrong.
#[derive(Debug, Clone)]
pub struct Finding {
    /// Where.
    pub key: Key,
    /// The stable word for machines.
    pub reason: &'static str,
    /// What.
    pub message: String,
    /// The records it breaks; empty for a pointer, which is broken itself.
    pub breaks: Vec<Named>,
    /// Whether something is damaged or missing, rather than that it could not be looked at.
    pub told: bool,
    /// Whether it is only that no required key vouches for a pointer: nothing is damaged.
    pub unsigned: bool,
}

/// Looks at everything that a store's pointers name.
///
/// An error means that the pointers could not be listed; whatever fails later is a finding.
pub fn fsck(store: &dyn Store, options: &FsckOptions) -> Result<Fsck, StoreError> {
    // What is stored before its pointer moves is no orphan, so the listing comes first.
    let listed = list(store)?;
    let pointers = pointers(store, options)?;
    let mut closure = Manifests::default().closure(store, &pointers.found);
    let mut fsck = Fsck {
        pointers: pointers.found.len() as u64,
        records: count_records(&closure),
        foreign: pointers.foreign.clone(),
        ..Fsck::default()
    };
    fsck.sort(listed, &closure, &pointers);
    if !options.bundles {
        closure.needs.retain(|_, need| need.kind != Kind::Bundle);
    }
    let findings = findings(store, &closure, options.quick);
    fsck.checked = closure.needs.len() as u64;
    fsck.hashed_bytes = findings.hashed;
    fsck.findings = still_named(store, options, findings.findings)?;
    fsck.findings.extend(of_pointers(&pointers));
    fsck.findings
        .extend(unsigned(&pointers.found, &options.require_keys));
    fsck.findings
        .sort_by(|a, b| (&a.key, a.reason).cmp(&(&b.key, b.reason)));
    Ok(fsck)
}

/// What is wrong with everything that one record names, content included.
pub(crate) fn record(store: &dyn Store, record: &Named, bundles: bool) -> Vec<Finding> {
    let mut closure = Manifests::default().closure_of(store, vec![record.clone()]);
    if !bundles {
        closure.needs.retain(|_, need| need.kind != Kind::Bundle);
    }
    findings(store, &closure, false).findings
}

impl Fsck {
    fn sort(&mut self, listed: Option<Vec<Listed>>, closure: &Closure, pointers: &Pointers) {
        let Some(listed) = listed else {
            return;
        };
        let (named, foreign): (Vec<_>, Vec<_>) = listed
            .into_iter()
            .partition(|entry| entry.key.digest().is_some());
        self.foreign
            .extend(foreign.into_iter().map(|entry| entry.key));
        // What an unreadable pointer or manifest names cannot be told from orphans.
        if pointers.is_complete() && closure.problems.is_empty() {
            let unnamed = named.into_iter().filter(|entry| !closure.names(&entry.key));
            self.orphans = Some(unnamed.collect());
        }
    }
}

/// Objects and bundles; `None` for a store that cannot be listed.
fn list(store: &dyn Store) -> Result<Option<Vec<Listed>>, StoreError> {
    let mut listed = Vec::new();
    for area in [Area::Objects, Area::Bundles] {
        match store.list(&Key::area(area)) {
            Ok(found) => listed.extend(found),
            Err(StoreError::Unsupported { .. }) => return Ok(None),
            Err(error) => return Err(error),
        }
    }
    Ok(Some(listed))
}

fn pointers(store: &dyn Store, options: &FsckOptions) -> Result<Pointers, StoreError> {
    match Pointers::all(store) {
        Err(StoreError::Unsupported { .. }) => Ok(Pointers::of_pipeline(store, &options.pipeline)),
        result => result,
    }
}

fn count_records(closure: &Closure) -> u64 {
    let manifests = closure
        .needs
        .values()
        .filter(|need| need.kind == Kind::Manifest);
    manifests.map(|need| need.records.len() as u64).sum()
}

struct Found {
    findings: Vec<Finding>,
    hashed: u64,
}

fn findings(store: &dyn Store, closure: &Closure, quick: bool) -> Found {
    let hashed = AtomicU64::new(0);
    let of_files = closure.needs.par_iter().filter_map(|((key, size), need)| {
        // Manifests were read whole to make the closure.
        let size = (*size)?;
        let result = look(store, key, size, need, quick);
        if result.is_ok() && !quick {
            hashed.fetch_add(size, Ordering::Relaxed);
        }
        let error = result.err()?;
        Some(Finding {
            key: key.clone(),
            reason: error.reason(),
            message: error.to_string(),
            breaks: need.records.clone(),
            told: is_told(&error),
            unsigned: false,
        })
    });
    let mut findings: Vec<Finding> = of_files.collect();
    findings.extend(closure.problems.iter().map(|problem| Finding {
        key: Key::object(&problem.record.record.manifest),
        reason: problem.error.reason(),
        message: problem.error.to_string(),
        breaks: vec![problem.record.clone()],
        told: problem.error.is_told(),
        unsigned: false,
    }));
    Found {
        findings,
        hashed: hashed.into_inner(),
    }
}

fn look(
    store: &dyn Store,
    key: &Key,
    size: u64,
    need: &Need,
    quick: bool,
) -> Result<(), StoreError> {
    let limit = need.kind.limit();
    let damaged = |expected: String, found: String| StoreError::Damaged {
        url: store.url().to_owned(),
        key: key.clone(),
        expected,
        found,
    };
    // No reader takes it, so its content does not matter, however much of it there is.
    if size > limit {
        let named = format!("a size of {size} bytes in the manifest");
        return Err(damaged(format!("at most {limit} bytes"), named));
    }
    if !quick {
        return objects::verify(store, key, &need.digest, size);
    }
    let declared = objects::declared_size(store, key, &need.digest)?;
    if declared == size {
        return Ok(());
    }
    Err(damaged(
        format!("{size} bytes"),
        format!("a frame of {declared} bytes"),
    ))
}

/// Keeps the findings whose records some pointer still names.
fn still_named(
    store: &dyn Store,
    options: &FsckOptions,
    mut findings: Vec<Finding>,
) -> Result<Vec<Finding>, StoreError> {
    if findings.is_empty() {
        return Ok(findings);
    }
    let now = pointers(store, options)?;
    let named: Vec<Named> = now
        .found
        .iter()
        .flat_map(|found| Named::all(&found.pointer))
        .collect();
    for finding in &mut findings {
        finding
            .breaks
            .retain(|broken| named.iter().any(|record| record.is_same_record(broken)));
    }
    findings.retain(|finding| !finding.breaks.is_empty());
    Ok(findings)
}

fn of_pointers(pointers: &Pointers) -> impl Iterator<Item = Finding> {
    let unreadable = pointers.unreadable.iter().map(|(key, error)| Finding {
        key: key.clone(),
        reason: error.reason(),
        message: error.to_string(),
        breaks: Vec::new(),
        told: is_told(error) || is_folder(error),
        unsigned: false,
    });
    let strange = pointers.strange.iter().map(|key| Finding {
        key: key.clone(),
        reason: "strange-pointer",
        message: format!("`{key}` is no pointer that this version knows"),
        breaks: Vec::new(),
        told: true,
        unsigned: false,
    });
    unreadable.chain(strange)
}

/// Whether a folder stands where a file should.
fn is_folder(error: &StoreError) -> bool {
    matches!(error, StoreError::Fs(error) if error.source.kind() == io::ErrorKind::IsADirectory)
}

/// The pointers that nobody vouches for, when somebody has to.
fn unsigned<'a>(
    pointers: &'a [VersionedPointer],
    keys: &'a TrustedKeys,
) -> impl Iterator<Item = Finding> + 'a {
    pointers.iter().filter_map(|found| {
        let problem = keys.refusal(&found.seal)?;
        Some(Finding {
            key: Key::pointer(&found.pointer.pipeline, found.pointer.backend),
            reason: problem.reason(),
            message: problem.to_string(),
            breaks: Vec::new(),
            told: true,
            unsigned: true,
        })
    })
}
