//! Making a past record current again.
//!
//! A forward move like any other: the generation rises, the pointer moves by compare-and-swap, and everything
//! newer than the target is revoked, so that neither `publish` nor `fetch` takes it again.

use crate::closure::{ManifestError, document_error, read_manifest};
use crate::fsck::{self, Finding};
use crate::record::{Named, Standing};
use kernrec_schemas::agreement;
use kernrec_schemas::function_table::FunctionTable;
use kernrec_schemas::manifest::FileRef;
use kernrec_schemas::pointer::{Pointer, RecordRef};
use kernrec_schemas::symbol_map::SymbolMap;
use kernrec_schemas::table::KernelTable;
use kernrec_schemas::{Backend, Digest, Generation, Pipeline, Timestamp};
use kernrec_store::pointers::{self, VersionedPointer};
use kernrec_store::signing::{SignatureProblem, Signing};
use kernrec_store::{Key, Store, StoreError, Swap, objects};

/// How often a lost race is run again.
const MAX_TRIES: u32 = 1000;

/// The longest reason in characters.
pub const MAX_REASON: usize = 500;

/// What is wanted.
#[derive(Debug, Clone)]
pub struct RollbackRequest<'a> {
    /// The pipeline.
    pub pipeline: &'a Pipeline,
    /// The backend.
    pub backend: Backend,
    /// The record to go back to: a commit, a build number or a manifest digest, whole.
    pub to: &'a str,
    /// Why, for whoever reads the history.
    pub reason: Option<&'a str>,
    /// Whether the target's bundles must be whole too.
    pub bundles: bool,
    /// How the pointer is signed, and what of the one that stands there is believed.
    pub signing: Signing,
    /// Decide everything, move nothing.
    pub dry_run: bool,
}

/// What became of it.
#[derive(Debug)]
pub struct Rollback {
    /// The end.
    pub outcome: Outcome,
    /// The record that is current now, or would be.
    pub target: RecordRef,
    /// The pointer's generation; `None` when it did not move.
    pub generation: Option<Generation>,
    /// What is revoked by this move, newest first.
    pub revoked: Vec<RecordRef>,
}

/// The end of a rollback.
#[derive(Debug)]
pub enum Outcome {
    /// The pointer moved, or would.
    RolledBack,
    /// The target is current already, and whole: nothing was revoked.
    Unchanged,
    /// The answer was lost, and whether the pointer moved cannot be told.
    Unknown(StoreError),
}

/// Why nothing was rolled back.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RollbackError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Nothing was ever published.
    #[error("nothing has been published for `{backend}` of pipeline `{pipeline}` in `{url}`")]
    NotPublished {
        /// The store.
        url: String,
        /// The pipeline.
        pipeline: Pipeline,
        /// The backend.
        backend: Backend,
    },
    /// The pointer that stands there is not believed, or must not be moved.
    #[error("the pointer that stands there: {0}")]
    Signature(#[from] SignatureProblem),
    /// The history does not name the target.
    #[error(
        "no record with the commit, build or manifest `{to}` among the {known} that the pointer names"
    )]
    NotInHistory {
        /// What was asked for.
        to: String,
        /// How many records the pointer names.
        known: usize,
    },
    /// Several records are meant.
    #[error("`{to}` may mean {}", found.join(", "))]
    Ambiguous {
        /// What was asked for.
        to: String,
        /// The records, each with its manifest.
        found: Vec<String>,
    },
    /// The target was revoked.
    #[error("{target} was revoked at {at}")]
    Revoked {
        /// The target.
        target: Box<Named>,
        /// When.
        at: Timestamp,
    },
    /// The target cannot be made current.
    #[error("{target} is not whole: {problem}")]
    Broken {
        /// The target.
        target: Box<Named>,
        /// The first problem.
        problem: String,
        /// Its stable word.
        reason: &'static str,
        /// Whether it is seen to be broken, rather than not seen.
        told: bool,
    },
    /// The reason cannot be stored.
    #[error("the reason has more than {MAX_REASON} characters")]
    ReasonTooLong,
    /// The pointer's generations are used up.
    #[error("the pointer's generations are exhausted")]
    GenerationsExhausted,
    /// Others kept moving the pointer.
    #[error("other writers moved the pointer {tries} times in a row")]
    Contended {
        /// Tries made.
        tries: u32,
    },
}

