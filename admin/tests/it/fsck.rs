//! What is wrong is found, named, and left as it is.

use crate::support::{
    Fixture, bundle_key, ci, damage, files, map_key, orphan, published, table_key,
};
use crate::wrapped::Wrapped;
use kernrec_admin::fsck::{Fsck, FsckOptions, fsck};
use kernrec_store::{Key, Store};

fn look(fixture: &Fixture, quick: bool) -> Fsck {
    let options = FsckOptions {
        quick,
        bundles: true,
        pipeline: ci(),
        require_keys: kernrec_store::signing::TrustedKeys::default(),
    };
    fsck(&fixture.store, &options).unwrap()
}

fn findings(found: &Fsck) -> Vec<(String, &'static str, Vec<String>)> {
    let breaks = |named: &kernrec_admin::Named| named.to_string();
    let mut all: Vec<_> = found
        .findings
        .iter()
        .map(|finding| {
            let broken = finding.breaks.iter().map(breaks).collect();
            (finding.key.as_str().to_owned(), finding.reason, broken)
        })
        .collect();
    all.sort();
    all
}

#[test]
fn a_healthy_store_is_whole_and_is_not_written_to() {
    let fixture = published(&[1, 2, 3]);
    let before: Vec<_> = contents(&fixture);
    for quick in [true, false] {
        let found = look(&fixture, quick);
        assert_eq!(findings(&found), []);
        assert_eq!((found.pointers, found.records), (1, 3));
        // Three manifests, tables and bundles, and the map that they share.
        assert_eq!(found.checked, 10);
        assert_eq!(found.hashed_bytes > 0, !quick);
        assert_eq!(found.orphans.unwrap(), []);
    }
    assert_eq!(contents(&fixture), before);
}

fn contents(fixture: &Fixture) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    let mut all: Vec<_> = files(&fixture.root())
        .into_iter()
        .map(|path| (path.clone(), fs_err::read(&path).unwrap()))
        .collect();
    all.sort();
    all
}

#[test]
fn damage_is_named_with_every_record_that_it_breaks() {
    let fixture = published(&[1, 2]);
    let (table, map, bundle) = (
        table_key(&fixture, 2),
        map_key(&fixture, 1),
        bundle_key(&fixture, 1),
    );
    for key in [&table, &map, &bundle] {
        damage(&fixture, key);
    }
    let (past, current) = ("ci/cuda build 1 (past)", "ci/cuda build 2 (current)");
    let owned = |records: &[&str]| records.iter().map(|&record| record.to_owned()).collect();
    let mut expected = vec![
        (
            table.as_str().to_owned(),
            "object-damaged",
            owned(&[current]),
        ),
        (
            map.as_str().to_owned(),
            "object-damaged",
            owned(&[current, past]),
        ),
        (bundle.as_str().to_owned(), "object-damaged", owned(&[past])),
    ];
    expected.sort();
    let found = look(&fixture, false);
    assert_eq!(findings(&found), expected);
    assert!(found.findings.iter().all(|finding| finding.told));
    // A flipped byte in the middle is no matter of presence and size.
    assert_eq!(findings(&look(&fixture, true)), []);
}

#[test]
fn what_is_missing_or_of_another_size_is_found_quickly_too() {
    let fixture = published(&[1, 2]);
    let (gone, other) = (table_key(&fixture, 1), table_key(&fixture, 2));
    fixture.store.delete(&gone).unwrap();
    let frame = kernrec_store::objects::compress(b"something else");
    fixture.store.put(&other, &frame).unwrap();
    for quick in [true, false] {
        let found = findings(&look(&fixture, quick));
        let mut words: Vec<_> = found
            .iter()
            .map(|(key, word, _)| (key.as_str(), *word))
            .collect();
        words.sort_unstable();
        let mut expected = vec![
            (gone.as_str(), "not-found"),
            (other.as_str(), "object-damaged"),
        ];
        expected.sort_unstable();
        assert_eq!(words, expected, "quick: {quick}");
    }
}

