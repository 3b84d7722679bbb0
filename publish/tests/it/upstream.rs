//! Publishing in the existing system's layout, read as its reader reads it: gzip, JSON, and its own checks.

use crate::support::{COMMIT, Job, collect_jobs, map, map_from, maps, request};
use crate::upstream_reader::NEWEST;
use kernrec_publish::publishing::{Evidence, Outcome, PublishReport, PublishRequest, Supersession};
use kernrec_publish::{Maps, Refusal, publish};
use kernrec_schemas::Backend;
use kernrec_schemas::installed::StoreLayout;
use kernrec_store::LocalStore;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

struct World {
    dir: tempfile::TempDir,
    store: LocalStore,
}

impl World {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = LocalStore::create(dir.path()).unwrap();
        Self { dir, store }
    }

    fn folder(&self) -> PathBuf {
        self.dir.path().join("ci/kernrec")
    }

    fn publish_with(
        &self,
        jobs: &[Job],
        maps: &Maps,
        change: impl FnOnce(&mut PublishRequest<'_>),
    ) -> PublishReport {
        let (_dir, collected) = collect_jobs(jobs);
        let mut request = request(Evidence::Recordings(&collected), maps);
        request.layout = StoreLayout::Upstream;
        change(&mut request);
        publish(&self.store, &request).unwrap()
    }

    fn publish(&self, build: u64, jobs: &[Job]) -> PublishReport {
        let maps = maps(vec![map(Backend::Cuda, &["k"])]);
        self.publish_with(jobs, &maps, |request| request.build.0 = build)
    }

    /// Publishes another commit, one for each build.
    fn publish_other(&self, build: u64) -> PublishReport {
        let commit = &commit_of(build);
        let map = json!({
            "version": 2, "backend": "cuda", "commit": commit,
            "objects": [{"source": "a.cu", "object": "a.o", "device": true, "symbols": ["k"]}],
        });
        let jobs = [Job::new("j1", "s").set("commit", commit.as_str())];
        self.publish_with(&jobs, &maps(vec![map_from(&map)]), |request| {
            request.build.0 = build;
            request.commit = commit.parse().unwrap();
        })
    }

    fn pointer(&self) -> Value {
        serde_json::from_slice(&fs_err::read(self.folder().join("latest.json")).unwrap()).unwrap()
    }

    /// Every published file; the local store's locks, which no listing shows, aside.
    fn everything(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut folders = vec![self.folder()];
        while let Some(folder) = folders.pop() {
            for entry in fs_err::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let hidden = |name: &str| name.starts_with('.');
                if path.is_dir() {
                    folders.push(path);
                } else if !path.file_name().unwrap().to_str().is_some_and(hidden) {
                    found.push(path.strip_prefix(self.dir.path()).unwrap().to_path_buf());
                }
            }
        }
        found.sort();
        found
    }
}

/// What the existing reader gets of what is published. We write the newest version that it knows.
fn read_as_upstream(folder: &Path, suffix: &str) -> (Value, Value) {
    let (table, map) = NEWEST.fetch(folder, suffix).unwrap();
    assert_eq!(table["version"], 3);
    (table, map)
}

fn commit_of(build: u64) -> String {
    format!("{build:040x}")
}

fn words(report: &PublishReport) -> Vec<&'static str> {
    report.refusals.iter().map(Refusal::word).collect()
}

#[test]
fn the_existing_reader_reads_what_is_published() {
    let world = World::new();
    let report = world.publish(7, &[Job::new("j1", "s"), Job::new("j2", "t")]);
    assert_eq!(report.outcome, Outcome::Published, "{report:?}");
    assert_eq!((report.generation.unwrap().0, report.bundles), (1, 0));
    let (table, map) = read_as_upstream(&world.folder(), "");
    assert_eq!(table["source"]["build"], 7);
    assert_eq!(map["commit"], COMMIT);
    let pointer = world.pointer();
    assert_eq!(pointer["build"], 7);
    assert_eq!(pointer["pipeline"], "ci");
    assert_eq!(
        pointer["files"],
        json!(["kernel_symbol_map.json.gz", "kernel_table.json.gz"])
    );
    let names = |name: &str| PathBuf::from(format!("ci/kernrec/{name}"));
    assert_eq!(
        world.everything(),
        [
            names(&format!("{COMMIT}/kernel_symbol_map.json.gz")),
            names(&format!("{COMMIT}/kernel_table.json.gz")),
            names("latest.json"),
        ]
    );
}

#[test]
fn rocm_stands_beside_cuda() {
    let world = World::new();
    world.publish(7, &[Job::new("j1", "s")]);
    let maps = maps(vec![map(Backend::Rocm, &["k"])]);
    let report = world.publish_with(&[Job::rocm("j1", "s")], &maps, |request| {
        request.backend = Backend::Rocm;
    });
    assert_eq!(report.outcome, Outcome::Published, "{report:?}");
    read_as_upstream(&world.folder(), "");
    let (table, map) = read_as_upstream(&world.folder(), ".rocm");
    assert_eq!(table["rows"]["s"]["backend"], "rocm");
    assert_eq!(map["backend"], "rocm");
}

#[test]
fn the_same_again_is_unchanged_and_another_content_of_the_commit_is_refused() {
    let world = World::new();
    let jobs = [Job::new("j1", "s")];
    let first = world.publish(7, &jobs);
    let pointer = world.pointer();
    let again = world.publish(7, &jobs);
    assert_eq!(again.outcome, Outcome::Unchanged);
    assert_eq!(again.manifest, first.manifest);
    let other = world.publish(7, &[Job::new("j1", "s"), Job::new("j2", "t")]);
    assert_eq!(other.outcome, Outcome::Refused);
    assert_eq!(words(&other), ["commit-already-published"]);
    assert_eq!(world.pointer(), pointer);
    read_as_upstream(&world.folder(), "");
}

