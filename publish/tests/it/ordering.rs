//! Which record wins: builds, usable rows, ancestry, revocation.

use crate::support::{Job, collect_jobs, commit, map, maps, request};
use kernrec_publish::publishing::{
    BatchRequest, Evidence, Outcome, PublishReport, PublishRequest, Supersession,
};
use kernrec_publish::{GateOptions, Maps, PublishError, publish, publish_all};
use kernrec_schemas::exit::Exit;
use kernrec_schemas::{Backend, Commit, Timestamp};
use kernrec_store::{LocalStore, Swap, pointers};
use std::path::Path;
use std::process::Command;

struct World {
    _dir: tempfile::TempDir,
    store: LocalStore,
    maps: Maps,
}

fn world() -> World {
    let dir = tempfile::tempdir().unwrap();
    World {
        store: LocalStore::create(dir.path()).unwrap(),
        _dir: dir,
        maps: maps(vec![map(Backend::Cuda, &["k"])]),
    }
}

fn jobs(usable: usize, failed: usize) -> Vec<Job> {
    (0..usable + failed)
        .map(|n| {
            let job = Job::new(&format!("j{n}"), &format!("s{n}"));
            if n < usable {
                job
            } else {
                job.set("exit_status", 1)
            }
        })
        .collect()
}

impl World {
    fn publish(&self, build: u64, jobs: &[Job]) -> PublishReport {
        self.try_publish(jobs, |request| request.build.0 = build)
            .unwrap()
    }

