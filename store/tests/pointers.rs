//! How a pointer's move is told from what the store answers.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use kernrec_schemas::pointer::{Pointer, RecordRef};
use kernrec_schemas::{Backend, BuildNumber, Commit, Digest, Pipeline, Timestamp};
use kernrec_store::{Key, LocalStore, PointerRead, Store, StoreError, Swap, Version, pointers};
use std::sync::atomic::{AtomicBool, Ordering};

/// What the store does with a move before it answers.
type Act = dyn Fn(&LocalStore, &Key, Option<&Version>, &[u8]) + Sync + Send;

/// What it answers.
#[derive(Clone, Copy)]
enum Answer {
    Conflict,
    Lost,
    Error,
}

/// A local store that answers moves as it is told.
struct Scripted {
    _folder: tempfile::TempDir,
    inner: LocalStore,
    act: Box<Act>,
    answer: Answer,
    /// Every read after the move fails.
    goes_silent: bool,
    silent: AtomicBool,
}

fn lost() -> StoreError {
    StoreError::NoStore {
        url: "lost".to_owned(),
    }
}

impl kernrec_store::conformance::Delegate for Scripted {
    fn inner(&self) -> &dyn Store {
        &self.inner
    }
    fn read_pointer(&self, key: &Key, known: Option<&Version>) -> Result<PointerRead, StoreError> {
        if self.silent.load(Ordering::SeqCst) {
            return Err(StoreError::Unsupported {
                url: self.inner.url().to_owned(),
                action: "answer",
            });
        }
        self.inner.read_pointer(key, known)
    }
    fn swap_pointer(
        &self,
        key: &Key,
        expected: Option<&Version>,
        bytes: &[u8],
    ) -> Result<Swap, StoreError> {
        (self.act)(&self.inner, key, expected, bytes);
        self.silent.store(self.goes_silent, Ordering::SeqCst);
        match self.answer {
            Answer::Conflict => Ok(Swap::Conflict),
            Answer::Lost => Ok(Swap::Unknown(lost())),
            Answer::Error => Err(lost()),
        }
    }
}

fn record(build: u64) -> RecordRef {
    RecordRef {
        manifest: Digest::of(&build.to_le_bytes()),
        commit: Commit::new("c0de").unwrap(),
        build: BuildNumber(build),
        published_at: Timestamp::from_unix(1_900_000_000).unwrap(),
    }
}

fn nonce() -> kernrec_schemas::Nonce {
    pointers::fresh_nonce().unwrap()
}

/// A store whose pointer names build 1.
fn scripted(
    act: impl Fn(&LocalStore, &Key, Option<&Version>, &[u8]) + Sync + Send + 'static,
    answer: Answer,
) -> (Scripted, Version, Pointer) {
    let folder = tempfile::tempdir().unwrap();
    let inner = LocalStore::create(folder.path()).unwrap();
    let pipeline = Pipeline::new("ci").unwrap();
    let first = Pointer::first(pipeline, Backend::Cuda, record(1), nonce());
    let Swap::Moved(version) = pointers::swap(&inner, None, &first).unwrap() else {
        panic!("nobody else writes");
    };
    let next = first.advanced(record(2), nonce()).unwrap();
    let store = Scripted {
        _folder: folder,
        inner,
        act: Box::new(act),
        answer,
        goes_silent: false,
        silent: AtomicBool::new(false),
    };
    (store, version, next)
}

fn moves(inner: &LocalStore, key: &Key, expected: Option<&Version>, bytes: &[u8]) {
    let swap = inner.swap_pointer(key, expected, bytes).unwrap();
    assert!(matches!(swap, Swap::Moved(_)));
}

fn nothing(_: &LocalStore, _: &Key, _: Option<&Version>, _: &[u8]) {}

/// Another publisher moves the pointer to build 3 from wherever it is.
fn another_moves(inner: &LocalStore) {
    let pipeline = Pipeline::new("ci").unwrap();
    let found = pointers::read(inner, &pipeline, Backend::Cuda)
        .unwrap()
        .unwrap();
    let next = found.pointer.advanced(record(3), nonce()).unwrap();
    let swap = pointers::swap(inner, Some(&found.version), &next).unwrap();
    assert!(matches!(swap, Swap::Moved(_)));
}

#[test]
fn a_lost_answer_is_settled_by_the_nonce() {
    let (store, version, next) = scripted(moves, Answer::Lost);
    let swap = pointers::swap(&store, Some(&version), &next).unwrap();
    assert!(matches!(swap, Swap::Moved(_)), "{swap:?}");

    let (store, version, next) = scripted(nothing, Answer::Lost);
    let swap = pointers::swap(&store, Some(&version), &next).unwrap();
    assert!(matches!(swap, Swap::Conflict), "{swap:?}");
}

#[test]
fn another_move_in_our_place_shows_that_ours_did_not_happen() {
    let (store, version, next) = scripted(|inner, _, _, _| another_moves(inner), Answer::Lost);
    let swap = pointers::swap(&store, Some(&version), &next).unwrap();
    assert!(matches!(swap, Swap::Conflict), "{swap:?}");
}

#[test]
fn another_move_that_may_stand_on_ours_leaves_it_unknown() {
    let ours_then_another =
        |inner: &LocalStore, key: &Key, expected: Option<&Version>, bytes: &[u8]| {
            moves(inner, key, expected, bytes);
            another_moves(inner);
        };
    let (store, version, next) = scripted(ours_then_another, Answer::Lost);
    let swap = pointers::swap(&store, Some(&version), &next).unwrap();
    assert!(matches!(swap, Swap::Unknown(_)), "{swap:?}");
}

#[test]
fn a_conflict_with_our_own_earlier_try_is_our_success() {
    let (store, version, next) = scripted(moves, Answer::Conflict);
    let swap = pointers::swap(&store, Some(&version), &next).unwrap();
    assert!(matches!(swap, Swap::Moved(_)), "{swap:?}");

    let (store, version, next) = scripted(|inner, _, _, _| another_moves(inner), Answer::Conflict);
    let swap = pointers::swap(&store, Some(&version), &next).unwrap();
    assert!(matches!(swap, Swap::Conflict), "{swap:?}");
}

#[test]
fn an_error_is_a_failure_only_if_the_pointer_is_seen_where_it_was() {
    let (store, version, next) = scripted(nothing, Answer::Error);
    let error = pointers::swap(&store, Some(&version), &next).unwrap_err();
    assert_eq!(error.reason(), "no-store");

    // As when the name was replaced and the folder could not be synced.
    let (store, version, next) = scripted(moves, Answer::Error);
    let swap = pointers::swap(&store, Some(&version), &next).unwrap();
    assert!(matches!(swap, Swap::Unknown(_)), "{swap:?}");
}

#[test]
fn a_store_that_falls_silent_leaves_every_end_unknown() {
    for answer in [Answer::Conflict, Answer::Lost, Answer::Error] {
        let (mut store, version, next) = scripted(moves, answer);
        store.goes_silent = true;
        let swap = pointers::swap(&store, Some(&version), &next).unwrap();
        assert!(matches!(swap, Swap::Unknown(_)), "{swap:?}");
    }
}

#[test]
fn a_store_without_a_name_is_none() {
    for access in [kernrec_store::Access::Read, kernrec_store::Access::Write] {
        let error = kernrec_store::open("", access).map(|_| ()).unwrap_err();
        assert!(error.to_string().contains("it is empty"), "{error}");
    }
}
