//! Which record is taken: newest, by commit, by ancestry, by age; revocations; pointers that go back.

use crate::support::{
    Draft, World, assert_commit, assert_kept, commit_of, now, pointer_path, reason,
};
use kernrec_fetch::{Choice, Status};
use kernrec_schemas::{Backend, Timestamp};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const CUDA: Backend = Backend::Cuda;

fn by_commit(commit: &str) -> Choice {
    Choice::Commit(commit_of(commit))
}

#[test]
fn a_commit_of_the_history_can_be_chosen_and_the_newest_again() {
    let world = World::new();
    world.publish(CUDA, "aaaa", 1);
    world.publish(CUDA, "bbbb", 2);
    assert_eq!(
        world.fetch_choice(by_commit("aaaa")).status,
        Status::Installed
    );
    assert_commit(&world.open().unwrap(), "aaaa");
    // The pointer did not move, but what is installed is not what is asked for.
    assert_eq!(world.fetch().status, Status::Installed);
    assert_commit(&world.open().unwrap(), "bbbb");
    assert_eq!(
        world.fetch_choice(by_commit("bbbb")).status,
        Status::Unchanged
    );
}

#[test]
fn of_several_records_of_one_commit_the_newest_is_taken() {
    let world = World::new();
    world.publish(CUDA, "aaaa", 1);
    let second = world.publish(CUDA, "aaaa", 2);
    world.publish(CUDA, "bbbb", 3);
    let report = world.fetch_choice(by_commit("aaaa"));
    assert_eq!(report.pair.unwrap().manifest, second.manifest);
}

#[test]
fn a_commit_that_was_never_published_is_refused_and_the_pair_stays() {
    let world = World::new();
    world.publish(CUDA, "aaaa", 1);
    world.fetch();
    let report = world.fetch_choice(by_commit("ffff"));
    assert_kept(
        &world,
        &report,
        Status::Refused,
        "commit-not-published",
        "aaaa",
    );
}

#[test]
fn a_rollback_is_followed_and_what_it_revoked_cannot_be_chosen() {
    let world = World::new();
    let good = world.publish(CUDA, "aaaa", 1);
    world.publish(CUDA, "bbbb", 2);
    world.fetch();
    world.roll_back(CUDA, &good);
    assert_eq!(world.fetch().status, Status::Installed);
    assert_commit(&world.open().unwrap(), "aaaa");
    let report = world.fetch_choice(by_commit("bbbb"));
    assert_kept(&world, &report, Status::Refused, "revoked", "aaaa");
}

#[test]
fn a_revoked_record_is_marked_even_when_nothing_newer_can_be_installed() {
    let world = World::new();
    let good = world.publish(CUDA, "aaaa", 1);
    world.publish(CUDA, "bbbb", 2);
    world.fetch();
    world.roll_back(CUDA, &good);
    fs_err::remove_file(crate::support::object_path(&world, &good.manifest)).unwrap();
    let report = world.fetch();
    assert_kept(&world, &report, Status::Failed, "not-found", "bbbb");
    assert_eq!(report.pair.unwrap().revoked, Some(now()));
    assert_eq!(world.open().unwrap().record.revoked, Some(now()));
}

#[test]
fn a_mark_is_made_also_when_another_commit_is_asked_for_and_not_there() {
    let world = World::new();
    let good = world.publish(CUDA, "aaaa", 1);
    world.publish(CUDA, "bbbb", 2);
    world.fetch();
    world.roll_back(CUDA, &good);
    let report = world.fetch_choice(by_commit("ffff"));
    assert_kept(
        &world,
        &report,
        Status::Refused,
        "commit-not-published",
        "bbbb",
    );
    assert_eq!(world.open().unwrap().record.revoked, Some(now()));
}

/// Two records of one build, and the newer one rolled back: the build is revoked in part, its older record is
/// current by the operator's word.
#[test]
fn a_rollback_within_a_build_is_followed() {
    let world = World::new();
    let good = world.publish(CUDA, "aaaa", 5);
    world.publish(CUDA, "bbbb", 5);
    world.fetch();
    world.roll_back(CUDA, &good);
    let report = world.fetch();
    assert_eq!(report.status, Status::Installed);
    assert_eq!(report.pair.unwrap().revoked, None);
    assert_eq!(world.fetch().status, Status::Unchanged);
}

