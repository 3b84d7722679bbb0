//! How pointers move in a bucket.
//!
//! A conditional write whose answer is an error may have happened: the client's own retry of a move that
//! happened is answered with "conflict". So moves are never retried inside the client, and here only when the
//! pointer was seen where it was; everything else is settled by [`crate::pointers::swap`], which compares nonces.

use super::bucket::{Bucket, update_version, version_of};
use super::retry::{Retry, jittered};
use crate::store::{PointerRead, Store, Swap, Version};
use crate::{Key, StoreError};
use object_store::{Error, PutMode, PutOptions, PutPayload, PutResult, UpdateVersion};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The wait after the first of several lost races; each further one doubles it, up to 64 times as much.
const GIVE_WAY: Duration = Duration::from_millis(20);
/// What is written twice to see whether conditions hold; most records have something far smaller.
const PROOF_BYTES: usize = 8 * 1024 * 1024;
/// Written where nothing else was: when a pointer is moved by a program that stored nothing before. Whoever
/// publishes may have no right to it.
const PROOF_KEY: &str = "probe/conditional-writes";

/// What is known of a bucket's pointer moves.
#[derive(Debug)]
pub(super) struct Moves {
    /// Conditions were seen to hold, or need not be doubted.
    proven: AtomicBool,
    /// Races lost in a row.
    losses: AtomicU32,
    /// Something immutable that was stored here: writing it again changes nothing, even if it should be refused
    /// and is not.
    stored: Mutex<Option<(Key, Vec<u8>)>>,
    retry: Retry,
}

impl Moves {
    pub(super) fn new(doubted: bool, retry: Retry) -> Self {
        Self {
            proven: AtomicBool::new(!doubted),
            losses: AtomicU32::new(0),
            stored: Mutex::new(None),
            retry,
        }
    }

    /// Takes note of something immutable that will stand in the bucket; the smallest is kept.
    pub(super) fn remember(&self, key: &Key, bytes: &[u8]) {
        if bytes.len() > PROOF_BYTES || self.proven.load(Ordering::Relaxed) {
            return;
        }
        let mut stored = self.stored.lock().unwrap_or_else(PoisonError::into_inner);
        if stored
            .as_ref()
            .is_none_or(|(_, known)| bytes.len() <= known.len())
        {
            *stored = Some((key.clone(), bytes.to_vec()));
        }
    }

    fn remembered(&self) -> Option<(Key, Vec<u8>)> {
        let stored = self.stored.lock().unwrap_or_else(PoisonError::into_inner);
        stored.clone()
    }
}

impl Bucket {
    /// Moves a pointer by a conditional write.
    pub(super) fn move_pointer(
        &self,
        key: &Key,
        expected: Option<&Version>,
        bytes: &[u8],
    ) -> Result<Swap, StoreError> {
        self.prove_conditions()?;
        self.give_way();
        let mut tries = self.moves.retry.start();
        loop {
            let mode = expected.map_or(PutMode::Create, |version| {
                PutMode::Update(update_version(version))
            });
            let error = match self.put_once(key, bytes, mode) {
                Ok(result) => {
                    self.moves.losses.store(0, Ordering::Relaxed);
                    return Ok(Swap::Moved(version_of(result.e_tag, result.version)));
                }
                Err(error) if is_refusal(&error) => {
                    self.moves.losses.fetch_add(1, Ordering::Relaxed);
                    return Ok(Swap::Conflict);
                }
                Err(error) => self.error("move", key, error),
            };
            if !may_have_happened(&error) {
                return Err(error);
            }
            match self.pointer_version(key) {
                Ok(found) if found.as_ref() == expected => {}
                Ok(_) | Err(_) => return Ok(Swap::Unknown(error)),
            }
            match tries.next(None) {
                Some(wait) => self.blocking.wait(wait),
                None => return Err(error),
            }
        }
    }

