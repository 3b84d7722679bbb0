//! A publisher killed at every call.

use crate::inputs::Build;
use crate::kill;
use crate::state::{self, published};
use std::path::Path;
use std::process::Command;

struct Scene {
    folder: tempfile::TempDir,
    new: Build,
    /// What is there before the run: a record of build 1, or nothing.
    before: Option<u64>,
}

fn scene(before: Option<u64>) -> Scene {
    let folder = tempfile::tempdir().unwrap();
    let new = Build::write(folder.path(), 2);
    if let Some(number) = before {
        Build::write(folder.path(), number).publish(&folder.path().join("base"));
    } else {
        fs_err::create_dir(folder.path().join("base")).unwrap();
    }
    Scene {
        folder,
        new,
        before,
    }
}

impl Scene {
    fn attempt(&self, name: &str, kill: impl FnOnce(&Command, &Path) -> bool) -> bool {
        let store = self.folder.path().join(name);
        state::copy(&self.folder.path().join("base"), &store);
        let killed = kill(&self.new.publisher(&store), self.folder.path());
        let after = published(&store).map(|published| published.build);
        assert!(
            after == self.before || after == Some(2),
            "{name}: old or new, found {after:?}"
        );
        // A kill after the move and before the exit leaves the new record; publishing again is `unchanged`.
        self.new.publish(&store);
        let end = published(&store).unwrap();
        assert_eq!(
            (end.build, end.past as u64 + 1),
            (2, end.generation),
            "{name}"
        );
        fs_err::remove_dir_all(&store).unwrap();
        killed
    }

    fn kill_everywhere(&self) {
        let store = self.folder.path().join("count");
        state::copy(&self.folder.path().join("base"), &store);
        let calls = kill::count(&self.new.publisher(&store), self.folder.path());
        let met = calls.kill_at_each(|call, n| {
            self.attempt(&format!("{call}-{n}"), |program, _| {
                kill::at_call(program, call, n)
            })
        });
        assert!(
            met.len() > 10,
            "a publish writes, syncs and renames: {met:?}"
        );
        let every = calls.all().div_ceil(20).max(1);
        let traced = (1..=calls.all())
            .step_by(every)
            .filter(|&n| {
                self.attempt(&format!("trace-{n}"), |program, scratch| {
                    kill::at_trace_line(program, n, scratch)
                })
            })
            .count();
        assert!(traced > 0, "kills by trace met the publisher");
    }
}

#[test]
fn a_killed_first_publish_leaves_nothing_or_the_record() {
    scene(None).kill_everywhere();
}

#[test]
fn a_killed_publish_leaves_the_old_record_or_the_new_one() {
    scene(Some(1)).kill_everywhere();
}
