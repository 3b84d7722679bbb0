//! Every question, and every way it can have no answer.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use kernrec_git::Repo;
use kernrec_schemas::Commit;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// A repository with two commits on `main` and a stranger on `other`.
struct World {
    dir: TempDir,
    older: Commit,
    newer: Commit,
    stranger: Commit,
}

impl World {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let at = dir.path();
        git(at, &["init", "-q", "-b", "main"]);
        let older = commit(at, "first");
        let newer = commit(at, "second");
        git(at, &["checkout", "-q", "--orphan", "other"]);
        let stranger = commit(at, "stranger");
        Self {
            dir,
            older,
            newer,
            stranger,
        }
    }

    fn repo(&self) -> Repo {
        Repo::new(self.dir.path())
    }
}

fn commit(at: &Path, message: &str) -> Commit {
    git(at, &["commit", "-q", "--allow-empty", "-m", message]);
    Commit::new(git(at, &["rev-parse", "HEAD"])).unwrap()
}

fn git(at: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .arg("-C")
        .arg(at)
        .args(["-c", "user.name=test", "-c", "user.email=test@localhost"])
        .args(arguments)
        .env_remove("GIT_DIR")
        .env("GIT_COMMITTER_DATE", "2031-02-03T04:05:06Z")
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn named(text: &str) -> Commit {
    Commit::new(text).unwrap()
}

#[test]
fn ancestry_is_strict() {
    let world = World::new();
    let ask = |first, second| world.repo().is_ancestor(first, second).unwrap();
    assert!(ask(&world.older, &world.newer));
    assert!(!ask(&world.newer, &world.older));
    assert!(!ask(&world.newer, &world.newer));
    assert!(!ask(&world.stranger, &world.newer));
}

#[test]
fn a_shallow_clone_is_believed_only_where_it_can_tell() {
    let world = World::new();
    // As after `git fetch --depth 1` of both branches.
    let cut = format!("{}\n{}\n", world.newer, world.stranger);
    fs_err::write(world.dir.path().join(".git/shallow"), cut).unwrap();
    let error = world.repo().is_ancestor(&world.stranger, &world.newer);
    assert_eq!(error.unwrap_err().reason(), "shallow-repository");
    assert!(world.repo().is_shallow().unwrap());
}

#[test]
fn a_commit_has_its_committers_time() {
    let world = World::new();
    let time = world.repo().commit_time(&world.older).unwrap();
    assert_eq!(time.to_string(), "2031-02-03T04:05:06Z");
}

#[test]
fn a_commit_is_named_by_its_digits_and_by_nothing_else() {
    let world = World::new();
    let short = named(&world.older.as_str()[..7]);
    assert!(world.repo().is_ancestor(&short, &world.newer).unwrap());
    let absent = "f".repeat(40);
    for name in [
        "main",
        "HEAD",
        "no-such-branch",
        &absent,
        &short.as_str()[..6],
    ] {
        let error = world.repo().commit_time(&named(name)).unwrap_err();
        assert_eq!(error.reason(), "revision-unknown", "{name}");
        assert!(error.to_string().contains(name), "{error}");
        assert_eq!(world.repo().known(&[&named(name)]).unwrap(), [None]);
    }
}

#[test]
fn a_revision_is_whatever_git_takes_for_one_and_no_option() {
    let world = World::new();
    let at = |revision| world.repo().resolve(revision).map(|id| id.to_string());
    assert_eq!(at("main").unwrap(), world.newer.as_str());
    assert_eq!(at("main~1").unwrap(), world.older.as_str());
    for revision in ["--all", "main~5", ""] {
        assert_eq!(at(revision).unwrap_err().reason(), "revision-unknown");
    }
}

#[test]
fn a_folder_without_a_repository_is_blamed_itself() {
    let dir = tempfile::tempdir().unwrap();
    for place in [dir.path(), &dir.path().join("absent")] {
        let repo = Repo::new(place);
        let commit = named(&"0".repeat(40));
        for error in [
            repo.is_shallow().map(drop).unwrap_err(),
            repo.resolve("HEAD").map(drop).unwrap_err(),
            repo.commit_time(&commit).map(drop).unwrap_err(),
        ] {
            assert_eq!(error.reason(), "repository-unusable");
        }
        let error = repo.known(&[&commit]).unwrap_err();
        assert_eq!(error.reason(), "git-failed");
    }
}
