//! Repositories made for a test.

use kernrec_git::{Blobs, ObjectId, Repo};
use kernrec_select::{Change, ChangeError};
use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::Command;
use tempfile::TempDir;

/// A repository with one commit, and whatever a test does to it after.
pub(crate) struct World(TempDir);

impl World {
    pub(crate) fn of(files: &[(&str, &[u8])]) -> Self {
        let world = Self(tempfile::tempdir().unwrap());
        world.git(&["init", "-q", "-b", "main"]);
        for (name, content) in files {
            world.write(name, content);
        }
        world.commit();
        world
    }

    pub(crate) fn git(&self, arguments: &[&str]) {
        let output = Command::new("git")
            .arg("-C")
            .arg(self.0.path())
            .args(["-c", "user.name=test", "-c", "user.email=test@localhost"])
            .args(arguments)
            .env_remove("GIT_DIR")
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
    }

    pub(crate) fn write(&self, name: impl AsRef<OsStr>, content: &[u8]) {
        fs_err::write(self.path(name), content).unwrap();
    }

    pub(crate) fn commit(&self) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", "a commit"]);
    }

    /// The change of the last commit, everything read.
    pub(crate) fn change(&self) -> Result<Change, ChangeError> {
        let repo = self.repo();
        let diff = repo.diff(&"HEAD~1...HEAD".parse().unwrap()).unwrap();
        let mut change = Change::of_diff(&diff)?;
        let mut blobs = Blobs::open(&repo).unwrap();
        change.read_edits(&mut blobs, |_| true).unwrap();
        Ok(change)
    }

    pub(crate) fn remove(&self, name: &str) {
        fs_err::remove_file(self.path(name)).unwrap();
    }

    pub(crate) fn path(&self, name: impl AsRef<OsStr>) -> PathBuf {
        self.0.path().join(name.as_ref())
    }

    pub(crate) fn repo(&self) -> Repo {
        Repo::new(self.0.path())
    }

    pub(crate) fn id(&self, revision: &str) -> ObjectId {
        self.repo().resolve(revision).unwrap()
    }
}
