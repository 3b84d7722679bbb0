//! Stores as the existing collector leaves them: one folder per commit, two gzip files in it, and a pointer that
//! vouches for nothing.

use crate::support::{World, assert_commit, assert_kept, ci, map, now, only, reason, table};
use flate2::Compression;
use flate2::write::GzEncoder;
use kernrec_fetch::{BackendReport, Choice, FetchOptions, LayoutChoice, Silent, Source, Status};
use kernrec_schemas::installed::StoreLayout;
use kernrec_schemas::{Backend, Digest};
use kernrec_store::LocalStore;
use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};

/// A bucket with the layout below `<pipeline>/kernrec/`.
struct Bucket {
    world: World,
    root: PathBuf,
}

impl Bucket {
    fn new() -> Self {
        let world = World::new();
        let root = world.dir.path().join("bucket");
        fs_err::create_dir_all(&root).unwrap();
        Self { world, root }
    }

    fn folder(&self) -> PathBuf {
        self.root.join("ci/kernrec")
    }

    /// A pair of a commit, as the existing collector writes it.
    fn put_pair(&self, backend: Backend, commit: &str, build: u64) {
        let table: Value =
            serde_json::from_slice(&table(backend, commit, build).to_canonical()).unwrap();
        let map: Value = serde_json::from_slice(&map(backend, commit, "").to_canonical()).unwrap();
        let suffix = suffix(backend);
        self.put(&format!("{commit}/kernel_table{suffix}.json.gz"), &table);
        self.put(&format!("{commit}/kernel_symbol_map{suffix}.json.gz"), &map);
    }

    fn put(&self, name: &str, document: &Value) {
        self.put_bytes(name, &gzip(&serde_json::to_vec(document).unwrap()));
    }

    fn put_bytes(&self, name: &str, bytes: &[u8]) {
        let path = self.folder().join(name);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, bytes).unwrap();
    }

    /// The pointer of the existing shell collector; more or other fields as given.
    fn point(&self, backend: Backend, commit: &str, build: u64, more: &Value) {
        let mut pointer = json!({
            "commit": commit, "build": build, "pipeline": "ci",
            "published_at": "2029-12-31T00:00:00Z",
            "files": ["kernel_symbol_map.json.gz", "kernel_table.json.gz"],
        });
        for (key, value) in more.as_object().unwrap() {
            pointer[key] = value.clone();
        }
        let name = format!("latest{}.json", suffix(backend));
        self.put_bytes(&name, &serde_json::to_vec(&pointer).unwrap());
    }

    fn publish(&self, commit: &str, build: u64) {
        self.put_pair(Backend::Cuda, commit, build);
        self.point(Backend::Cuda, commit, build, &json!({}));
    }

    fn fetch_from(&self, root: &Path, change: impl FnOnce(&mut FetchOptions)) -> BackendReport {
        let store = LocalStore::existing(root).unwrap();
        let mut options = self.world.options();
        change(&mut options);
        only(kernrec_fetch::fetch(
            Source::Store(&store),
            &options,
            &Silent,
        ))
    }

    fn fetch(&self) -> BackendReport {
        self.fetch_from(&self.root, |_| {})
    }
}