impl RollbackError {
    /// The stable word for machines.
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::Store(error) => error.reason(),
            Self::NotPublished { .. } => "not-published",
            Self::Signature(problem) => problem.reason(),
            Self::NotInHistory { .. } => "not-in-history",
            Self::Ambiguous { .. } => "ambiguous-target",
            Self::Revoked { .. } => "revoked",
            Self::Broken { reason, .. } => reason,
            Self::ReasonTooLong => "reason-too-long",
            Self::GenerationsExhausted => "generations-exhausted",
            Self::Contended { .. } => "contended",
        }
    }

    /// Whether a rule refuses, rather than that something failed.
    pub const fn is_refusal(&self) -> bool {
        match self {
            Self::NotPublished { .. }
            | Self::Signature(_)
            | Self::NotInHistory { .. }
            | Self::Ambiguous { .. }
            | Self::Revoked { .. } => true,
            Self::Broken { told, .. } => *told,
            Self::Store(_)
            | Self::ReasonTooLong
            | Self::GenerationsExhausted
            | Self::Contended { .. } => false,
        }
    }
}

/// Moves a pointer to a past record and revokes everything newer.
///
/// An error means that the pointer was not moved. After a lost race everything is decided again from what is
/// current then, and what was published meanwhile is newer than the target too.
pub fn rollback(
    store: &dyn Store,
    request: &RollbackRequest<'_>,
) -> Result<Rollback, RollbackError> {
    if request
        .reason
        .is_some_and(|reason| reason.chars().count() > MAX_REASON)
    {
        return Err(RollbackError::ReasonTooLong);
    }
    let mut whole: Option<Digest> = None;
    for _ in 0..MAX_TRIES {
        let found = current(store, request)?;
        request.signing.check(&found.seal)?;
        let target = target(&found.pointer, request.to)?;
        if whole != Some(target.record.manifest) {
            check_whole(store, &target, request.bundles)?;
            whole = Some(target.record.manifest);
        }
        if target.standing == Standing::Current {
            return Ok(Rollback::of(Outcome::Unchanged, &target));
        }
        let mut next = next(&found.pointer, &target, request.reason)?;
        request.signing.sign(&mut next);
        let mut done = Rollback::of(Outcome::RolledBack, &target);
        done.revoked = newly_revoked(&found.pointer, &next);
        if request.dry_run {
            return Ok(done);
        }
        match pointers::swap(store, Some(&found.version), &next)? {
            Swap::Moved(_) => {
                done.generation = Some(next.generation);
                return Ok(done);
            }
            Swap::Conflict => {}
            Swap::Unknown(error) => {
                done.outcome = Outcome::Unknown(error);
                return Ok(done);
            }
        }
    }
    Err(RollbackError::Contended { tries: MAX_TRIES })
}

impl Rollback {
    fn of(outcome: Outcome, target: &Named) -> Self {
        Self {
            outcome,
            target: target.record.clone(),
            generation: None,
            revoked: Vec::new(),
        }
    }
}

fn current(
    store: &dyn Store,
    request: &RollbackRequest<'_>,
) -> Result<VersionedPointer, RollbackError> {
    pointers::read(store, request.pipeline, request.backend)?.ok_or_else(|| {
        RollbackError::NotPublished {
            url: store.url().to_owned(),
            pipeline: request.pipeline.clone(),
            backend: request.backend,
        }
    })
}

