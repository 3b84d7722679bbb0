//! Removing what no pointer names.
//!
//! What any record of any pointer's history names is kept, revoked ones included, and so is whatever is younger
//! than the grace. A publisher may be at work at the same time: docs/operations.md has the argument why it
//! loses nothing. In short, a publisher stores anew what it finds older than
//! [`objects::REFRESHED_AFTER`](kernrec_store::objects::REFRESHED_AFTER); here pointers are read after the
//! listing and again before each batch of removals, and each removal looks at the age once more.

use crate::closure::{Closure, Manifests};
use crate::pointers::Pointers;
use crate::scratch::Scratch;
use kernrec_schemas::Timestamp;
use kernrec_store::objects::SAFE_GRACE;
use kernrec_store::signing::{SignatureProblem, TrustedKeys};
use kernrec_store::{Area, Key, Listed, Removal, Store, StoreError};
use std::collections::BTreeMap;
use std::time::Duration;

/// The grace when none is given.
pub const DEFAULT_GRACE: Duration = Duration::from_hours(7 * 24);

/// Removals between two looks at the pointers.
const BATCH: usize = 32;

/// What is removed.
#[derive(Debug, Clone)]
pub struct GcOptions {
    /// What was stored within this time is kept.
    pub grace: Duration,
    /// Remove; otherwise only say what would be removed.
    pub delete: bool,
    /// Nothing publishes meanwhile, so that a grace below [`SAFE_GRACE`] loses nothing.
    pub quiescent: bool,
    /// Go on although a record's manifest is lost, damaged or refused, or there is no pointer at all: what only they
    /// name is not kept.
    pub accept_broken: bool,
    /// The keys one of which must have signed each pointer, since what a stranger's pointer does not name is removed;
    /// none: signatures are not looked at.
    pub require_keys: TrustedKeys,
}

/// What was removed, or would be.
#[derive(Debug)]
pub struct Gc {
    /// The time by which ages were told: the store's own when things were removed.
    pub now: Timestamp,
    /// Objects and bundles that some record names.
    pub named: u64,
    /// Unnamed ones that are younger than the grace.
    pub young: u64,
    /// What was removed; without [`GcOptions::delete`], what would be.
    pub removed: Vec<Listed>,
    /// What was to be removed, and was named, stored anew or removed by another before it was its turn.
    pub spared: Vec<Key>,
    /// Scratch prefixes that checks left behind and that were removed, or would be.
    pub scratch: Vec<Key>,
    /// Files that are no part of a store: never touched.
    pub foreign: Vec<Key>,
    /// What ended the removals early.
    pub failure: Option<GcError>,
}

/// Why nothing was removed, or not everything.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GcError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A running publish could lose what it counts on.
    #[error(
        "a grace of {} s is below {} s, which is not safe while anybody publishes",
        grace.as_secs(), SAFE_GRACE.as_secs()
    )]
    GraceTooShort {
        /// The grace given.
        grace: Duration,
    },
    /// What is named cannot be told.
    #[error("what the pointers name cannot be told: {problem}")]
    ClosureUnknown {
        /// The first problem.
        problem: String,
    },
    /// No required key vouches for what is named.
    #[error("the pointer `{key}`: {problem}")]
    Signature {
        /// The pointer.
        key: Key,
        /// What is wrong with it.
        problem: SignatureProblem,
    },
    /// A pointer that moved meanwhile names what was removed.
    #[error("a pointer that moved meanwhile names `{key}`, which was removed")]
    RemovedNamed {
        /// The first such key.
        key: Key,
    },
}

impl GcError {
    /// The stable word for machines.
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::Store(error) => error.reason(),
            Self::GraceTooShort { .. } => "grace-too-short",
            Self::ClosureUnknown { .. } => "closure-unknown",
            Self::Signature { problem, .. } => problem.reason(),
            Self::RemovedNamed { .. } => "removed-what-is-named",
        }
    }
}