#[test]
fn a_store_that_lags_behind_does_not_lift_the_mark() {
    let world = World::new();
    let good = world.publish(CUDA, "aaaa", 1);
    world.publish(CUDA, "bbbb", 2);
    world.fetch();
    let lagging = fs_err::read(pointer_path(&world)).unwrap();
    world.roll_back(CUDA, &good);
    fs_err::remove_file(crate::support::object_path(&world, &good.manifest)).unwrap();
    world.fetch();
    assert!(world.open().unwrap().record.revoked.is_some());
    kernrec_store::fsio::write_atomic(&pointer_path(&world), &lagging).unwrap();
    world.fetch();
    assert!(world.open().unwrap().record.revoked.is_some());
}

#[test]
fn a_pointer_that_went_back_is_refused() {
    let world = World::new();
    world.publish(CUDA, "aaaa", 1);
    let old = fs_err::read(pointer_path(&world)).unwrap();
    world.publish(CUDA, "bbbb", 2);
    world.fetch();
    kernrec_store::fsio::write_atomic(&pointer_path(&world), &old).unwrap();
    let report = world.fetch();
    assert_kept(
        &world,
        &report,
        Status::Refused,
        "pointer-went-back",
        "bbbb",
    );
}

#[test]
fn another_store_has_generations_of_its_own() {
    let world = World::new();
    world.publish(CUDA, "aaaa", 1);
    world.publish(CUDA, "bbbb", 2);
    world.fetch();
    let mut other = World::new();
    other.publish(CUDA, "cccc", 1);
    other.out.clone_from(&world.out);
    assert_eq!(other.fetch().status, Status::Installed);
    assert_commit(&world.open().unwrap(), "cccc");
}

#[test]
fn the_same_local_store_under_another_name_is_the_same_store() {
    let world = World::new();
    world.publish(CUDA, "aaaa", 1);
    let old = fs_err::read(pointer_path(&world)).unwrap();
    world.publish(CUDA, "bbbb", 2);
    world.fetch();
    kernrec_store::fsio::write_atomic(&pointer_path(&world), &old).unwrap();
    let roundabout = world.dir.path().join("store/../store");
    let store = kernrec_store::LocalStore::existing(&roundabout).unwrap();
    let source = kernrec_fetch::Source::Store(&store);
    let report = kernrec_fetch::fetch(source, &world.options(), &kernrec_fetch::Silent);
    assert_eq!(reason(&report.backends[0]), "pointer-went-back");
}

#[test]
fn a_record_too_old_is_refused_before_and_after_it_is_installed() {
    let world = World::new();
    let mut draft = Draft::new(CUDA, "aaaa", 1);
    draft.published_at = Timestamp::from_unix(now().unix() - 3 * 86_400).unwrap();
    world.publish_draft(draft);
    let day = Duration::from_hours(24);
    let report = world.one_with(|options| options.max_age = Some(day));
    assert_eq!(
        (report.status, reason(&report)),
        (Status::Refused, "record-too-old")
    );
    assert!(report.pair.is_none());
    world.fetch();
    let report = world.one_with(|options| options.max_age = Some(day));
    assert_kept(&world, &report, Status::Refused, "record-too-old", "aaaa");
    assert_eq!(report.pair.unwrap().age_seconds, Some(3 * 86_400));
    let message = report.failure.unwrap().message;
    assert!(
        message.contains("3 days ago, more than 24 hours"),
        "{message}"
    );
    let report = world.one_with(|options| options.max_age = Some(4 * day));
    assert_eq!(report.status, Status::Unchanged);
}

#[test]
fn with_an_age_limit_of_zero_every_record_is_too_old() {
    let world = World::new();
    let mut draft = Draft::new(CUDA, "aaaa", 1);
    draft.published_at = now();
    world.publish_draft(draft);
    let report = world.one_with(|options| options.max_age = Some(Duration::ZERO));
    assert_eq!(
        (report.status, reason(&report)),
        (Status::Refused, "record-too-old")
    );
}

/// A repository with the history a - b - c, and d beside c on b.
struct Repository {
    path: PathBuf,
    commits: Vec<String>,
}