/// The one record that is meant.
fn target(pointer: &Pointer, to: &str) -> Result<Named, RollbackError> {
    let all = Named::all(pointer);
    let known = all.len();
    let is_meant = |named: &Named| {
        let record = &named.record;
        record.commit.as_str() == to
            || record.build.to_string() == to
            || record.manifest.to_string() == to
    };
    let mut meant: Vec<Named> = Vec::new();
    for named in all.into_iter().filter(is_meant) {
        // A record that was published twice is one record; the newer entry says what it is now.
        if !meant.iter().any(|known| known.is_same_record(&named)) {
            meant.push(named);
        }
    }
    if meant.len() > 1 {
        let shown = |named: &Named| format!("{named} `{}`", named.record.manifest);
        return Err(RollbackError::Ambiguous {
            to: to.to_owned(),
            found: meant.iter().map(shown).collect(),
        });
    }
    let target = meant.pop().ok_or_else(|| RollbackError::NotInHistory {
        to: to.to_owned(),
        known,
    })?;
    if let Standing::Revoked { at, .. } = target.standing {
        let target = Box::new(target);
        return Err(RollbackError::Revoked { target, at });
    }
    Ok(target)
}

/// The pointer never names a record that a fetcher would refuse.
fn check_whole(store: &dyn Store, target: &Named, bundles: bool) -> Result<(), RollbackError> {
    let broken = |problem: String, reason, told| RollbackError::Broken {
        target: Box::new(target.clone()),
        problem,
        reason,
        told,
    };
    if let Some(Finding {
        message,
        reason,
        told,
        ..
    }) = fsck::record(store, target, bundles).into_iter().next()
    {
        return Err(broken(message, reason, told));
    }
    match acceptance(store, &target.record.manifest) {
        Ok(None) => Ok(()),
        Ok(Some(disagreement)) => {
            let reason = disagreement.reason();
            Err(broken(disagreement.to_string(), reason, true))
        }
        Err(error) => Err(broken(error.to_string(), error.reason(), error.is_told())),
    }
}

/// What the loaders and the rule of agreement say to a record.
fn acceptance(
    store: &dyn Store,
    digest: &Digest,
) -> Result<Option<agreement::Disagreement>, ManifestError> {
    let manifest = read_manifest(store, digest)?;
    let failed = |error| ManifestError::Store(std::sync::Arc::new(error));
    let read = |file: &FileRef| objects::read(store, &file.digest, file.size).map_err(failed);
    let refused =
        |file: &FileRef, source| failed(document_error(store, Key::object(&file.digest), source));
    if let Some(file) = manifest.function_table() {
        let table = FunctionTable::parse(&read(file)?).map_err(|error| refused(file, error))?;
        return Ok(agreement::check_functions(&manifest, &table).err());
    }
    let mut table = None;
    if let Some(file) = manifest.table() {
        table = Some(KernelTable::parse(&read(file)?).map_err(|error| refused(file, error))?);
    }
    let mut maps = Vec::new();
    for (variant, file) in manifest.symbol_maps() {
        let map = SymbolMap::load(&read(file)?).map_err(|error| refused(file, error))?;
        maps.push((variant, map));
    }
    let maps: Vec<_> = maps
        .iter()
        .map(|(variant, map)| (variant.clone(), map))
        .collect();
    Ok(table.and_then(|table| agreement::check(&manifest, &table, &maps).err()))
}

fn next(pointer: &Pointer, target: &Named, reason: Option<&str>) -> Result<Pointer, RollbackError> {
    let now = Timestamp::now();
    let nonce = pointers::fresh_nonce()?;
    // The target is in the history, not current and not revoked: only generations can be missing.
    let mut next = pointer
        .rolled_back(&target.record.manifest, nonce, now)
        .ok_or(RollbackError::GenerationsExhausted)?;
    let newly: Vec<Digest> = newly_revoked(pointer, &next)
        .into_iter()
        .map(|record| record.manifest)
        .collect();
    for past in &mut next.history {
        if past.revoked.is_some() && newly.contains(&past.record.manifest) {
            past.reason = reason.map(str::to_owned);
        }
    }
    Ok(next)
}

/// What `next` revokes and `pointer` does not.
fn newly_revoked(pointer: &Pointer, next: &Pointer) -> Vec<RecordRef> {
    let revoked = |pointer: &Pointer, record: &RecordRef| {
        pointer.revocation(&record.manifest, record.build).is_some()
    };
    let past = next.history.iter().map(|past| &past.record);
    past.filter(|record| revoked(next, record) && !revoked(pointer, record))
        .cloned()
        .collect()
}
