//! One flipped byte, anywhere: noticed, or without effect on what is read; never installed, never believed.

use crate::support::{World, assert_commit, object_path, overwrite, pointer_path};
use kernrec_fetch::Status;
use kernrec_schemas::Backend;
use std::path::Path;

const CUDA: Backend = Backend::Cuda;

/// Flips each byte of a file in turn, one or all of its bits, and puts the file back afterwards.
fn for_each_flip(path: &Path, mut check: impl FnMut(usize)) {
    let good = fs_err::read(path).unwrap();
    for at in 0..good.len() {
        let mut bad = good.clone();
        bad[at] ^= if at % 2 == 0 { 0xff } else { 1 };
        overwrite(path, &bad);
        check(at);
    }
    overwrite(path, &good);
}

/// A store with a second record on top of an installed one.
fn two() -> (World, kernrec_schemas::pointer::RecordRef) {
    let world = World::new();
    world.publish(CUDA, "aaaa", 1);
    world.fetch();
    let second = world.publish(CUDA, "bbbb", 2);
    (world, second)
}

/// After a fetch from a damaged store, either the old pair is whole and the failure named, or the damage was
/// in bytes that mean nothing and the new pair is whole.
fn assert_safe(world: &World, at: usize) -> bool {
    let report = world.fetch();
    let commit = if report.status == Status::Installed {
        "bbbb"
    } else {
        "aaaa"
    };
    assert_commit(&world.open().unwrap(), commit);
    assert_eq!(
        report.failure.is_none(),
        commit == "bbbb",
        "byte {at}: {report:?}"
    );
    commit == "aaaa"
}

fn back_to_the_first(world: &World) {
    fs_err::remove_dir_all(&world.out).unwrap();
    let first = kernrec_fetch::Choice::Commit(crate::support::commit_of("aaaa"));
    world.fetch_choice(first);
}

/// zstd's frame header has bits that change nothing about the content; all else must be noticed.
const FRAME_HEADER: usize = 8;

fn flips_in_an_object(path: impl FnOnce(&World) -> std::path::PathBuf) {
    let (world, _) = two();
    let path = path(&world);
    for_each_flip(&path, |at| {
        let noticed = assert_safe(&world, at);
        assert!(noticed || at < FRAME_HEADER, "byte {at}");
        if !noticed {
            back_to_the_first(&world);
        }
    });
    assert_eq!(world.fetch().status, Status::Installed);
}

#[test]
fn in_a_stored_manifest() {
    flips_in_an_object(|world| {
        let pointer = fs_err::read(pointer_path(world)).unwrap();
        let pointer = kernrec_schemas::pointer::Pointer::parse(&pointer).unwrap();
        object_path(world, &pointer.current.manifest)
    });
}

#[test]
fn in_a_stored_table() {
    flips_in_an_object(|world| {
        let draft = crate::support::Draft::new(CUDA, "bbbb", 2);
        let digest = kernrec_schemas::Digest::of(&draft.table.to_canonical());
        object_path(world, &digest)
    });
}

/// A pointer carries no digest: a flip may make it another valid pointer, but never a pair that is not whole.
#[test]
fn in_a_pointer() {
    let (world, _) = two();
    let good = fs_err::read(pointer_path(&world)).unwrap();
    for_each_flip(&pointer_path(&world), |at| {
        let report = world.fetch();
        let pair = world.open().unwrap();
        assert_commit(&pair, pair.record.commit.as_str());
        assert!(
            report.failure.is_some() || pair.record.commit.as_str() == "bbbb",
            "byte {at}: {report:?}"
        );
        if pair.record.commit.as_str() != "aaaa" {
            overwrite(&pointer_path(&world), &good);
            back_to_the_first(&world);
        }
    });
}

#[test]
fn in_an_installed_file() {
    let world = World::new();
    world.publish(CUDA, "aaaa", 1);
    world.fetch();
    for name in ["kernel_table.json.zst", "kernel_symbol_map.json.zst"] {
        for_each_flip(&world.folder().join(name), |at| {
            let opened = world.open();
            assert!(opened.is_err() || at < FRAME_HEADER, "byte {at} of {name}");
            let noticed = opened.is_err();
            // Healing costs a download and several fsyncs: not for every byte.
            if at % 16 != 0 {
                return;
            }
            let report = world.fetch();
            assert_eq!(
                report.status == Status::Healed,
                noticed,
                "byte {at}: {report:?}"
            );
            assert_commit(&world.open().unwrap(), "aaaa");
        });
    }
}

#[test]
fn in_an_installed_document() {
    let world = World::new();
    world.publish(CUDA, "aaaa", 1);
    world.fetch();
    for_each_flip(&world.folder().join("record.json"), |at| {
        assert!(world.open().is_err(), "byte {at}");
        if at % 64 != 0 {
            return;
        }
        assert_eq!(world.fetch().status, Status::Healed, "byte {at}");
        assert_commit(&world.open().unwrap(), "aaaa");
    });
}

#[test]
fn a_store_cut_short_anywhere_is_noticed() {
    let (world, second) = two();
    let path = object_path(&world, &second.manifest);
    let good = fs_err::read(&path).unwrap();
    for length in 0..good.len() {
        overwrite(&path, &good[..length]);
        assert!(assert_safe(&world, length));
    }
    overwrite(&path, &[good.as_slice(), b"x"].concat());
    assert!(assert_safe(&world, good.len()));
}