    /// The move without conditional writes, which the user accepted the risk of.
    pub(super) fn overwrite_pointer(
        &self,
        key: &Key,
        expected: Option<&Version>,
        bytes: &[u8],
    ) -> Result<Swap, StoreError> {
        if self.pointer_version(key)?.as_ref() != expected {
            return Ok(Swap::Conflict);
        }
        match self.put_once(key, bytes, PutMode::Overwrite) {
            Ok(result) => Ok(Swap::Moved(version_of(result.e_tag, result.version))),
            Err(error) => match self.error("move", key, error) {
                lost if may_have_happened(&lost) => Ok(Swap::Unknown(lost)),
                refused => Err(refused),
            },
        }
    }

    fn put_once(&self, key: &Key, bytes: &[u8], mode: PutMode) -> Result<PutResult, Error> {
        let options = PutOptions {
            mode,
            ..PutOptions::default()
        };
        let payload = PutPayload::from(bytes.to_vec());
        self.run(self.once.put_opts(&self.path(key), payload, options))
    }

    fn pointer_version(&self, key: &Key) -> Result<Option<Version>, StoreError> {
        Ok(match self.read_pointer(key, None)? {
            PointerRead::Found { version, .. } => Some(version),
            PointerRead::Absent | PointerRead::Unchanged => None,
        })
    }

    /// Whoever lost a race waits a little, longer each time, so that of many somebody gets through.
    fn give_way(&self) {
        let losses = self.moves.losses.load(Ordering::Relaxed);
        if losses > 0 {
            self.blocking
                .wait(jittered(GIVE_WAY * (1 << losses.min(6))));
        }
    }

    /// Refuses a service that takes conditional writes for plain ones: it would say "moved" to everybody.
    pub(super) fn prove_conditions(&self) -> Result<(), StoreError> {
        if self.moves.proven.load(Ordering::Relaxed) {
            return Ok(());
        }
        let (key, bytes) = match self.moves.remembered() {
            Some(stored) => stored,
            None => match Key::new(PROOF_KEY) {
                Ok(key) => (key, Vec::new()),
                Err(_) => return Ok(()),
            },
        };
        // The first creates what is not there; the second must be refused.
        let is_new = self.is_taken(&key, &bytes, PutMode::Create)?;
        if is_new && self.is_taken(&key, &bytes, PutMode::Create)? {
            return Err(self.unconditional("it created what was there already"));
        }
        let never_was = UpdateVersion {
            e_tag: Some("\"00000000000000000000000000000000\"".to_owned()),
            version: None,
        };
        if self.is_taken(&key, &bytes, PutMode::Update(never_was))? {
            return Err(self.unconditional("it replaced a version that was not there"));
        }
        self.moves.proven.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Whether a conditional write was carried out.
    fn is_taken(&self, key: &Key, bytes: &[u8], mode: PutMode) -> Result<bool, StoreError> {
        match self.put_with(key, bytes, mode) {
            Ok(()) => Ok(true),
            Err(error) if is_refusal(&error) => Ok(false),
            Err(error) => Err(self.unwritten(key, error)),
        }
    }

    /// What a failed conditional write of an object is.
    pub(super) fn unwritten(&self, key: &Key, error: Error) -> StoreError {
        // The error code of S3 for a header that a service does not know.
        let text = error.to_string();
        if text.contains("NotImplemented") {
            return self.unconditional(&text);
        }
        self.error("write", key, error)
    }

    fn unconditional(&self, problem: &str) -> StoreError {
        StoreError::NoConditionalWrites {
            url: self.url.clone(),
            problem: problem.to_owned(),
        }
    }
}

/// The condition did not hold. `NotFound`: a version was expected of a key that is gone.
fn is_refusal(error: &Error) -> bool {
    match error {
        Error::AlreadyExists { .. } | Error::Precondition { .. } => true,
        Error::NotFound { source, .. } => !super::bucket::is_no_bucket(&source.to_string()),
        _ => false,
    }
}

fn may_have_happened(error: &StoreError) -> bool {
    matches!(
        error,
        StoreError::Unavailable { .. } | StoreError::TimedOut { .. }
    )
}
