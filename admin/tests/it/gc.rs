//! What goes, what stays, and when nothing may go.

use crate::support::{
    Fixture, bundle_key, days, files, map_key, orphan, published, set_age, table_key,
};
use kernrec_admin::gc::{DEFAULT_GRACE, Gc, GcError, GcOptions, gc};
use kernrec_schemas::Timestamp;
use kernrec_store::{Key, Store};
use std::os::unix::fs::symlink;
use std::time::Duration;

/// Does some harm to a store.
type Break = fn(&Fixture);

pub(crate) fn options(delete: bool) -> GcOptions {
    GcOptions {
        grace: DEFAULT_GRACE,
        delete,
        quiescent: false,
        accept_broken: false,
        require_keys: kernrec_store::signing::TrustedKeys::default(),
    }
}

fn removed(done: &Gc) -> Vec<Key> {
    done.removed.iter().map(|entry| entry.key.clone()).collect()
}

/// Two old builds of which the first is out of the history, and an orphan.
fn scene() -> (Fixture, Vec<Key>) {
    let fixture = published(&[1, 2]);
    let mut old = vec![
        table_key(&fixture, 1),
        bundle_key(&fixture, 1),
        Key::object(&fixture.record(1).manifest),
        Key::object(&orphan(&fixture.store, b"nobody names this")),
    ];
    fixture.forget_history();
    fixture.age(days(8));
    old.sort();
    (fixture, old)
}

#[test]
fn a_dry_run_says_what_would_go_and_removes_nothing() {
    let (fixture, old) = scene();
    let before = files(&fixture.root());
    let done = gc(&fixture.store, &options(false)).unwrap();
    assert_eq!(sorted(removed(&done)), old);
    assert_eq!(done.named, 4, "manifest, table, map and bundle of build 2");
    assert_eq!(files(&fixture.root()), before);
}

fn sorted(mut keys: Vec<Key>) -> Vec<Key> {
    keys.sort();
    keys
}

#[test]
fn what_nothing_names_goes_and_every_record_stays_whole() {
    let (fixture, old) = scene();
    let done = gc(&fixture.store, &options(true)).unwrap();
    assert!(done.failure.is_none(), "{done:?}");
    assert_eq!(sorted(removed(&done)), old);
    for key in &old {
        assert!(!fixture.path(key).exists(), "{key}");
    }
    assert!(
        fixture.path(&map_key(&fixture, 2)).exists(),
        "build 2 shares the map"
    );
    assert_eq!(fixture.fetch().exit.code(), 0);
    let again = gc(&fixture.store, &options(true)).unwrap();
    assert_eq!(removed(&again), []);
}

#[test]
fn history_and_revoked_records_are_kept_however_old() {
    let fixture = published(&[1, 2, 3]);
    let target = fixture.record(1).manifest;
    fixture.move_pointer(|pointer, nonce| {
        pointer
            .rolled_back(&target, nonce, Timestamp::now())
            .unwrap()
    });
    fixture.age(days(1000));
    let done = gc(&fixture.store, &options(true)).unwrap();
    assert_eq!(removed(&done), []);
    assert_eq!(done.named, 10);
}

#[test]
fn the_young_stays_and_the_age_is_the_stores() {
    let fixture = published(&[1]);
    let old = Key::object(&orphan(&fixture.store, b"old"));
    let young = Key::object(&orphan(&fixture.store, b"young"));
    let future = Key::object(&orphan(&fixture.store, b"of a clock that is wrong"));
    set_age(&fixture.path(&old), days(8));
    set_age(&fixture.path(&young), days(6));
    let ahead = std::time::SystemTime::now() + days(30);
    let file = fs_err::OpenOptions::new()
        .write(true)
        .open(fixture.path(&future))
        .unwrap();
    file.file().set_modified(ahead).unwrap();
    let done = gc(&fixture.store, &options(true)).unwrap();
    assert_eq!(removed(&done), [old]);
    assert_eq!(done.young, 2);
}

#[test]
fn a_short_grace_needs_a_quiet_store() {
    let (fixture, old) = scene();
    let short = GcOptions {
        grace: Duration::from_hours(47),
        ..options(true)
    };
    let refused = gc(&fixture.store, &short).unwrap_err();
    assert_eq!(refused.reason(), "grace-too-short");
    // Looking needs no care.
    let look = GcOptions {
        delete: false,
        ..short.clone()
    };
    assert_eq!(
        removed(&gc(&fixture.store, &look).unwrap()).len(),
        old.len()
    );
    let quiet = GcOptions {
        quiescent: true,
        ..short.clone()
    };
    assert_eq!(
        removed(&gc(&fixture.store, &quiet).unwrap()).len(),
        old.len()
    );
}