/// Removes what no pointer names and what is older than the grace.
///
/// An error means that nothing was removed; one that comes later is in the report.
pub fn gc(store: &dyn Store, options: &GcOptions) -> Result<Gc, GcError> {
    if options.delete && !options.quiescent && options.grace < SAFE_GRACE {
        let grace = options.grace;
        return Err(GcError::GraceTooShort { grace });
    }
    // What is stored before its pointer moves must not be listed after that pointer was read.
    let listed = list(store)?;
    let mut known = Known::read(store, options)?;
    let now = if options.delete {
        store_time(store)?
    } else {
        Timestamp::now()
    };
    let mut gc = Gc::new(now, known.pointers.foreign.clone());
    let cutoff = cutoff(now, options.grace);
    let unnamed = gc.sort(listed, &known.closure, cutoff);
    if !unnamed.is_empty() {
        known.check_pointed(store, options)?;
    }
    let scratch = old_scratch(store, cutoff)?;
    if options.delete {
        gc.failure = gc
            .remove(store, options, &mut known, &unnamed, cutoff)
            .err();
        if gc.failure.is_none() {
            gc.failure = gc.discard(store, scratch).err().map(GcError::Store);
        }
    } else {
        gc.removed = unnamed;
        gc.scratch = scratch;
    }
    Ok(gc)
}

impl Gc {
    fn new(now: Timestamp, foreign: Vec<Key>) -> Self {
        Self {
            now,
            named: 0,
            young: 0,
            removed: Vec::new(),
            spared: Vec::new(),
            scratch: Vec::new(),
            foreign,
            failure: None,
        }
    }

    /// Tells what may be removed from the rest.
    fn sort(&mut self, listed: Vec<Listed>, closure: &Closure, cutoff: Timestamp) -> Vec<Listed> {
        let mut unnamed = Vec::new();
        for entry in listed {
            if entry.key.digest().is_none() {
                self.foreign.push(entry.key);
            } else if closure.names(&entry.key) {
                self.named += 1;
            } else if entry.stat.modified > cutoff {
                self.young += 1;
            } else {
                unnamed.push(entry);
            }
        }
        unnamed
    }

    fn remove(
        &mut self,
        store: &dyn Store,
        options: &GcOptions,
        known: &mut Known,
        unnamed: &[Listed],
        cutoff: Timestamp,
    ) -> Result<(), GcError> {
        for batch in unnamed.chunks(BATCH) {
            known.renew(store, options)?;
            known.check_pointed(store, options)?;
            for entry in batch {
                if known.closure.names(&entry.key) {
                    self.spared.push(entry.key.clone());
                    continue;
                }
                match store.delete_old(&entry.key, cutoff)? {
                    Removal::Removed => self.removed.push(entry.clone()),
                    Removal::Younger | Removal::Gone => self.spared.push(entry.key.clone()),
                }
            }
        }
        self.look_back(store, known)
    }

    /// No pointer may name what was removed. One that does was moved by a publisher that met none of the rules.
    fn look_back(&self, store: &dyn Store, known: &mut Known) -> Result<(), GcError> {
        if self.removed.is_empty() {
            return Ok(());
        }
        let pointers = Pointers::all(store)?;
        let closure = known.manifests.closure(store, &pointers.found);
        for entry in &self.removed {
            // A publisher may have stored it again since.
            if closure.names(&entry.key) && store.stat(&entry.key)?.is_none() {
                let key = entry.key.clone();
                return Err(GcError::RemovedNamed { key });
            }
        }
        Ok(())
    }

    fn discard(&mut self, store: &dyn Store, scratch: Vec<Key>) -> Result<(), StoreError> {
        for prefix in scratch {
            store.discard(&prefix)?;
            self.scratch.push(prefix);
        }
        Ok(())
    }
}

/// The pointers at one moment, and what they name.
struct Known {
    manifests: Manifests,
    pointers: Pointers,
    closure: Closure,
}

impl Known {
    fn read(store: &dyn Store, options: &GcOptions) -> Result<Self, GcError> {
        let mut known = Self {
            manifests: Manifests::default(),
            pointers: Pointers::default(),
            closure: Closure::default(),
        };
        known.take(store, options, Pointers::all(store)?)?;
        Ok(known)
    }

