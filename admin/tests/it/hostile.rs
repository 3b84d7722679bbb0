//! Documents that claim much, and stores in which others leave things.

use crate::support::{Fixture, ci, days, map_key, published, table_key};
use kernrec_admin::fsck::{Fsck, FsckOptions, fsck};
use kernrec_admin::gc::{DEFAULT_GRACE, GcOptions, gc};
use kernrec_admin::history::history;
use kernrec_schemas::manifest::FileRef;
use kernrec_schemas::pointer::{Pointer, RecordRef};
use kernrec_schemas::{Backend, BuildNumber, Digest};
use kernrec_store::{Key, Store, objects, pointers};
use std::os::unix::fs::symlink;

fn look(fixture: &Fixture) -> Fsck {
    let options = FsckOptions {
        quick: false,
        bundles: true,
        pipeline: ci(),
        require_keys: kernrec_store::signing::TrustedKeys::default(),
    };
    fsck(&fixture.store, &options).unwrap()
}

/// Makes the current record one whose manifest is this.
fn forge(fixture: &Fixture, change: impl FnOnce(&mut kernrec_schemas::manifest::RecordManifest)) {
    let mut manifest = fixture.manifest(1);
    change(&mut manifest);
    let digest = objects::put(&fixture.store, &manifest.to_canonical()).unwrap();
    fixture.move_pointer(|pointer, nonce| {
        let record = RecordRef {
            manifest: digest,
            ..pointer.current.clone()
        };
        pointer.advanced(record, nonce).unwrap()
    });
}

#[test]
fn a_pointer_with_256_past_records_is_looked_at_whole() {
    let fixture = published(&[1]);
    fixture.move_pointer(fill_history);
    let found = look(&fixture);
    assert_eq!((found.records, found.checked), (257, 260));
    assert_eq!(
        found.findings.len(),
        256,
        "the manifests of no record are missing"
    );
    assert!(
        found
            .findings
            .iter()
            .all(|finding| finding.reason == "not-found")
    );
    let history = history(&fixture.store, &ci(), Backend::Cuda, usize::MAX)
        .unwrap()
        .unwrap();
    assert_eq!(history.entries.len(), 257);
    let problems = history
        .entries
        .iter()
        .filter(|entry| entry.problem.is_some());
    assert_eq!(problems.count(), 256);
    // And a collection keeps what all of them name, or nothing at all is removed.
    fixture.age(days(100));
    let options = GcOptions {
        grace: DEFAULT_GRACE,
        delete: true,
        quiescent: false,
        accept_broken: false,
        require_keys: kernrec_store::signing::TrustedKeys::default(),
    };
    assert_eq!(
        gc(&fixture.store, &options).unwrap_err().reason(),
        "closure-unknown"
    );
}

fn fill_history(mut pointer: Pointer, _: kernrec_schemas::Nonce) -> Pointer {
    let good = pointer.current.clone();
    for n in 0..256_u64 {
        let record = RecordRef {
            manifest: Digest::of(&n.to_le_bytes()),
            build: BuildNumber(n + 10),
            ..good.clone()
        };
        let nonce = pointers::fresh_nonce().unwrap();
        pointer = pointer.advanced(record, nonce).unwrap();
    }
    pointer
}

#[test]
fn gigabytes_that_a_manifest_names_are_not_read() {
    let fixture = published(&[1]);
    let digest = table_key(&fixture, 1).digest().unwrap();
    forge(&fixture, |manifest| {
        let huge = FileRef {
            digest,
            size: 900 << 30,
            media_type: "application/octet-stream".to_owned(),
        };
        manifest.files.insert("something_new".to_owned(), huge);
        manifest.bundles[0].size = u64::MAX;
    });
    let found = look(&fixture);
    let words: Vec<&str> = found
        .findings
        .iter()
        .map(|finding| finding.reason)
        .collect();
    assert_eq!(words, ["object-damaged", "object-damaged"]);
    assert!(
        found
            .findings
            .iter()
            .all(|finding| finding.message.contains("at most"))
    );
}

#[test]
fn a_small_object_that_unpacks_to_much_more_is_cut_off() {
    let fixture = published(&[1]);
    let key = map_key(&fixture, 1);
    let bomb = objects::compress(&vec![0; 64 << 20]);
    fixture.store.put(&key, &bomb).unwrap();
    let found = look(&fixture);
    assert_eq!(found.findings.len(), 1);
    assert!(found.findings[0].message.contains("more than"), "{found:?}");
}

#[test]
fn a_manifest_named_as_its_own_table_ends() {
    let fixture = published(&[1]);
    let manifest = fixture.record(1).manifest;
    forge(&fixture, |forged| {
        let file = forged.files.get_mut("table").unwrap();
        file.digest = manifest;
        file.size = 1;
    });
    let found = look(&fixture);
    assert!(
        found
            .findings
            .iter()
            .any(|finding| finding.key == Key::object(&manifest))
    );
}

#[test]
fn an_object_that_is_a_fifo_or_a_folder_is_not_waited_for() {
    let fixture = published(&[1]);
    let (table, map) = (table_key(&fixture, 1), map_key(&fixture, 1));
    for key in [&table, &map] {
        fs_err::remove_file(fixture.path(key)).unwrap();
    }
    let made = std::process::Command::new("mkfifo")
        .arg(fixture.path(&table))
        .status();
    assert!(made.unwrap().success());
    fs_err::create_dir(fixture.path(&map)).unwrap();
    let found = look(&fixture);
    assert_eq!(found.findings.len(), 2);
    assert!(
        found
            .findings
            .iter()
            .all(|finding| !finding.told || finding.reason == "not-found")
    );
}

#[test]
fn an_object_that_is_a_link_is_read_and_a_collection_removes_only_the_link() {
    let fixture = published(&[1]);
    let table = fixture.path(&table_key(&fixture, 1));
    let moved = fixture.folder.path().join("table.zst");
    fs_err::rename(&table, &moved).unwrap();
    symlink(&moved, &table).unwrap();
    assert_eq!(look(&fixture).findings.len(), 0);
    let outside = fixture.folder.path().join("precious");
    fs_err::write(&outside, "precious").unwrap();
    crate::support::set_age(&outside, days(100));
    let orphan = fixture.path(&Key::object(&Digest::of(b"an orphan")));
    fs_err::create_dir_all(orphan.parent().unwrap()).unwrap();
    symlink(&outside, &orphan).unwrap();
    let options = GcOptions {
        grace: DEFAULT_GRACE,
        delete: true,
        quiescent: false,
        accept_broken: false,
        require_keys: kernrec_store::signing::TrustedKeys::default(),
    };
    let done = gc(&fixture.store, &options).unwrap();
    assert_eq!(done.removed.len(), 1);
    assert!(outside.exists() && moved.exists());
    assert!(fs_err::symlink_metadata(&orphan).is_err());
}