fn suffix(backend: Backend) -> &'static str {
    match backend {
        Backend::Cuda => "",
        _ => ".rocm",
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn a_pair_is_installed_from_the_bucket_and_from_the_folder_of_its_pointer() {
    let bucket = Bucket::new();
    bucket.publish("aaaa", 1);
    for root in [bucket.root.clone(), bucket.folder()] {
        for layout in [LayoutChoice::Auto, LayoutChoice::Upstream] {
            let _ = fs_err::remove_dir_all(&bucket.world.out);
            let report = bucket.fetch_from(&root, |options| options.layout = layout);
            assert_eq!(report.status, Status::Installed, "{report:?}");
            let pair = bucket.world.open().unwrap();
            assert_commit(&pair, "aaaa");
            assert_eq!(pair.record.build.0, 1);
            assert_eq!(pair.record.origin.layout, StoreLayout::Upstream);
            let folder = bucket.folder().canonicalize().unwrap();
            assert_eq!(pair.record.origin.url, folder.display().to_string());
            let published = pair.record.origin.published_at.unwrap();
            assert_eq!(published.to_string(), "2029-12-31T00:00:00Z");
        }
    }
}

#[test]
fn an_unmoved_pointer_costs_no_bytes_and_a_moved_one_brings_the_new_pair() {
    let bucket = Bucket::new();
    bucket.publish("aaaa", 1);
    assert!(bucket.fetch().bytes_received > 0);
    let again = bucket.fetch();
    assert_eq!((again.status, again.bytes_received), (Status::Unchanged, 0));
    bucket.publish("bbbb", 2);
    assert_eq!(bucket.fetch().status, Status::Installed);
    assert_commit(&bucket.world.open().unwrap(), "bbbb");
}

#[test]
fn a_pointer_written_again_for_the_same_pair_changes_nothing() {
    let bucket = Bucket::new();
    bucket.publish("aaaa", 1);
    let before = bucket.fetch().pair.unwrap();
    bucket.point(
        Backend::Cuda,
        "aaaa",
        1,
        &json!({"by": "hand", "build": "1"}),
    );
    let report = bucket.fetch();
    assert_eq!(report.status, Status::Unchanged, "{report:?}");
    assert_eq!(report.pair.unwrap().folder, before.folder);
    assert_eq!(bucket.fetch().bytes_received, 0);
}

#[test]
fn a_damaged_file_is_fetched_again() {
    let bucket = Bucket::new();
    bucket.publish("aaaa", 1);
    bucket.fetch();
    let file = bucket.world.folder().join("kernel_table.json.zst");
    crate::support::overwrite(&file, b"rubbish");
    assert_eq!(bucket.fetch().status, Status::Healed);
    assert_commit(&bucket.world.open().unwrap(), "aaaa");
}

#[test]
fn rocm_has_names_of_its_own() {
    let bucket = Bucket::new();
    bucket.put_pair(Backend::Rocm, "aaaa", 1);
    bucket.point(Backend::Rocm, "aaaa", 1, &json!({"backend": "rocm"}));
    let report = bucket.fetch_from(&bucket.root, |options| {
        options.backends = kernrec_fetch::Backends::Listed(vec![Backend::Rocm]);
    });
    assert_eq!(report.status, Status::Installed, "{report:?}");
    assert_eq!(bucket.fetch().status, Status::NotPublished);
}

#[test]
fn what_does_not_belong_together_is_refused_and_the_old_pair_stays() {
    let bucket = Bucket::new();
    bucket.publish("aaaa", 1);
    bucket.fetch();
    let kept = |status, word| {
        assert_kept(&bucket.world, &bucket.fetch(), status, word, "aaaa");
    };

    // The map of another commit in the folder.
    bucket.publish("bbbb", 2);
    let other: Value =
        serde_json::from_slice(&map(Backend::Cuda, "cccc", "").to_canonical()).unwrap();
    bucket.put("bbbb/kernel_symbol_map.json.gz", &other);
    kept(Status::Refused, "commit-mismatch");

    // A pointer that names a folder which is not there.
    bucket.point(Backend::Cuda, "dddd", 3, &json!({}));
    kept(Status::Failed, "not-found");

    // A pointer of something else.
    bucket.publish("eeee", 4);
    bucket.point(Backend::Cuda, "eeee", 4, &json!({"backend": "rocm"}));
    kept(Status::Failed, "document-refused");
    bucket.point(Backend::Cuda, "eeee", 4, &json!({"pipeline": "nightly"}));
    kept(Status::Failed, "document-refused");

    // Digests, where the pointer has them, are believed.
    let digests = json!({"kernel_table.json.gz": Digest::of(b"another").to_string()});
    bucket.point(Backend::Cuda, "eeee", 4, &json!({"digests": digests}));
    kept(Status::Failed, "object-damaged");

    // A table of the first version cannot let anything be skipped.
    bucket.point(Backend::Cuda, "eeee", 4, &json!({}));
    bucket.put(
        "eeee/kernel_table.json.gz",
        &json!({"version": 1, "source": {}, "names": [], "rows": {}}),
    );
    kept(Status::Failed, "document-version");
}

/// A document with fields changed.
fn with(document: &[u8], more: Value) -> Value {
    let mut document: Value = serde_json::from_slice(document).unwrap();
    let Value::Object(more) = more else {
        panic!("fields");
    };
    document.as_object_mut().unwrap().extend(more);
    document
}

#[test]
fn later_versions_are_refused_and_what_says_more_is_read() {
    let bucket = Bucket::new();
    bucket.publish("aaaa", 1);
    bucket.fetch();
    let table = table(Backend::Cuda, "bbbb", 2).to_canonical();
    let map = map(Backend::Cuda, "bbbb", "").to_canonical();
    let names =
        ["kernel_table.json.gz", "kernel_symbol_map.json.gz"].map(|name| format!("bbbb/{name}"));
    for (name, later) in [
        (&names[0], with(&table, json!({"version": 4}))),
        (&names[1], with(&map, json!({"version": 3}))),
    ] {
        bucket.publish("bbbb", 2);
        bucket.put(name, &later);
        let report = bucket.fetch();
        assert_kept(
            &bucket.world,
            &report,
            Status::Failed,
            "document-version",
            "aaaa",
        );
    }
    let more = || json!({"of_a_later_version": [1.5, null]});
    bucket.put(&names[0], &with(&table, more()));
    bucket.put(&names[1], &with(&map, more()));
    bucket.point(Backend::Cuda, "bbbb", 2, &more());
    assert_eq!(bucket.fetch().status, Status::Installed);
    assert_commit(&bucket.world.open().unwrap(), "bbbb");
}

#[test]
fn damaged_files_are_refused_and_the_old_pair_stays() {
    let bucket = Bucket::new();
    bucket.publish("aaaa", 1);
    bucket.fetch();
    let content = table(Backend::Cuda, "bbbb", 2).to_canonical();
    let whole = gzip(&content);
    let cut = whole[..whole.len() - 9].to_vec();
    let longer = [whole.as_slice(), b"more"].concat();
    let twice = [whole.as_slice(), whole.as_slice()].concat();
    let mut flipped = whole.clone();
    flipped[whole.len() - 6] ^= 1;
    for (what, bytes) in [
        ("cut", cut),
        ("longer", longer),
        ("twice", twice),
        ("flipped", flipped),
        ("plain", content),
        ("empty", Vec::new()),
    ] {
        bucket.publish("bbbb", 2);
        bucket.put_bytes("bbbb/kernel_table.json.gz", &bytes);
        let report = bucket.fetch();
        assert_eq!(reason(&report), "object-damaged", "{what}");
        assert_kept(
            &bucket.world,
            &report,
            Status::Failed,
            "object-damaged",
            "aaaa",
        );
    }
}

#[test]
fn a_commit_can_be_had_by_name_and_its_age_is_not_known() {
    let bucket = Bucket::new();
    bucket.publish("aaaa", 1);
    bucket.publish("bbbb", 2);
    let commit = |text: &str| Choice::Commit(text.parse().unwrap());
    let report = bucket.fetch_from(&bucket.root, |o| o.choice = commit("aaaa"));
    assert_eq!(report.status, Status::Installed);
    assert_commit(&bucket.world.open().unwrap(), "aaaa");
    assert_eq!(report.pair.unwrap().published_at, None);
    let old = bucket.fetch_from(&bucket.root, |o| {
        o.choice = commit("aaaa");
        o.max_age = Some(std::time::Duration::from_hours(24 * 365));
    });
    assert_eq!(reason(&old), "record-age-unknown");
    let never = bucket.fetch_from(&bucket.root, |o| o.choice = commit("cccc"));
    assert_eq!(
        (never.status, reason(&never)),
        (Status::Refused, "commit-not-published")
    );
    let current = bucket.fetch_from(&bucket.root, |o| o.choice = commit("bbbb"));
    assert!(current.pair.unwrap().published_at.is_some());
}

#[test]
fn a_generation_that_went_back_is_refused() {
    let bucket = Bucket::new();
    bucket.put_pair(Backend::Cuda, "aaaa", 1);
    bucket.put_pair(Backend::Cuda, "bbbb", 2);
    bucket.point(Backend::Cuda, "bbbb", 2, &json!({"generation": 5}));
    bucket.fetch();
    bucket.point(Backend::Cuda, "aaaa", 1, &json!({"generation": 4}));
    assert_kept(
        &bucket.world,
        &bucket.fetch(),
        Status::Refused,
        "pointer-went-back",
        "bbbb",
    );
    // The existing collector has no generations, and took the place over.
    bucket.point(Backend::Cuda, "aaaa", 1, &json!({}));
    assert_eq!(bucket.fetch().status, Status::Installed);
}

#[test]
fn a_native_record_comes_first_unless_the_layout_is_named() {
    let bucket = Bucket::new();
    bucket.publish("aaaa", 1);
    assert_eq!(bucket.fetch().status, Status::Installed);
    // The fleet moves to our layout, in the same bucket.
    let world = World {
        store: LocalStore::create(&bucket.root).unwrap(),
        out: bucket.world.out.clone(),
        dir: tempfile::tempdir().unwrap(),
    };
    world.publish(Backend::Cuda, "bbbb", 2);
    assert_eq!(world.fetch().status, Status::Installed);
    assert_commit(&world.open().unwrap(), "bbbb");
    let upstream = bucket.fetch_from(&bucket.root, |o| o.layout = LayoutChoice::Upstream);
    assert_eq!(upstream.status, Status::Installed);
    assert_commit(&world.open().unwrap(), "aaaa");
    let native = bucket.fetch_from(&bucket.root, |o| o.layout = LayoutChoice::Native);
    assert_eq!(native.status, Status::Installed);
    assert_commit(&world.open().unwrap(), "bbbb");
}

#[test]
fn fetchers_of_one_folder_download_once() {
    let bucket = Bucket::new();
    bucket.publish("aaaa", 1);
    let received: Vec<u64> = std::thread::scope(|scope| {
        let fetchers: Vec<_> = (0..8).map(|_| scope.spawn(|| bucket.fetch())).collect();
        let end = |fetcher: std::thread::ScopedJoinHandle<'_, BackendReport>| {
            let report = fetcher.join().unwrap();
            assert!(report.failure.is_none(), "{report:?}");
            report.bytes_received
        };
        fetchers.into_iter().map(end).collect()
    });
    assert_eq!(received.iter().filter(|&&bytes| bytes > 0).count(), 1);
}

#[test]
fn the_made_manifest_depends_on_nothing_but_the_pair() {
    let bucket = Bucket::new();
    bucket.publish("aaaa", 1);
    bucket.fetch();
    let first = bucket.world.open().unwrap().record;
    let _ = fs_err::remove_dir_all(&bucket.world.out);
    bucket.point(Backend::Cuda, "aaaa", 9, &json!({"published_at": null}));
    bucket.fetch();
    let second = bucket.world.open().unwrap().record;
    assert_eq!(first.manifest, second.manifest);
    assert_eq!(second.origin.published_at, None);
    assert_eq!((second.pipeline, second.recorded_at), (ci(), now()));
}