    /// Reads the pointers again; manifests only of those that moved.
    fn renew(&mut self, store: &dyn Store, options: &GcOptions) -> Result<(), GcError> {
        let pointers = Pointers::all(store)?;
        if pointers.is_same(&self.pointers) {
            return Ok(());
        }
        self.take(store, options, pointers)
    }

    fn take(
        &mut self,
        store: &dyn Store,
        options: &GcOptions,
        pointers: Pointers,
    ) -> Result<(), GcError> {
        let unknown = |problem| Err(GcError::ClosureUnknown { problem });
        if let Some((_, error)) = pointers.unreadable.first() {
            return unknown(error.to_string());
        }
        if let Some(key) = pointers.strange.first() {
            return unknown(format!("`{key}` is no pointer that this version knows"));
        }
        for found in &pointers.found {
            if let Some(problem) = options.require_keys.refusal(&found.seal) {
                let key = Key::pointer(&found.pointer.pipeline, found.pointer.backend);
                return Err(GcError::Signature { key, problem });
            }
        }
        let closure = self.manifests.closure(store, &pointers.found);
        let tolerated = |told: bool| told && options.accept_broken;
        let mut problems = closure.problems.iter();
        if let Some(problem) = problems.find(|problem| !tolerated(problem.error.is_told())) {
            return unknown(format!("{}: {}", problem.record, problem.error));
        }
        self.pointers = pointers;
        self.closure = closure;
        Ok(())
    }

    /// Without any pointer nothing is named, and everything old enough would go: a store that lost its pointers, or
    /// that is being copied objects first, looks just so.
    fn check_pointed(&self, store: &dyn Store, options: &GcOptions) -> Result<(), GcError> {
        if options.accept_broken || !self.pointers.found.is_empty() {
            return Ok(());
        }
        let problem = format!("`{}` holds objects and no pointer", store.url());
        Err(GcError::ClosureUnknown { problem })
    }
}

fn list(store: &dyn Store) -> Result<Vec<Listed>, StoreError> {
    let mut listed = store.list(&Key::area(Area::Objects))?;
    listed.extend(store.list(&Key::area(Area::Bundles))?);
    Ok(listed)
}

/// Scratch prefixes whose newest content is older than the grace: their checks were killed.
fn old_scratch(store: &dyn Store, cutoff: Timestamp) -> Result<Vec<Key>, StoreError> {
    let mut newest: BTreeMap<Key, Timestamp> = BTreeMap::new();
    for entry in store.list(&Key::area(Area::Scratch))? {
        if let Some(prefix) = entry.key.scratch_prefix() {
            let at = newest.entry(prefix).or_insert(entry.stat.modified);
            *at = (*at).max(entry.stat.modified);
        }
    }
    let old = newest.into_iter().filter(|(_, at)| *at <= cutoff);
    Ok(old.map(|(prefix, _)| prefix).collect())
}

/// The time by the store's own clock, against which the ages of what it holds are told.
fn store_time(store: &dyn Store) -> Result<Timestamp, StoreError> {
    let scratch = Scratch::new()?;
    let probe = scratch.key("time");
    store.put_new(&probe, b"what time is it?")?;
    let stat = store.stat(&probe);
    store.discard(scratch.prefix())?;
    match stat? {
        Some(stat) => Ok(stat.modified),
        None => Err(StoreError::NotFound {
            url: store.url().to_owned(),
            key: probe,
        }),
    }
}

/// What was stored at this time or before may go.
fn cutoff(now: Timestamp, grace: Duration) -> Timestamp {
    let grace = i64::try_from(grace.as_secs()).unwrap_or(i64::MAX);
    let at = now.unix().saturating_sub(grace);
    // Nothing was stored before 1901: with a grace of more than all time nothing is old enough.
    let dawn = Timestamp::from_unix(i64::from(i32::MIN)).unwrap_or(now);
    Timestamp::from_unix(at).unwrap_or(dawn)
}