    fn try_publish(
        &self,
        jobs: &[Job],
        change: impl FnOnce(&mut PublishRequest<'_>),
    ) -> Result<PublishReport, PublishError> {
        let (_dir, collected) = collect_jobs(jobs);
        let mut request = request(Evidence::Recordings(&collected), &self.maps);
        change(&mut request);
        publish(&self.store, &request)
    }

    fn pointer(&self) -> pointers::VersionedPointer {
        pointers::read(&self.store, &"ci".parse().unwrap(), Backend::Cuda)
            .unwrap()
            .unwrap()
    }
}

#[test]
fn an_older_build_is_superseded_and_changes_nothing() {
    let world = world();
    assert_eq!(world.publish(8, &jobs(2, 0)).outcome, Outcome::Published);
    let before = world.pointer();
    let report = world.publish(7, &jobs(3, 0));
    assert_eq!(report.outcome, Outcome::Superseded);
    assert_eq!(report.outcome.exit(), Exit::Superseded);
    assert!(
        matches!(report.superseded, Some(Supersession::OlderBuild { current }) if current.0 == 8)
    );
    assert_eq!(world.pointer(), before);
    assert_eq!(world.publish(9, &jobs(2, 0)).outcome, Outcome::Published);
    assert_eq!(world.pointer().pointer.generation.0, 2);
}

#[test]
fn an_equal_build_may_grow_and_not_shrink() {
    let world = world();
    assert_eq!(world.publish(7, &jobs(2, 1)).outcome, Outcome::Published);
    let fewer = world.publish(7, &jobs(1, 2));
    assert!(matches!(
        fewer.superseded,
        Some(Supersession::FewerUsableRows {
            found: 1,
            current: 2
        })
    ));
    assert_eq!(world.publish(7, &jobs(2, 2)).outcome, Outcome::Published);
    assert_eq!(world.publish(7, &jobs(3, 0)).outcome, Outcome::Published);
}

#[test]
fn the_same_record_again_is_unchanged() {
    let world = world();
    let first = world.publish(7, &jobs(2, 0));
    let before = world.pointer();
    let again = world.publish(7, &jobs(2, 0));
    assert_eq!(again.outcome, Outcome::Unchanged);
    assert_eq!(again.outcome.exit(), Exit::Done);
    assert_eq!(again.manifest, first.manifest);
    assert_eq!(world.pointer(), before);
}

#[test]
fn a_revoked_build_or_record_stays_out() {
    let world = world();
    world.publish(7, &jobs(2, 0));
    let good = world.pointer().pointer.current.manifest;
    world.publish(8, &jobs(3, 0));
    let found = world.pointer();
    let back = found
        .pointer
        .rolled_back(&good, pointers::fresh_nonce().unwrap(), Timestamp::now())
        .unwrap();
    let swapped = pointers::swap(&world.store, Some(&found.version), &back).unwrap();
    assert!(matches!(swapped, Swap::Moved(_)));
    for same_or_other_content in [jobs(3, 0), jobs(2, 0)] {
        let report = world.publish(8, &same_or_other_content);
        assert_eq!(report.outcome, Outcome::Refused);
        assert_eq!(report.refusals[0].word(), "revoked");
    }
    assert_eq!(world.pointer().pointer, back);
    assert_eq!(world.publish(9, &jobs(2, 0)).outcome, Outcome::Published);
}

fn git(dir: &Path, args: &[&str]) -> String {
    let output = Command::new("git")
        .arg("-C")
        .arg(dir)
        .args(["-c", "user.name=n", "-c", "user.email=n@example.org"])
        .args(args)
        .env_remove("GIT_DIR")
        .env("GIT_AUTHOR_DATE", "2031-02-03T04:05:06Z")
        .env("GIT_COMMITTER_DATE", "2031-02-03T04:05:06Z")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// A repository with two commits, older first.
fn repository() -> (tempfile::TempDir, Commit, Commit) {
    let dir = tempfile::tempdir().unwrap();
    git(dir.path(), &["init", "--quiet"]);
    let commit = |message| {
        git(
            dir.path(),
            &["commit", "--quiet", "--allow-empty", "-m", message],
        );
        Commit::new(git(dir.path(), &["rev-parse", "HEAD"])).unwrap()
    };
    let (older, newer) = (commit("older"), commit("newer"));
    (dir, older, newer)
}

fn at(commit: &Commit, jobs: &[Job]) -> Vec<Job> {
    jobs.iter()
        .map(|job| job.clone().set("commit", commit.as_str()))
        .collect()
}

#[test]
fn with_a_repository_an_ancestor_of_the_current_commit_is_superseded() {
    let (repo, older, newer) = repository();
    let dir = tempfile::tempdir().unwrap();
    let store = LocalStore::create(dir.path()).unwrap();
    let publish_at = |commit: &Commit, build: u64, repo: Option<&Path>| {
        let mut map = map(Backend::Cuda, &["k"]);
        map.commit = Some(commit.clone());
        let maps = maps(vec![map]);
        let (_dir, collected) = collect_jobs(&at(commit, &jobs(2, 0)));
        let mut request = request(Evidence::Recordings(&collected), &maps);
        request.commit = commit.clone();
        request.build.0 = build;
        request.repo = repo.map(Path::to_path_buf);
        publish(&store, &request)
    };
    let published = |result: Result<PublishReport, PublishError>| result.unwrap().outcome;
    assert_eq!(
        published(publish_at(&newer, 7, Some(repo.path()))),
        Outcome::Published
    );
    let report = publish_at(&older, 8, Some(repo.path())).unwrap();
    assert!(matches!(
        &report.superseded,
        Some(Supersession::AncestorCommit { current }) if *current == newer
    ));
    let unknown = Commit::new("0123456789012345678901234567890123456789").unwrap();
    let error = publish_at(&unknown, 8, Some(repo.path())).unwrap_err();
    assert_eq!(error.reason(), "revision-unknown");
    assert!(error.to_string().contains(unknown.as_str()), "{error}");
    let error = publish_at(&older, 8, Some(Path::new("/nonexistent"))).unwrap_err();
    assert_eq!(error.reason(), "repository-unusable");
    // Without a repository only the build decides.
    assert_eq!(published(publish_at(&older, 8, None)), Outcome::Published);
    assert_eq!(
        published(publish_at(&newer, 9, Some(repo.path()))),
        Outcome::Published
    );
}

#[test]
fn one_backend_failing_does_not_touch_the_other() {
    let dir = tempfile::tempdir().unwrap();
    let store = LocalStore::create(dir.path()).unwrap();
    let (_jobs, collected) = collect_jobs(&[
        Job::new("j1", "a"),
        Job::rocm("j2", "b").set("exit_status", 1),
    ]);
    let maps = maps(vec![map(Backend::Cuda, &["k"]), map(Backend::Rocm, &["k"])]);
    let batch = BatchRequest {
        backends: Vec::new(),
        pipeline: "ci".parse().unwrap(),
        commit: commit(),
        build: kernrec_schemas::BuildNumber(7),
        org: "acme".to_owned(),
        recorded_at: Some(crate::support::time()),
        source_date_epoch: None,
        evidence: Evidence::Recordings(&collected),
        maps: &maps,
        jobs: None,
        gates: GateOptions::default(),
        repo: None,
        layout: kernrec_schemas::installed::StoreLayout::Native,
        replace_unnamed: false,
        bundles: kernrec_publish::BundlePolicy::Store,
        signing: kernrec_store::signing::Signing::default(),
        dry_run: false,
    };
    let report = publish_all(&store, &batch);
    let outcomes: Vec<_> = report
        .reports
        .iter()
        .map(|report| (report.backend, report.outcome))
        .collect();
    assert_eq!(
        outcomes,
        [
            (Backend::Cuda, Outcome::Published),
            (Backend::Rocm, Outcome::Refused)
        ]
    );
    assert_eq!(report.exit(), Exit::Refused);
    let rocm = pointers::read(&store, &"ci".parse().unwrap(), Backend::Rocm).unwrap();
    assert!(rocm.is_none());

    let only_cuda = BatchRequest {
        backends: vec![Backend::Cuda],
        ..batch.clone()
    };
    let report = publish_all(&store, &only_cuda);
    assert_eq!(report.exit(), Exit::Done);
    assert_eq!(report.unused_maps.len(), 1);

    let no_time = BatchRequest {
        recorded_at: None,
        ..only_cuda
    };
    let report = publish_all(&store, &no_time);
    assert_eq!(report.exit(), Exit::Failed);
    assert_eq!(
        report.reports[0].failure.as_ref().unwrap().reason,
        "no-recorded-at"
    );
}
