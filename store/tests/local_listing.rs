//! What a local store lists of a folder in which others leave things too.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use kernrec_store::{Key, LocalStore, Store};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::Path;

fn store(root: &Path) -> LocalStore {
    let store = LocalStore::create(root).unwrap();
    store
        .put_new(&Key::new("pointers/ci/cuda.json").unwrap(), b"1")
        .unwrap();
    store
}

fn listed(store: &LocalStore) -> Vec<String> {
    let entries = store.list(&Key::new("pointers").unwrap()).unwrap();
    entries
        .iter()
        .map(|entry| entry.key.as_str().to_owned())
        .collect()
}

#[test]
fn odd_names_and_hidden_files_are_no_keys() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    let ci = folder.path().join("pointers/ci");
    for name in [
        &b"a b"[..],
        b"caf\xc3\xa9",
        b"not-utf8-\xff",
        b"new\nline",
        b".hidden",
    ] {
        fs_err::write(ci.join(OsStr::from_bytes(name)), "x").unwrap();
    }
    assert_eq!(listed(&store), ["pointers/ci/cuda.json"]);
}

#[test]
fn a_link_to_a_file_is_listed_as_the_file_that_it_reads_as() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    let elsewhere = folder.path().join("elsewhere");
    fs_err::write(&elsewhere, "12345").unwrap();
    symlink(&elsewhere, folder.path().join("pointers/ci/rocm.json")).unwrap();
    assert_eq!(
        listed(&store),
        ["pointers/ci/cuda.json", "pointers/ci/rocm.json"]
    );
    let key = Key::new("pointers/ci/rocm.json").unwrap();
    store.delete(&key).unwrap();
    assert!(elsewhere.is_file(), "the link went, not what it named");
}

#[test]
fn what_stands_behind_other_links_is_not_silently_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    let link = folder.path().join("pointers/other");
    for target in ["ci", "nowhere", "."] {
        symlink(target, &link).unwrap();
        let error = store.list(&Key::new("pointers").unwrap()).unwrap_err();
        assert!(error.to_string().contains("pointers/other"), "{error}");
        fs_err::remove_file(&link).unwrap();
    }
    assert_eq!(listed(&store), ["pointers/ci/cuda.json"]);
}

#[test]
fn nothing_but_a_scratch_prefix_is_discarded() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    for key in ["pointers", "pointers/ci", "scratch", "scratch/x"] {
        assert!(store.discard(&Key::new(key).unwrap()).is_err(), "{key}");
    }
    assert_eq!(listed(&store), ["pointers/ci/cuda.json"]);
}

#[test]
fn what_stands_in_a_pointers_place_is_not_silently_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    let path = folder.path().join("pointers/ci/rocm.json");
    let made = std::process::Command::new("mkfifo").arg(&path).status();
    assert!(made.unwrap().success());
    let error = store.list(&Key::new("pointers").unwrap()).unwrap_err();
    assert!(error.to_string().contains("rocm.json"), "{error}");
    fs_err::remove_file(&path).unwrap();

    // A folder is listed and cannot be read; one of that name may be a pipeline's.
    fs_err::create_dir_all(path.join("below")).unwrap();
    let pipeline = Key::new("pointers/ci.json/cuda.json").unwrap();
    store.put_new(&pipeline, b"1").unwrap();
    assert_eq!(
        listed(&store),
        [
            "pointers/ci.json/cuda.json",
            "pointers/ci/cuda.json",
            "pointers/ci/rocm.json"
        ]
    );
    let key = Key::new("pointers/ci/rocm.json").unwrap();
    let error = store.read_pointer(&key, None).unwrap_err();
    assert!(error.to_string().contains("it is a folder"), "{error}");
}