impl Repository {
    fn new(dir: &Path) -> Self {
        let path = dir.join("repository");
        fs_err::create_dir(&path).unwrap();
        let mut repository = Self {
            path,
            commits: Vec::new(),
        };
        repository.git(&["init", "-q", "-b", "main"]);
        for name in ["a", "b", "c"] {
            repository.commit(name);
        }
        repository.git(&["checkout", "-q", "-b", "side", "HEAD~1"]);
        repository.commit("d");
        repository
    }

    fn commit(&mut self, name: &str) {
        self.git(&["commit", "-q", "--allow-empty", "-m", name]);
        let id = self.git(&["rev-parse", "HEAD"]);
        self.commits.push(id);
    }

    fn git(&self, arguments: &[&str]) -> String {
        let output = Command::new("git")
            .arg("-C")
            .arg(&self.path)
            .args(["-c", "user.name=test", "-c", "user.email=test@localhost"])
            .args(arguments)
            .env_remove("GIT_DIR")
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    fn before(&self, revision: &str) -> Choice {
        Choice::AncestorOf {
            revision: revision.to_owned(),
            repository: self.path.clone(),
        }
    }
}

#[test]
fn the_newest_record_of_an_ancestor_is_chosen() {
    let world = World::new();
    let repository = Repository::new(world.dir.path());
    for (build, commit) in repository.commits.iter().enumerate() {
        world.publish(CUDA, commit, build as u64);
    }
    let [a, b, c, d] = [0, 1, 2, 3].map(|index| repository.commits[index].as_str());
    for (revision, expected) in [("main", c), ("side", d), (b, b), ("main~2", a)] {
        world.fetch_choice(repository.before(revision));
        assert_commit(&world.open().unwrap(), expected);
    }
    let again = world.fetch_choice(repository.before("main~2"));
    assert_eq!((again.status, again.bytes_received), (Status::Unchanged, 0));
}

#[test]
fn records_of_unknown_commits_are_passed_over_and_refs_are_no_commits() {
    let world = World::new();
    let repository = Repository::new(world.dir.path());
    world.publish(CUDA, &repository.commits[0], 1);
    world.publish(CUDA, &"f".repeat(40), 2);
    world.publish(CUDA, "HEAD", 3);
    world.publish(CUDA, "main", 4);
    world.fetch_choice(repository.before("main"));
    assert_commit(&world.open().unwrap(), &repository.commits[0]);
}

#[test]
fn each_way_git_cannot_answer_has_its_own_word() {
    let world = World::new();
    let repository = Repository::new(world.dir.path());
    world.publish(CUDA, &repository.commits[3], 1);
    let answer = |choice: Choice| {
        let report = world.fetch_choice(choice);
        assert!(report.pair.is_none());
        (report.status, reason(&report))
    };
    let elsewhere = Choice::AncestorOf {
        revision: "main".to_owned(),
        repository: world.dir.path().join("nowhere"),
    };
    assert_eq!(answer(elsewhere), (Status::Failed, "repository-unusable"));
    let unknown = repository.before("no-such-branch");
    assert_eq!(answer(unknown), (Status::Failed, "revision-unknown"));
    let option = repository.before("--all");
    assert_eq!(answer(option), (Status::Failed, "revision-unknown"));
    let none = repository.before("main");
    assert_eq!(answer(none), (Status::Refused, "no-ancestor-record"));
}

#[test]
fn a_shallow_clone_is_blamed_for_what_it_cannot_know() {
    let world = World::new();
    let repository = Repository::new(world.dir.path());
    world.publish(CUDA, &repository.commits[0], 1);
    let shallow = world.dir.path().join("shallow");
    let url = format!("file://{}", repository.path.display());
    repository.git(&[
        "clone",
        "-q",
        "--depth",
        "1",
        "-b",
        "main",
        &url,
        shallow.to_str().unwrap(),
    ]);
    let choice = |revision: &str| Choice::AncestorOf {
        revision: revision.to_owned(),
        repository: shallow.clone(),
    };
    let report = world.fetch_choice(choice("HEAD"));
    assert_eq!(
        (report.status, reason(&report)),
        (Status::Failed, "shallow-repository")
    );
    world.publish(CUDA, &repository.commits[2], 2);
    assert_eq!(world.fetch_choice(choice("HEAD")).status, Status::Installed);
}