#[test]
fn the_map_of_a_refused_pair_is_not_left_beside_the_old_table() {
    let world = World::new();
    world.publish(7, &[Job::new("j1", "s")]);
    fs_err::remove_file(
        world
            .folder()
            .join(COMMIT)
            .join("kernel_symbol_map.json.gz"),
    )
    .unwrap();
    let other = world.publish(7, &[Job::new("j1", "s"), Job::new("j2", "t")]);
    assert_eq!(words(&other), ["commit-already-published"]);
    assert_eq!(world.everything().len(), 2);
}

#[test]
fn a_file_that_nobody_can_decompress_is_replaced() {
    let world = World::new();
    let jobs = [Job::new("j1", "s")];
    world.publish(7, &jobs);
    let table = world.folder().join(COMMIT).join("kernel_table.json.gz");
    let whole = fs_err::read(&table).unwrap();
    fs_err::write(&table, &whole[..whole.len() / 2]).unwrap();
    let healed = world.publish(7, &jobs);
    assert_eq!(healed.outcome, Outcome::Published);
    assert_eq!(fs_err::read(&table).unwrap(), whole);
    assert_eq!(healed.generation.unwrap().0, 2);
}

#[test]
fn a_file_of_several_gzip_members_is_somebodys_and_is_left() {
    let world = World::new();
    let jobs = [Job::new("j1", "s")];
    world.publish(7, &jobs);
    let table = world.folder().join(COMMIT).join("kernel_table.json.gz");
    let twice = fs_err::read(&table).unwrap().repeat(2);
    fs_err::write(&table, &twice).unwrap();
    let refused = world.publish(7, &jobs);
    assert_eq!(words(&refused), ["commit-already-published"]);
    assert_eq!(fs_err::read(&table).unwrap(), twice);
}

#[test]
fn builds_are_ordered_and_gates_compare_with_what_the_existing_collector_left() {
    let world = World::new();
    world.publish(
        7,
        &[
            Job::new("j1", "s"),
            Job::new("j2", "t"),
            Job::new("j3", "u"),
        ],
    );
    // As the shell collector writes it: no generation, nonce or digests, and the build as text.
    let theirs = json!({"commit": COMMIT, "build": "7", "pipeline": "ci", "files": []});
    fs_err::write(world.folder().join("latest.json"), theirs.to_string()).unwrap();

    let older = world.publish_other(6);
    assert_eq!(older.outcome, Outcome::Superseded);
    assert!(matches!(
        older.superseded,
        Some(Supersession::OlderBuild { current }) if current.0 == 7
    ));
    let smaller = world.publish_other(8);
    assert_eq!(words(&smaller), ["collapse"]);
    assert_eq!(world.pointer(), theirs);

    // Their pair is lost: nothing is left to protect.
    fs_err::remove_dir_all(world.folder().join(COMMIT)).unwrap();
    let next = world.publish_other(8);
    assert_eq!(next.outcome, Outcome::Published, "{next:?}");
    let pointer = world.pointer();
    assert_eq!(pointer["commit"], commit_of(8));
    // More than any fetcher can have seen of the time before.
    assert!(pointer["generation"].as_u64().unwrap() > 1_700_000_000);
    assert_eq!(pointer["digests"].as_object().unwrap().len(), 2);
}

#[test]
fn a_named_variant_has_no_name() {
    let world = World::new();
    let named = json!({
        "version": 2, "backend": "cuda", "commit": COMMIT, "variant": "cu12",
        "objects": [{"source": "a.cu", "object": "a.o", "device": true, "symbols": ["k"]}],
    });
    let maps = maps(vec![map(Backend::Cuda, &["k"]), map_from(&named)]);
    let report = world.publish_with(&[Job::new("j1", "s")], &maps, |_| {});
    assert_eq!(words(&report), ["variant-not-representable"]);
    assert!(!world.folder().exists());
}

#[test]
fn a_dry_run_writes_nothing() {
    let world = World::new();
    let maps = maps(vec![map(Backend::Cuda, &["k"])]);
    let report = world.publish_with(&[Job::new("j1", "s")], &maps, |request| {
        request.dry_run = true;
    });
    assert_eq!(report.outcome, Outcome::Published);
    assert!(!world.folder().exists());
}

#[test]
fn a_dry_run_sees_that_the_commit_was_published_with_another_content() {
    let world = World::new();
    world.publish(7, &[Job::new("j1", "s")]);
    let before = world.everything();
    let maps = maps(vec![map(Backend::Cuda, &["k"])]);
    let jobs = [Job::new("j1", "s"), Job::new("j2", "t")];
    let report = world.publish_with(&jobs, &maps, |request| {
        request.dry_run = true;
    });
    assert_eq!(words(&report), ["commit-already-published"]);
    assert_eq!(world.everything(), before);
}

#[test]
fn racing_collectors_leave_the_newest_build_and_no_mixture() {
    let world = World::new();
    std::thread::scope(|scope| {
        for build in [7, 9, 8, 6] {
            let world = &world;
            scope.spawn(move || world.publish_other(build));
        }
    });
    let pointer = world.pointer();
    assert_eq!(pointer["build"], 9);
    let (table, _) = read_as_upstream(&world.folder(), "");
    assert_eq!(table["source"]["commit"], pointer["commit"]);
}
