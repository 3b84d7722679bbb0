//! A collection beside publishers: whoever is first, no pointer ends up naming what is gone.

use crate::gc::options;
use crate::support::{Fixture, bundle_key, ci, days, orphan, publish_build, published, table_key};
use crate::wrapped::Wrapped;
use kernrec_admin::fsck::{FsckOptions, fsck};
use kernrec_admin::gc::{GcError, GcOptions, gc};
use kernrec_publish::Outcome;
use kernrec_store::Key;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Everything of build 2 stands in the store, old and named by nothing, as after 256 further publishes or a
/// publisher that was killed. A publisher of build 2 finds it all in place.
fn scene() -> Fixture {
    let fixture = published(&[2]);
    let pointer = fixture.root().join("pointers/ci/cuda.json");
    fs_err::remove_file(pointer).unwrap();
    fixture.age(days(30));
    fixture
}

/// The scenes' pointer is not there yet, which a collection must be told to go on without.
fn unpointed() -> GcOptions {
    GcOptions {
        accept_broken: true,
        ..options(true)
    }
}

fn is_whole(fixture: &Fixture) -> bool {
    let options = FsckOptions {
        quick: false,
        bundles: true,
        pipeline: ci(),
        require_keys: kernrec_store::signing::TrustedKeys::default(),
    };
    let found = fsck(&fixture.store, &options).unwrap();
    found.findings.is_empty() && found.pointers == 1
}

/// The n-th operation of the collection at which the publisher runs from start to end.
#[test]
fn a_publish_between_any_two_steps_of_a_collection_loses_nothing() {
    for at in 0.. {
        let fixture = scene();
        let count = AtomicU64::new(0);
        let outcome = std::sync::Mutex::new(None);
        let store = Wrapped::new(&fixture.store, |_, _| {
            if count.fetch_add(1, Ordering::SeqCst) == at {
                let report = publish_build(&fixture.store, 2);
                *outcome.lock().unwrap() = Some(report.outcome);
            }
        });
        let done = gc(&store, &unpointed()).unwrap();
        assert!(done.failure.is_none(), "at step {at}: {done:?}");
        let Some(outcome) = *outcome.lock().unwrap() else {
            assert!(at > 10, "a collection has many steps, not {at}");
            return;
        };
        assert_eq!(outcome, Outcome::Published, "at step {at}");
        assert!(is_whole(&fixture), "at step {at}");
    }
}

/// The n-th operation of the publisher at which the collection runs from start to end.
#[test]
fn a_collection_between_any_two_steps_of_a_publish_loses_nothing() {
    for at in 0.. {
        let fixture = scene();
        let (count, ran) = (AtomicU64::new(0), AtomicBool::new(false));
        let store = Wrapped::new(&fixture.store, |_, _| {
            if count.fetch_add(1, Ordering::SeqCst) == at {
                let done = gc(&fixture.store, &unpointed()).unwrap();
                assert!(done.failure.is_none(), "{done:?}");
                ran.store(true, Ordering::SeqCst);
            }
        });
        let report = publish_build(&store, 2);
        if !ran.load(Ordering::SeqCst) {
            assert!(at > 15, "a publish has many steps, not {at}");
            return;
        }
        assert_eq!(report.outcome, Outcome::Published, "at step {at}");
        assert!(is_whole(&fixture), "at step {at}");
    }
}

#[test]
fn what_a_pointer_came_to_name_after_the_listing_is_spared() {
    let fixture = published(&[1]);
    let key = Key::object(&orphan(&fixture.store, b"{}"));
    let (table, first) = (table_key(&fixture, 1), AtomicBool::new(true));
    let record = fixture.record(1);
    // Named by nothing now, and the pointer comes back before the first removal.
    let pointer = fixture.root().join("pointers/ci/cuda.json");
    let bytes = fs_err::read(&pointer).unwrap();
    fs_err::remove_file(&pointer).unwrap();
    fixture.age(days(30));
    let store = Wrapped::new(&fixture.store, |operation, _| {
        if operation == "discard" && first.swap(false, Ordering::SeqCst) {
            fs_err::write(&pointer, &bytes).unwrap();
        }
    });
    let done = gc(&store, &unpointed()).unwrap();
    assert!(done.failure.is_none(), "{done:?}");
    assert!(done.spared.contains(&table), "{done:?}");
    assert!(done.spared.contains(&Key::object(&record.manifest)));
    let removed: Vec<Key> = done.removed.into_iter().map(|entry| entry.key).collect();
    assert_eq!(removed, [key]);
    assert!(is_whole(&fixture));
}

#[test]
fn a_publisher_that_keeps_none_of_the_rules_is_noticed() {
    let fixture = published(&[1]);
    let bundle = bundle_key(&fixture, 1);
    let last = bundle.clone();
    let pointer = fixture.root().join("pointers/ci/cuda.json");
    let bytes = fs_err::read(&pointer).unwrap();
    fs_err::remove_file(&pointer).unwrap();
    fixture.age(days(30));
    // It moves its pointer, long after its uploads, when the removals have begun.
    let store = Wrapped::new(&fixture.store, |operation, key| {
        if operation == "delete_old" && *key == last {
            fs_err::write(&pointer, &bytes).unwrap();
        }
    });
    let done = gc(&store, &unpointed()).unwrap();
    assert!(
        matches!(done.failure, Some(GcError::RemovedNamed { .. })),
        "{done:?}"
    );
    // Which publishing again heals.
    publish_build(&fixture.store, 1);
    assert!(fixture.path(&bundle).exists() && is_whole(&fixture));
}

#[test]
fn publishers_and_collections_at_once() {
    const BUILDS: std::ops::RangeInclusive<u64> = 1..=12;
    let builds: Vec<u64> = BUILDS.collect();
    let fixture = published(&builds);
    fs_err::remove_file(fixture.root().join("pointers/ci/cuda.json")).unwrap();
    // Whatever the publishers need stands there, old and unnamed, until one stores it anew or it is collected.
    fixture.age(days(30));
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let collector = scope.spawn(|| {
            let mut removed = 0;
            while !over.load(Ordering::SeqCst) {
                let done = gc(&fixture.store, &unpointed()).unwrap();
                assert!(done.failure.is_none(), "{done:?}");
                removed += done.removed.len();
            }
            removed
        });
        for &build in &builds {
            assert_eq!(
                publish_build(&fixture.store, build).outcome,
                Outcome::Published
            );
        }
        over.store(true, Ordering::SeqCst);
        collector.join().unwrap();
    });
    assert!(is_whole(&fixture));
}