#[test]
fn a_lost_manifest_is_a_finding_and_orphans_are_not_guessed() {
    let fixture = published(&[1, 2]);
    let manifest = Key::object(&fixture.record(1).manifest);
    fixture.store.delete(&manifest).unwrap();
    let found = look(&fixture, false);
    assert_eq!(
        findings(&found),
        [(
            manifest.as_str().to_owned(),
            "not-found",
            vec!["ci/cuda build 1 (past)".to_owned()]
        )]
    );
    assert!(found.orphans.is_none(), "build 1's table is no orphan");
}

#[test]
fn a_manifest_of_another_record_is_a_finding() {
    let fixture = published(&[1, 2]);
    let other = fixture.record(1);
    fixture.move_pointer(|pointer, nonce| {
        let mut record = pointer.current.clone();
        record.manifest = other.manifest;
        pointer.advanced(record, nonce).unwrap()
    });
    let found = findings(&look(&fixture, false));
    assert!(
        found
            .iter()
            .any(|(_, word, _)| *word == "manifest-mismatch"),
        "{found:?}"
    );
}

#[test]
fn orphans_and_foreign_files_are_told_apart_and_are_no_findings() {
    let fixture = published(&[1]);
    let digest = orphan(&fixture.store, b"nobody names this");
    fs_err::write(fixture.root().join("objects/README.txt"), "hello").unwrap();
    fs_err::write(fixture.root().join("objects/b3/odd name"), "hello").unwrap();
    let found = look(&fixture, false);
    assert_eq!(findings(&found), []);
    let orphans: Vec<Key> = found
        .orphans
        .unwrap()
        .into_iter()
        .map(|entry| entry.key)
        .collect();
    assert_eq!(orphans, [Key::object(&digest)]);
    let foreign: Vec<&str> = found.foreign.iter().map(Key::as_str).collect();
    assert_eq!(foreign, ["objects/README.txt"]);
}

#[test]
fn pointers_that_cannot_be_read_are_findings() {
    let fixture = published(&[1]);
    fs_err::write(fixture.root().join("pointers/ci/rocm.json"), "{}").unwrap();
    fs_err::write(fixture.root().join("pointers/ci/xpu.json"), "{}").unwrap();
    fs_err::write(fixture.root().join("pointers/notes.txt"), "hello").unwrap();
    let found = look(&fixture, false);
    let words: Vec<_> = found
        .findings
        .iter()
        .map(|finding| (finding.key.as_str(), finding.reason))
        .collect();
    assert_eq!(
        words,
        [
            ("pointers/ci/rocm.json", "document-malformed"),
            ("pointers/ci/xpu.json", "strange-pointer")
        ]
    );
    assert!(found.orphans.is_none());
}

#[test]
fn a_record_that_a_publish_drops_meanwhile_is_no_finding() {
    let fixture = published(&[1, 2]);
    let key = table_key(&fixture, 1);
    let store = Wrapped::new(&fixture.store, |operation, at| {
        // A publish drops build 1 from the history, and a collection removes its table, before it is looked at.
        if operation == "read" && *at == key && fixture.pointer().history.len() == 1 {
            fixture.forget_history();
            fixture.store.delete(&key).unwrap();
        }
    });
    let options = FsckOptions {
        quick: false,
        bundles: true,
        pipeline: ci(),
        require_keys: kernrec_store::signing::TrustedKeys::default(),
    };
    let found = fsck(&store, &options).unwrap();
    assert_eq!(findings(&found), [], "build 1 is named by nothing any more");
    assert!(
        !fixture.path(&key).exists(),
        "the table was looked for when it was gone"
    );
}

#[test]
fn a_folder_in_the_place_of_a_pointer_is_found() {
    let fixture = published(&[1]);
    let orphan = orphan(&fixture.store, b"nobody names this");
    fs_err::create_dir(fixture.root().join("pointers/ci/rocm.json")).unwrap();
    let found = look(&fixture, true);
    let expected = ("pointers/ci/rocm.json".to_owned(), "file-error", vec![]);
    assert_eq!(findings(&found), [expected]);
    assert!(found.findings[0].told, "it is there to be seen");
    assert!(found.orphans.is_none(), "{orphan} may be its");
}
