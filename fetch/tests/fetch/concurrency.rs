//! Many at once: fetchers download once, readers never see a mixture, nothing held is removed.

use crate::support::{World, assert_commit};
use kernrec_fetch::{Source, Status, fetch, installed};
use kernrec_schemas::Backend;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

const CUDA: Backend = Backend::Cuda;

#[test]
fn concurrent_fetchers_download_once() {
    let world = World::new();
    world.publish(CUDA, "aaaa", 1);
    let options = world.options();
    let barrier = Barrier::new(8);
    let reports: Vec<_> = thread::scope(|scope| {
        let one = || {
            barrier.wait();
            let report = fetch(
                Source::Store(&world.store),
                &options,
                &kernrec_fetch::Silent,
            );
            crate::support::only(report)
        };
        let running: Vec<_> = (0..8).map(|_| scope.spawn(one)).collect();
        running.into_iter().map(|run| run.join().unwrap()).collect()
    });
    let with = |status| {
        reports
            .iter()
            .filter(|report| report.status == status)
            .count()
    };
    assert_eq!(
        (with(Status::Installed), with(Status::Unchanged)),
        (1, 7),
        "{reports:?}"
    );
    assert_eq!(
        reports
            .iter()
            .filter(|report| report.bytes_received > 0)
            .count(),
        1
    );
    assert_commit(&world.open().unwrap(), "aaaa");
}

#[test]
fn a_reader_never_sees_a_mixed_pair_while_pairs_are_swapped() {
    let world = World::new();
    let records: Vec<_> = (0..4)
        .map(|n| world.publish(CUDA, &format!("a{n}"), n))
        .collect();
    world.fetch();
    let done = AtomicBool::new(false);
    let seen = AtomicUsize::new(0);
    thread::scope(|scope| {
        let read = || {
            let mut last = 0;
            while !done.load(Ordering::Relaxed) {
                let pair = installed::open(&world.out, CUDA).unwrap();
                assert_commit(&pair, pair.record.commit.as_str());
                assert!(pair.folder.is_dir(), "a held folder was removed");
                let generation = pair.record.origin.generation;
                assert!(generation.0 >= last, "time went back");
                last = generation.0;
                seen.fetch_add(1, Ordering::Relaxed);
            }
        };
        scope.spawn(read);
        scope.spawn(read);
        for swap in 0..200 {
            world.point_at(CUDA, &records[swap % records.len()]);
            let report = world.fetch();
            assert_eq!(report.status, Status::Installed, "{report:?}");
        }
        done.store(true, Ordering::Relaxed);
    });
    assert!(seen.into_inner() > 0);
    assert_eq!(world.open().unwrap().record.origin.generation.0, 204);
}

#[test]
fn a_held_record_stays_until_it_is_let_go() {
    let world = World::new();
    world.publish(CUDA, "aaaa", 1);
    world.fetch();
    let held = world.open().unwrap();
    world.publish(CUDA, "bbbb", 2);
    world.fetch();
    assert!(held.folder.join("kernel_table.json.zst").is_file());
    assert_eq!(world.record_folders().len(), 2);
    drop(held);
    world.publish(CUDA, "cccc", 3);
    world.fetch();
    assert_eq!(world.record_folders().len(), 1);
}

#[test]
fn fetchers_of_a_moving_store_end_at_the_newest_record() {
    let world = World::new();
    world.publish(CUDA, "a0", 0);
    let options = world.options();
    let publishing = AtomicBool::new(true);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while publishing.load(Ordering::Relaxed) {
                    let report = fetch(
                        Source::Store(&world.store),
                        &options,
                        &kernrec_fetch::Silent,
                    );
                    let report = crate::support::only(report);
                    assert!(report.failure.is_none(), "{report:?}");
                }
            });
        }
        for build in 1..=40 {
            world.publish(CUDA, &format!("a{build}"), build);
        }
        publishing.store(false, Ordering::Relaxed);
    });
    world.fetch();
    assert_commit(&world.open().unwrap(), "a40");
    assert_eq!(world.open().unwrap().record.origin.generation.0, 41);
}

#[test]
fn two_backends_of_one_run_do_not_take_each_others_folders_for_abandoned() {
    let world = World::new();
    let mut options = world.options();
    options.backends = kernrec_fetch::Backends::All;
    for build in 0..20 {
        world.publish(CUDA, &format!("a{build}"), build);
        world.publish(Backend::Rocm, &format!("c{build}"), build);
        let report = world.fetch_with(&options);
        assert_eq!(report.exit, kernrec_schemas::exit::Exit::Done, "{report:?}");
        assert_commit(&world.open().unwrap(), &format!("a{build}"));
        let rocm = installed::open(&world.out, Backend::Rocm).unwrap();
        assert_commit(&rocm, &format!("c{build}"));
        assert_eq!(world.record_folders().len(), 2);
    }
}
