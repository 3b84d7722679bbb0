//! Publishers against each other, as threads over one local store.

use crate::support::{Job, collect_jobs, map, maps, request};
use kernrec_publish::publish;
use kernrec_publish::publishing::{Evidence, Outcome};
use kernrec_schemas::manifest::{FileRef, RecordManifest};
use kernrec_schemas::pointer::Pointer;
use kernrec_schemas::symbol_map::SymbolMap;
use kernrec_schemas::table::KernelTable;
use kernrec_schemas::{Backend, Digest, agreement};
use kernrec_store::{
    Key, LocalStore, PointerRead, Store, StoreError, Swap, Version, objects, pointers,
};
use std::sync::Barrier;
use std::sync::atomic::{AtomicU32, Ordering};

const PUBLISHERS: u64 = 8;

#[test]
fn the_newest_build_wins_and_no_generation_is_lost() {
    let dir = tempfile::tempdir().unwrap();
    let store = LocalStore::create(dir.path()).unwrap();
    let barrier = Barrier::new(usize::try_from(PUBLISHERS).unwrap());
    let outcomes: Vec<Outcome> = std::thread::scope(|scope| {
        let threads: Vec<_> = (1..=PUBLISHERS)
            .map(|build| {
                let (store, barrier) = (&store, &barrier);
                scope.spawn(move || {
                    let (_jobs, collected) = collect_jobs(&[Job::new("j1", "a")]);
                    let maps = maps(vec![map(Backend::Cuda, &["k"])]);
                    let mut request = request(Evidence::Recordings(&collected), &maps);
                    request.build.0 = build;
                    barrier.wait();
                    publish(store, &request).unwrap().outcome
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    let published = outcomes
        .iter()
        .filter(|&&outcome| outcome == Outcome::Published)
        .count();
    let superseded = outcomes
        .iter()
        .filter(|&&outcome| outcome == Outcome::Superseded)
        .count();
    assert_eq!(published + superseded, outcomes.len(), "{outcomes:?}");
    let pointer = pointers::read(&store, &"ci".parse().unwrap(), Backend::Cuda)
        .unwrap()
        .unwrap()
        .pointer;
    assert_eq!(pointer.current.build.0, PUBLISHERS);
    assert_eq!(pointer.generation.0, published as u64);
    assert_eq!(pointer.history.len() + 1, published);
    let builds: Vec<u64> = pointer
        .good_records()
        .map(|record| record.build.0)
        .collect();
    assert!(builds.is_sorted_by(|a, b| a > b), "{builds:?}");
}

type Look<'a> = Box<dyn Fn(&[u8]) + Send + Sync + 'a>;

/// A local store in which `before_swap` happens between a publisher's decision and its move.
struct Interfering<'a, F: Fn(u32) -> Interference + Send + Sync> {
    inner: &'a LocalStore,
    swaps: AtomicU32,
    before_swap: F,
    /// Looks at each pointer before it is written.
    named: Option<Look<'a>>,
}

enum Interference {
    None,
    /// The move happens and the answer is lost.
    LoseAnswer,
    /// The move happens, the answer is lost, and so is every later read.
    Vanish,
    /// An error without a move.
    Fail,
}

impl<F: Fn(u32) -> Interference + Send + Sync> kernrec_store::conformance::Delegate
    for Interfering<'_, F>
{
    fn inner(&self) -> &dyn Store {
        self.inner
    }
    fn read_pointer(&self, key: &Key, known: Option<&Version>) -> Result<PointerRead, StoreError> {
        if self.swaps.load(Ordering::SeqCst) == u32::MAX {
            return Err(self.lost());
        }
        self.inner.read_pointer(key, known)
    }
    fn swap_pointer(
        &self,
        key: &Key,
        expected: Option<&Version>,
        bytes: &[u8],
    ) -> Result<Swap, StoreError> {
        if let Some(look) = &self.named {
            look(bytes);
        }
        let interference = (self.before_swap)(self.swaps.fetch_add(1, Ordering::SeqCst));
        if matches!(interference, Interference::Fail) {
            return Err(self.lost());
        }
        let swapped = self.inner.swap_pointer(key, expected, bytes)?;
        match interference {
            Interference::None | Interference::Fail => Ok(swapped),
            Interference::LoseAnswer => Ok(Swap::Unknown(self.lost())),
            Interference::Vanish => {
                self.swaps.store(u32::MAX, Ordering::SeqCst);
                Ok(Swap::Unknown(self.lost()))
            }
        }
    }
}

impl<F: Fn(u32) -> Interference + Send + Sync> Interfering<'_, F> {
    fn lost(&self) -> StoreError {
        StoreError::NoStore {
            url: self.inner.url().to_owned(),
        }
    }
}

fn publish_build(store: &dyn Store, build: u64, jobs: usize) -> kernrec_publish::PublishReport {
    let jobs: Vec<Job> = (0..jobs)
        .map(|n| Job::new(&format!("j{n}"), &format!("s{n}")))
        .collect();
    let (_jobs, collected) = collect_jobs(&jobs);
    let maps = maps(vec![map(Backend::Cuda, &["k"])]);
    let mut request = request(Evidence::Recordings(&collected), &maps);
    request.build.0 = build;
    publish(store, &request).unwrap()
}

fn current_build(store: &LocalStore) -> Option<u64> {
    let found = pointers::read(store, &"ci".parse().unwrap(), Backend::Cuda).unwrap();
    found.map(|found| found.pointer.current.build.0)
}

fn interfering<F: Fn(u32) -> Interference + Send + Sync>(
    inner: &LocalStore,
    before_swap: F,
) -> Interfering<'_, F> {
    Interfering {
        inner,
        swaps: AtomicU32::new(0),
        before_swap,
        named: None,
    }
}

#[test]
fn after_a_lost_race_ordering_and_gates_are_run_against_the_winner() {
    // Each case: what the winner is, and how the loser ends.
    let cases = [
        (9, 1, Outcome::Superseded),
        (7, 1, Outcome::Published),
        (7, 3, Outcome::Refused),
    ];
    for (winner, winner_jobs, expected) in cases {
        let dir = tempfile::tempdir().unwrap();
        let inner = LocalStore::create(dir.path()).unwrap();
        let store = interfering(&inner, |swap| {
            if swap == 0 {
                publish_build(&inner, winner, winner_jobs);
            }
            Interference::None
        });
        let report = publish_build(&store, 8, 1);
        assert_eq!(report.outcome, expected, "winner of build {winner}");
        let last = if expected == Outcome::Published {
            8
        } else {
            winner
        };
        assert_eq!(current_build(&inner), Some(last));
    }
}

#[test]
fn a_record_revoked_while_it_is_published_stays_out() {
    let dir = tempfile::tempdir().unwrap();
    let inner = LocalStore::create(dir.path()).unwrap();
    publish_build(&inner, 7, 1);
    let store = interfering(&inner, |swap| {
        // Somebody publishes the same build first, and it is rolled back, all before this move.
        if swap == 0 {
            publish_build(&inner, 8, 1);
            let pipeline = "ci".parse().unwrap();
            let found = pointers::read(&inner, &pipeline, Backend::Cuda)
                .unwrap()
                .unwrap();
            let target = found.pointer.history[0].record.manifest;
            let nonce = pointers::fresh_nonce().unwrap();
            let now = kernrec_schemas::Timestamp::now();
            let back = found.pointer.rolled_back(&target, nonce, now).unwrap();
            let swap = pointers::swap(&inner, Some(&found.version), &back).unwrap();
            assert!(matches!(swap, Swap::Moved(_)));
        }
        Interference::None
    });
    let report = publish_build(&store, 8, 1);
    assert_eq!(report.outcome, Outcome::Refused);
    assert_eq!(report.refusals[0].word(), "revoked");
    assert_eq!(current_build(&inner), Some(7));
}

#[test]
fn everything_a_pointer_names_is_there_and_acceptable_before_it_moves() {
    let dir = tempfile::tempdir().unwrap();
    let inner = LocalStore::create(dir.path()).unwrap();
    let checked = AtomicU32::new(0);
    let store = Interfering {
        inner: &inner,
        swaps: AtomicU32::new(0),
        before_swap: |_| Interference::None,
        named: Some(Box::new(|bytes: &[u8]| {
            assert_is_whole(&inner, &Pointer::parse(bytes).unwrap());
            checked.fetch_add(1, Ordering::SeqCst);
        })),
    };
    publish_build(&store, 7, 2);
    publish_build(&store, 8, 3);
    assert_eq!(checked.load(Ordering::SeqCst), 2);
}

/// What a fetcher, and whoever folds the record again, does with what the pointer names.
fn assert_is_whole(store: &LocalStore, pointer: &Pointer) {
    let bytes = objects::read_bounded(store, &pointer.current.manifest, 4 << 20).unwrap();
    let manifest = RecordManifest::parse(&bytes).unwrap();
    let read = |file: &FileRef| objects::read(store, &file.digest, file.size).unwrap();
    let table = KernelTable::parse(&read(manifest.table().unwrap())).unwrap();
    let maps: Vec<_> = manifest
        .symbol_maps()
        .map(|(variant, file)| (variant, SymbolMap::load(&read(file)).unwrap()))
        .collect();
    let maps: Vec<_> = maps
        .iter()
        .map(|(variant, map)| (variant.clone(), map))
        .collect();
    agreement::check(&manifest, &table, &maps).unwrap();
    assert!(!manifest.bundles.is_empty());
    for bundle in &manifest.bundles {
        objects::verify(
            store,
            &Key::bundle(&bundle.digest),
            &bundle.digest,
            bundle.size,
        )
        .unwrap();
    }
}

#[test]
fn a_lost_answer_is_settled_by_reading_back_and_told_when_it_cannot_be() {
    let dir = tempfile::tempdir().unwrap();
    let inner = LocalStore::create(dir.path()).unwrap();
    let store = interfering(&inner, |_| Interference::LoseAnswer);
    assert_eq!(publish_build(&store, 8, 1).outcome, Outcome::Published);

    let store = interfering(&inner, |_| Interference::Vanish);
    let report = publish_build(&store, 9, 1);
    assert_eq!(report.outcome, Outcome::Unknown);
    assert_eq!(report.outcome.exit(), kernrec_schemas::exit::Exit::Unknown);
    assert!(report.failure.is_some());
    // Nothing was deleted: the record is whole under the pointer that did move.
    assert_eq!(current_build(&inner), Some(9));
    let digest: Digest = report.manifest.unwrap();
    kernrec_store::objects::read_bounded(&inner, &digest, 1 << 20).unwrap();
}

#[test]
fn an_error_without_a_move_is_a_failure_and_the_pointer_stays() {
    let dir = tempfile::tempdir().unwrap();
    let inner = LocalStore::create(dir.path()).unwrap();
    publish_build(&inner, 7, 1);
    let store = interfering(&inner, |_| Interference::Fail);
    let (_jobs, collected) = collect_jobs(&[Job::new("j1", "a")]);
    let maps = maps(vec![map(Backend::Cuda, &["k"])]);
    let mut request = request(Evidence::Recordings(&collected), &maps);
    request.build.0 = 8;
    assert_eq!(publish(&store, &request).unwrap_err().reason(), "no-store");
    assert_eq!(current_build(&inner), Some(7));
}
