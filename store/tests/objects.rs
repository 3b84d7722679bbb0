//! Objects: verified on every read, healed on publish, bounded whatever they claim.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use kernrec_schemas::Digest;
use kernrec_store::{Key, LocalStore, Store, StoreError, objects};
use proptest::prelude::*;
use std::path::PathBuf;

struct Fixture {
    folder: tempfile::TempDir,
    store: LocalStore,
}

fn fixture() -> Fixture {
    let folder = tempfile::tempdir().unwrap();
    let store = LocalStore::create(folder.path()).unwrap();
    Fixture { folder, store }
}

impl Fixture {
    fn path(&self, digest: &Digest) -> PathBuf {
        self.folder.path().join(Key::object(digest).as_str())
    }
}

const CONTENT: &[u8] =
    b"a kernel table that is long enough to be compressed, compressed, compressed";

#[test]
fn an_object_reads_back_and_is_stored_under_its_digest() {
    let f = fixture();
    let digest = objects::put(&f.store, CONTENT).unwrap();
    assert_eq!(digest, Digest::of(CONTENT));
    assert_eq!(
        objects::read(&f.store, &digest, CONTENT.len() as u64).unwrap(),
        CONTENT
    );
    assert!(f.path(&digest).is_file());
}

#[test]
fn a_flipped_byte_anywhere_is_detected() {
    let f = fixture();
    let digest = objects::put(&f.store, CONTENT).unwrap();
    let path = f.path(&digest);
    let good = fs_err::read(&path).unwrap();
    for at in 0..good.len() {
        for bit in 0..8 {
            let mut bad = good.clone();
            bad[at] ^= 1 << bit;
            fs_err::write(&path, &bad).unwrap();
            let read = objects::read(&f.store, &digest, CONTENT.len() as u64);
            let error = read.expect_err("a flipped byte is detected");
            assert!(
                matches!(error, StoreError::Damaged { .. }),
                "byte {at} bit {bit}: {error}"
            );
        }
    }
}

#[test]
fn a_cut_or_lengthened_object_is_detected() {
    let f = fixture();
    let digest = objects::put(&f.store, CONTENT).unwrap();
    let path = f.path(&digest);
    let good = fs_err::read(&path).unwrap();
    let longer = [&good[..], b"x"].concat();
    let twice = [&good[..], &good[..]].concat();
    let cuts = (0..good.len()).map(|end| good[..end].to_vec());
    for bad in cuts.chain([longer, twice]) {
        fs_err::write(&path, &bad).unwrap();
        let error = objects::read(&f.store, &digest, CONTENT.len() as u64).unwrap_err();
        assert!(
            matches!(error, StoreError::Damaged { .. }),
            "{} bytes: {error}",
            bad.len()
        );
    }
}

#[test]
fn publishing_heals_a_damaged_object() {
    let f = fixture();
    let digest = objects::put(&f.store, CONTENT).unwrap();
    fs_err::write(f.path(&digest), b"rubbish").unwrap();
    objects::put(&f.store, CONTENT).unwrap();
    assert_eq!(
        objects::read(&f.store, &digest, CONTENT.len() as u64).unwrap(),
        CONTENT
    );
}

#[test]
fn decompression_stops_at_the_promised_size() {
    let f = fixture();
    let bomb = vec![0_u8; 64 << 20];
    let frame = objects::compress(&bomb);
    assert!(frame.len() < 16 * 1024, "a bomb is small");
    let digest = Digest::of(CONTENT);
    f.store.put_new(&Key::object(&digest), &frame).unwrap();
    let error = objects::read(&f.store, &digest, CONTENT.len() as u64).unwrap_err();
    assert_eq!(error.reason(), "object-damaged");
    assert!(error.to_string().contains("more than 75 bytes"), "{error}");
}

#[test]
fn a_missing_object_is_not_found_and_names_key_and_store() {
    let f = fixture();
    let digest = Digest::of(b"never stored");
    let error = objects::read(&f.store, &digest, 1).unwrap_err();
    assert_eq!(error.reason(), "not-found");
    assert!(
        error.to_string().contains(Key::object(&digest).as_str()),
        "{error}"
    );
}

#[test]
fn the_copy_holds_the_stored_bytes() {
    let f = fixture();
    let digest = objects::put(&f.store, CONTENT).unwrap();
    let mut copy = Vec::new();
    let key = Key::object(&digest);
    let size = CONTENT.len() as u64;
    objects::read_teed(&f.store, &key, &digest, size, &mut copy).unwrap();
    assert_eq!(copy, fs_err::read(f.path(&digest)).unwrap());
}

proptest! {
    #[test]
    fn any_content_round_trips(content in proptest::collection::vec(any::<u8>(), 0..5000)) {
        let frame = objects::compress(&content);
        let digest = Digest::of(&content);
        let decoded = objects::decode(&frame[..], &digest, content.len() as u64).unwrap();
        prop_assert_eq!(decoded, content);
    }

    #[test]
    fn rubbish_never_decodes_and_never_panics(rubbish in proptest::collection::vec(any::<u8>(), 0..300)) {
        prop_assert!(objects::decode(&rubbish[..], &Digest::of(CONTENT), CONTENT.len() as u64).is_err());
    }
}

/// Sets when an object was stored.
fn stored_ago(fixture: &Fixture, digest: &Digest, age: std::time::Duration) {
    let file = fs_err::OpenOptions::new()
        .write(true)
        .open(fixture.path(digest))
        .unwrap();
    let at = std::time::SystemTime::now() - age;
    file.file().set_modified(at).unwrap();
}

#[test]
fn an_object_that_stood_there_for_long_is_stored_anew_and_a_young_one_is_not() {
    let fixture = fixture();
    let digest = objects::put(&fixture.store, CONTENT).unwrap();
    let stored_at = || {
        let stat = fixture.store.stat(&Key::object(&digest)).unwrap();
        stat.unwrap().modified
    };
    let hour = std::time::Duration::from_hours(1);
    stored_ago(&fixture, &digest, hour);
    let young = stored_at();
    objects::put(&fixture.store, CONTENT).unwrap();
    assert_eq!(stored_at(), young, "a young object is left as it is");

    stored_ago(&fixture, &digest, objects::REFRESHED_AFTER + hour);
    let old = stored_at();
    objects::put(&fixture.store, CONTENT).unwrap();
    assert!(
        stored_at().seconds_since(old) > 60 * 60,
        "a collection by age spares what a publisher counts on"
    );
    let size = CONTENT.len() as u64;
    let key = Key::object(&digest);
    assert_eq!(
        objects::declared_size(&fixture.store, &key, &digest).unwrap(),
        size
    );
    objects::verify(&fixture.store, &key, &digest, size).unwrap();
}
