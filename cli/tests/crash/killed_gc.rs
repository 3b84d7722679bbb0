//! A collection killed at every call, and one beside publishers.

use crate::inputs::Build;
use crate::kill;
use crate::state::{self, published};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

const MONTH: Duration = Duration::from_hours(30 * 24);

/// A store of two builds, with what a third and a fourth left that no pointer names.
fn base(root: &Path) -> PathBuf {
    let store = root.join("base");
    for number in [1, 2] {
        Build::write(root, number).publish(&store);
    }
    let elsewhere = root.join("elsewhere");
    for number in [3, 4] {
        Build::write(root, number).publish(&elsewhere);
    }
    for name in ["objects", "bundles"] {
        let copied = Command::new("cp")
            .args(["-a", "-n"])
            .arg(elsewhere.join(name))
            .arg(&store)
            .status();
        assert!(copied.unwrap().success());
    }
    age(&store);
    store
}

fn age(folder: &Path) {
    for entry in fs_err::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            age(&path);
        } else {
            let file = fs_err::OpenOptions::new().write(true).open(path).unwrap();
            file.file().set_modified(SystemTime::now() - MONTH).unwrap();
        }
    }
}

fn kernrec(what: &str, store: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kernrec"));
    command.args(["store", what]).arg(store);
    command
}

fn collector(store: &Path) -> Command {
    let mut command = kernrec("gc", store);
    command.arg("--delete");
    command
}

fn attempt(root: &Path, name: &str, kill: impl FnOnce(&Command, &Path) -> bool) -> bool {
    let store = root.join(name);
    state::copy(&root.join("base"), &store);
    let killed = kill(&collector(&store), root);
    // Every record of the pointer's history, content included.
    let checked = kernrec("fsck", &store).output().unwrap();
    let text = String::from_utf8_lossy(&checked.stdout).into_owned();
    assert!(checked.status.success(), "{name}: {text}");
    assert_eq!(published(&store).unwrap().build, 2, "{name}");
    // The next collection completes the work.
    assert!(
        collector(&store).output().unwrap().status.success(),
        "{name}"
    );
    let checked = kernrec("fsck", &store).arg("--json").output().unwrap();
    let found: serde_json::Value = serde_json::from_slice(&checked.stdout).unwrap();
    assert_eq!(found["orphans"], 0, "{name}");
    fs_err::remove_dir_all(&store).unwrap();
    killed
}

#[test]
fn a_killed_collection_leaves_every_record_whole() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    base(root);
    let store = root.join("count");
    state::copy(&root.join("base"), &store);
    let calls = kill::count(&collector(&store), root);
    let met = calls.kill_at_each(|call, n| {
        attempt(root, &format!("{call}-{n}"), |program, _| {
            kill::at_call(program, call, n)
        })
    });
    let removals = met.iter().filter(|(call, _)| call.starts_with("unlink"));
    assert!(
        removals.count() >= 12,
        "tables, maps, manifests and bundles go: {met:?}"
    );
}

/// Everything that the publishers need stands in the store, old and named by nothing: each finds it in place, or
/// removed, or being removed.
#[test]
fn collections_beside_publishers_lose_nothing_that_is_published() {
    let folder = tempfile::tempdir().unwrap();
    let (root, store) = (folder.path(), folder.path().join("store"));
    let builds: Vec<Build> = (1..=8).map(|number| Build::write(root, number)).collect();
    for build in &builds {
        build.publish(&store);
    }
    fs_err::remove_file(store.join("pointers/ci/cuda.json")).unwrap();
    age(&store);
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !over.load(Ordering::Acquire) {
                    // Until the first pointer has moved nothing is named, and a collection has to be told to go on.
                    let mut told = collector(&store);
                    let end = told.arg("--accept-broken").output().unwrap();
                    let text = String::from_utf8_lossy(&end.stderr).into_owned();
                    assert!(end.status.success(), "{text}");
                }
            });
        }
        let spawn = |build: &Build| {
            let mut command = build.publisher(&store);
            command.stdout(Stdio::null()).stderr(Stdio::piped());
            command.spawn().unwrap()
        };
        let running: Vec<_> = builds.iter().map(spawn).collect();
        for child in running {
            let end = child.wait_with_output().unwrap();
            let text = String::from_utf8_lossy(&end.stderr).into_owned();
            // Published, or superseded by a newer build.
            assert!(matches!(end.status.code(), Some(0 | 4)), "{text}");
        }
        over.store(true, Ordering::Release);
    });
    assert_eq!(published(&store).unwrap().build, 8);
    let checked = kernrec("fsck", &store).output().unwrap();
    let text = String::from_utf8_lossy(&checked.stdout).into_owned();
    assert!(checked.status.success(), "{text}");
}