#[test]
fn foreign_files_and_odd_names_are_never_touched() {
    let fixture = published(&[1]);
    let root = fixture.root();
    let hex = "0".repeat(62);
    let names = [
        "objects/README.txt".to_owned(),
        format!("objects/b3/00/{hex}.gz"),
        format!("objects/b3/00/{}.zst", "0".repeat(61)),
        format!("objects/b3/00/{}.zst", "F".repeat(62)),
        format!("objects/b4/00/{hex}.zst"),
        format!("objects/b3/00/sub/{hex}.zst"),
        "objects/b3/00/odd name.zst".to_owned(),
        format!("bundles/b3/00/{hex}.zst"),
        "latest.json".to_owned(),
        "ci/kernrec/c0de/kernel_table.json.gz".to_owned(),
        "scratch/not-a-nonce/x".to_owned(),
    ];
    for name in &names {
        let path = root.join(name);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(&path, "x").unwrap();
    }
    fixture.age(days(1000));
    let done = gc(&fixture.store, &options(true)).unwrap();
    assert_eq!(removed(&done), []);
    assert!(done.scratch.is_empty());
    for name in &names {
        assert!(root.join(name).exists(), "{name}");
    }
}

#[test]
fn an_unreadable_pointer_or_manifest_ends_it_before_anything_goes() {
    let break_it: [(&str, Break); 7] = [
        ("a folder in the place of a pointer", |fixture| {
            let pointer = fixture.root().join("pointers/ci/cuda.json");
            fs_err::remove_file(&pointer).unwrap();
            fs_err::create_dir(&pointer).unwrap();
        }),
        ("a malformed pointer", |fixture| {
            fs_err::write(fixture.root().join("pointers/ci/rocm.json"), "{").unwrap();
        }),
        ("a pointer of a later version", |fixture| {
            fs_err::write(fixture.root().join("pointers/ci/xpu.json"), "{}").unwrap();
        }),
        ("a link that leads nowhere", |fixture| {
            symlink("/nowhere", fixture.root().join("pointers/ci/rocm.json")).unwrap();
        }),
        ("pointers behind a link", |fixture| {
            symlink("ci", fixture.root().join("pointers/other")).unwrap();
        }),
        ("a lost manifest", |fixture| {
            let key = Key::object(&fixture.record(2).manifest);
            fixture.store.delete(&key).unwrap();
        }),
        ("no pointer at all", |fixture| {
            fs_err::remove_dir_all(fixture.root().join("pointers")).unwrap();
        }),
    ];
    for (what, break_it) in break_it {
        let (fixture, old) = scene();
        break_it(&fixture);
        let refused = gc(&fixture.store, &options(true)).unwrap_err();
        assert!(
            matches!(refused, GcError::ClosureUnknown { .. } | GcError::Store(_)),
            "{what}: {refused}"
        );
        for key in &old {
            assert!(fixture.path(key).exists(), "{what}: {key}");
        }
    }
}

#[test]
fn with_a_lost_manifest_accepted_the_other_records_stay_whole() {
    let fixture = published(&[1, 2]);
    let (lost, table, kept) = (
        Key::object(&fixture.record(1).manifest),
        table_key(&fixture, 1),
        table_key(&fixture, 2),
    );
    fixture.store.delete(&lost).unwrap();
    fixture.age(days(8));
    let accepting = GcOptions {
        accept_broken: true,
        ..options(true)
    };
    let done = gc(&fixture.store, &accepting).unwrap();
    assert!(removed(&done).contains(&table));
    assert!(fixture.path(&kept).exists());
    assert_eq!(fixture.fetch().exit.code(), 0);
}

#[test]
fn a_store_that_lost_its_pointers_for_good_is_emptied_only_when_told_so() {
    let (fixture, old) = scene();
    fs_err::remove_dir_all(fixture.root().join("pointers")).unwrap();
    let looking = gc(&fixture.store, &options(false)).unwrap_err();
    assert_eq!(looking.reason(), "closure-unknown");
    let told = GcOptions {
        accept_broken: true,
        ..options(true)
    };
    let gone = removed(&gc(&fixture.store, &told).unwrap());
    assert!(old.iter().all(|key| gone.contains(key)), "{gone:?}");
}

#[test]
fn an_empty_store_has_nothing_to_remove() {
    let folder = tempfile::tempdir().unwrap();
    let store = kernrec_store::LocalStore::create(&folder.path().join("store")).unwrap();
    assert_eq!(removed(&gc(&store, &options(true)).unwrap()), []);
}

#[test]
fn a_pointer_that_is_a_link_to_a_file_counts() {
    let (fixture, _) = scene();
    let pointer = fixture.root().join("pointers/ci/cuda.json");
    let elsewhere = fixture.folder.path().join("cuda.json");
    fs_err::rename(&pointer, &elsewhere).unwrap();
    symlink(&elsewhere, &pointer).unwrap();
    gc(&fixture.store, &options(true)).unwrap();
    assert_eq!(fixture.fetch().exit.code(), 0);
}

#[test]
fn scratch_that_a_killed_check_left_goes_when_it_is_old() {
    let fixture = published(&[1]);
    let at = |nonce: char| {
        fixture
            .root()
            .join(format!("scratch/{}", nonce.to_string().repeat(32)))
    };
    for (nonce, age) in [('a', days(8)), ('b', days(1))] {
        fs_err::create_dir_all(at(nonce)).unwrap();
        fs_err::write(at(nonce).join("x"), "x").unwrap();
        set_age(&at(nonce).join("x"), age);
    }
    let done = gc(&fixture.store, &options(true)).unwrap();
    assert_eq!(done.scratch.len(), 1);
    assert!(!at('a').exists() && at('b').exists());
}
