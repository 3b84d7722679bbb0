//! A fetcher killed at every call.

use crate::inputs::{Build, fetcher};
use crate::kill;
use crate::state::{self, installed};
use std::path::{Path, PathBuf};
use std::process::Command;

struct Scene {
    folder: tempfile::TempDir,
    before: Option<u64>,
}

/// A store with build 2 current, and a local folder with build 1 installed, or nothing.
fn scene(before: Option<u64>) -> Scene {
    let folder = tempfile::tempdir().unwrap();
    let scene = Scene { folder, before };
    let (store, base) = (scene.store(), scene.folder.path().join("base"));
    fs_err::create_dir(&base).unwrap();
    if let Some(number) = before {
        Build::write(scene.folder.path(), number).publish(&store);
        assert!(fetcher(&store, &base).output().unwrap().status.success());
    }
    Build::write(scene.folder.path(), 2).publish(&store);
    scene
}

impl Scene {
    fn store(&self) -> PathBuf {
        self.folder.path().join("store")
    }

    fn attempt(&self, name: &str, kill: impl FnOnce(&Command, &Path) -> bool) -> bool {
        let out = self.folder.path().join(name);
        state::copy(&self.folder.path().join("base"), &out);
        let killed = kill(&fetcher(&self.store(), &out), self.folder.path());
        let after = installed(&out);
        assert!(
            after == self.before || after == Some(2),
            "{name}: old or new, found {after:?}"
        );
        let next = fetcher(&self.store(), &out).output().unwrap();
        assert!(
            next.status.success(),
            "{name}: {}",
            String::from_utf8_lossy(&next.stderr)
        );
        assert_eq!(installed(&out), Some(2), "{name}");
        fs_err::remove_dir_all(&out).unwrap();
        killed
    }

    fn kill_everywhere(&self) {
        let out = self.folder.path().join("count");
        state::copy(&self.folder.path().join("base"), &out);
        let calls = kill::count(&fetcher(&self.store(), &out), self.folder.path());
        let met = calls.kill_at_each(|call, n| {
            self.attempt(&format!("{call}-{n}"), |program, _| {
                kill::at_call(program, call, n)
            })
        });
        assert!(met.len() > 10, "a fetch writes, syncs and renames: {met:?}");
        let traced = (1..=calls.all())
            .filter(|&n| {
                self.attempt(&format!("trace-{n}"), |program, scratch| {
                    kill::at_trace_line(program, n, scratch)
                })
            })
            .count();
        assert!(traced > 0, "kills by trace met the fetcher");
    }
}

#[test]
fn a_killed_first_fetch_leaves_nothing_or_the_pair() {
    scene(None).kill_everywhere();
}

#[test]
fn a_killed_fetch_leaves_the_old_pair_or_the_new_one() {
    scene(Some(1)).kill_everywhere();
}
