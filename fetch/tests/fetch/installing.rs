//! The plain course: install, nothing to do, replace.

use crate::support::{Draft, World, assert_commit, names_in, now, only, reason};
use kernrec_fetch::installed::{self, InstalledError};
use kernrec_fetch::{Backends, Object, Reporter, Source, Status, fetch};
use kernrec_schemas::exit::Exit;
use kernrec_schemas::{Backend, Variant};
use kernrec_store::{Key, PointerRead, Stat, Store, StoreError, Version};
use std::io::Read;
use std::sync::Mutex;

/// A store that writes down what is asked of it.
struct Watched<'a> {
    inner: &'a dyn Store,
    asked: Mutex<Vec<String>>,
}

impl<'a> Watched<'a> {
    fn new(inner: &'a dyn Store) -> Self {
        Self {
            inner,
            asked: Mutex::new(Vec::new()),
        }
    }

    fn note(&self, what: impl Into<String>) {
        self.asked.lock().unwrap().push(what.into());
    }
}

impl kernrec_store::conformance::Delegate for Watched<'_> {
    fn inner(&self) -> &dyn Store {
        self.inner
    }
    fn read(&self, key: &Key) -> Result<Box<dyn Read + Send>, StoreError> {
        self.note(key.as_str());
        self.inner.read(key)
    }
    fn stat(&self, key: &Key) -> Result<Option<Stat>, StoreError> {
        self.note("stat");
        self.inner.stat(key)
    }
    fn read_pointer(&self, key: &Key, known: Option<&Version>) -> Result<PointerRead, StoreError> {
        let read = self.inner.read_pointer(key, known)?;
        self.note(match read {
            PointerRead::Found { .. } => "pointer",
            PointerRead::Unchanged => "pointer: unchanged",
            PointerRead::Absent => "pointer: absent",
        });
        Ok(read)
    }
}

#[test]
fn a_first_fetch_installs_the_pair_in_the_documented_layout() {
    let world = World::new();
    let record = world.publish(Backend::Cuda, "aaaa", 7);
    let report = world.fetch();
    assert_eq!(report.status, Status::Installed);
    assert!(report.bytes_received > 0);
    let pair = report.pair.unwrap();
    assert_eq!(pair.manifest, record.manifest);
    assert_eq!((pair.age_seconds, pair.revoked), (Some(0), None));
    let id = &record.manifest.hex()[..16];
    let link = fs_err::read_link(world.out.join("cuda")).unwrap();
    assert_eq!(link.to_str().unwrap(), format!(".records/{id}"));
    let mut names = names_in(&world.out.join("cuda"));
    names.sort();
    let expected = [
        ".hold",
        "kernel_symbol_map.json.zst",
        "kernel_table.json.zst",
        "record.json",
    ];
    assert_eq!(names, expected);
    assert_eq!(world.record_folders(), [id]);
    assert_commit(&world.open().unwrap(), "aaaa");
}

/// A folder made in secret would stay closed to everybody else.
#[test]
fn who_may_read_a_record_is_the_umasks_business() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::new();
    world.publish(Backend::Cuda, "aaaa", 7);
    world.fetch();
    let mode = |path: &std::path::Path| fs_err::metadata(path).unwrap().permissions().mode();
    assert_eq!(mode(&world.folder()), mode(&world.out.join(".records")));
    let plain = world.dir.path().join("plain");
    fs_err::write(&plain, b"").unwrap();
    for name in names_in(&world.folder()) {
        assert_eq!(mode(&world.folder().join(name)), mode(&plain));
    }
}

#[test]
fn the_installed_files_are_the_stores_compressed_bytes() {
    let world = World::new();
    world.publish(Backend::Cuda, "aaaa", 7);
    world.fetch();
    let record = world.open().unwrap().record;
    let stored = crate::support::object_path(&world, &record.files["table"].digest);
    let installed = world.out.join("cuda/kernel_table.json.zst");
    assert_eq!(
        fs_err::read(stored).unwrap(),
        fs_err::read(installed).unwrap()
    );
}

#[test]
fn a_cold_fetch_asks_for_pointer_manifest_and_files_once_each() {
    let world = World::new();
    let record = world.publish(Backend::Cuda, "aaaa", 7);
    let watched = Watched::new(&world.store);
    fetch(
        Source::Store(&watched),
        &world.options(),
        &kernrec_fetch::Silent,
    );
    let asked = watched.asked.into_inner().unwrap();
    assert_eq!(asked.len(), 4, "{asked:?}");
    assert_eq!(asked[0], "pointer");
    assert_eq!(asked[1], Key::object(&record.manifest).as_str());
}

#[test]
fn an_unchanged_pointer_costs_one_request_and_no_bytes() {
    let world = World::new();
    world.publish(Backend::Cuda, "aaaa", 7);
    world.fetch();
    let before = fs_err::read(world.folder().join("record.json")).unwrap();
    let watched = Watched::new(&world.store);
    let report = fetch(
        Source::Store(&watched),
        &world.options(),
        &kernrec_fetch::Silent,
    );
    let report = only(report);
    assert_eq!(
        (report.status, report.bytes_received),
        (Status::Unchanged, 0)
    );
    assert_eq!(report.pair.unwrap().commit.as_str(), "aaaa");
    assert_eq!(watched.asked.into_inner().unwrap(), ["pointer: unchanged"]);
    assert_eq!(
        fs_err::read(world.folder().join("record.json")).unwrap(),
        before
    );
}

#[test]
fn a_newer_record_replaces_the_pair_and_the_old_folder_goes() {
    let world = World::new();
    world.publish(Backend::Cuda, "aaaa", 7);
    world.fetch();
    let second = world.publish(Backend::Cuda, "bbbb", 8);
    let report = world.fetch();
    assert_eq!(report.status, Status::Installed);
    assert_eq!(report.pair.unwrap().generation.0, 2);
    assert_commit(&world.open().unwrap(), "bbbb");
    assert_eq!(world.record_folders(), [&second.manifest.hex()[..16]]);
}

#[test]
fn a_pointer_that_moved_to_the_same_record_brings_no_bytes_and_is_remembered() {
    let world = World::new();
    let first = world.publish(Backend::Cuda, "aaaa", 7);
    world.fetch();
    world.point_at(Backend::Cuda, &first);
    let report = world.fetch();
    assert_eq!(
        (report.status, report.bytes_received),
        (Status::Unchanged, 0)
    );
    assert_eq!(world.open().unwrap().record.origin.generation.0, 2);
    let watched = Watched::new(&world.store);
    fetch(
        Source::Store(&watched),
        &world.options(),
        &kernrec_fetch::Silent,
    );
    assert_eq!(watched.asked.into_inner().unwrap(), ["pointer: unchanged"]);
}

#[test]
fn one_map_per_variant_is_installed() {
    let world = World::new();
    let mut draft = Draft::new(Backend::Cuda, "aaaa", 7);
    let variant = Variant::new("cuda12").unwrap();
    let map = crate::support::map(Backend::Cuda, "aaaa", "cuda12");
    draft.maps.insert(variant.clone(), map);
    world.publish_draft(draft);
    let report = world.fetch();
    let variants = report.pair.unwrap().variants;
    assert_eq!(variants, [Variant::default(), variant.clone()]);
    assert!(
        world
            .folder()
            .join("kernel_symbol_map.cuda12.json.zst")
            .is_file()
    );
    assert!(world.open().unwrap().maps.contains_key(&variant));
}

#[test]
fn backends_do_not_depend_on_each_other() {
    let world = World::new();
    world.publish(Backend::Cuda, "aaaa", 7);
    let rocm = world.publish(Backend::Rocm, "cccc", 3);
    fs_err::remove_file(crate::support::object_path(&world, &rocm.manifest)).unwrap();
    let mut options = world.options();
    options.backends = Backends::All;
    let report = world.fetch_with(&options);
    assert_eq!(report.backends[0].status, Status::Installed);
    assert_eq!(report.backends[1].status, Status::Failed);
    assert_eq!(reason(&report.backends[1]), "not-found");
    assert_eq!(report.exit, Exit::Failed);
    assert_commit(&world.open().unwrap(), "aaaa");
}

#[test]
fn both_backends_live_side_by_side() {
    let world = World::new();
    world.publish(Backend::Cuda, "aaaa", 7);
    world.publish(Backend::Rocm, "cccc", 3);
    let mut options = world.options();
    options.backends = Backends::All;
    assert_eq!(world.fetch_with(&options).exit, Exit::Done);
    assert_commit(&world.open().unwrap(), "aaaa");
    assert_commit(&installed::open(&world.out, Backend::Rocm).unwrap(), "cccc");
    assert_eq!(installed::backends(&world.out), Backend::KERNELS);
}

#[test]
fn a_backend_never_published_is_no_error_among_all_unless_none_was() {
    let world = World::new();
    let mut options = world.options();
    options.backends = Backends::All;
    let none = world.fetch_with(&options);
    assert_eq!(none.exit, Exit::Refused);
    assert!(!world.out.exists(), "nothing is created for nothing");
    world.publish(Backend::Cuda, "aaaa", 7);
    let one = world.fetch_with(&options);
    assert_eq!(one.exit, Exit::Done);
    assert_eq!(one.backends[1].status, Status::NotPublished);
    options.backends = Backends::Listed(vec![Backend::Cuda, Backend::Rocm]);
    assert_eq!(world.fetch_with(&options).exit, Exit::Refused);
}

#[test]
fn another_pipeline_is_another_record() {
    let world = World::new();
    world.publish(Backend::Cuda, "aaaa", 7);
    let report = world.one_with(|options| {
        options.pipeline = kernrec_schemas::Pipeline::new("nightly").unwrap();
    });
    assert_eq!(report.status, Status::NotPublished);
}

#[test]
fn never_installed_is_told_apart() {
    let world = World::new();
    let error = world.open().unwrap_err();
    assert!(matches!(error, InstalledError::NeverInstalled { .. }));
    assert!(error.is_never_installed());
    assert_eq!(error.reason(), "never-installed");
}

#[test]
fn an_open_error_of_the_store_reports_what_is_kept() {
    let world = World::new();
    world.publish(Backend::Cuda, "aaaa", 7);
    world.fetch();
    let error = kernrec_store::open("ftp://x/y", kernrec_store::Access::Read)
        .err()
        .unwrap();
    let source = Source::Unopened {
        url: "ftp://x/y",
        error: &error,
    };
    let mut options = world.options();
    options.now = kernrec_schemas::Timestamp::from_unix(now().unix() + 3600).unwrap();
    let report = only(fetch(source, &options, &kernrec_fetch::Silent));
    assert_eq!(
        (report.status, reason(&report)),
        (Status::Failed, "store-url")
    );
    assert_eq!(report.pair.unwrap().age_seconds, Some(3600));
}

#[test]
fn the_report_has_stable_names_and_words() {
    let world = World::new();
    world.publish(Backend::Cuda, "aaaa", 7);
    let report = serde_json::to_value(world.fetch_with(&world.options())).unwrap();
    let backend = &report["backends"][0];
    assert_eq!(backend["backend"], "cuda");
    assert_eq!(backend["outcome"], "installed");
    assert_eq!(backend["failure"], serde_json::Value::Null);
    assert_eq!(backend["pair"]["commit"], "aaaa");
    assert_eq!(backend["pair"]["published_at"], "2030-01-01T00:00:00Z");
    assert_eq!(backend["pair"]["counts"]["usable_rows"], 1);
    let words = [
        Status::Installed,
        Status::Healed,
        Status::Unchanged,
        Status::Offline,
        Status::NotPublished,
        Status::NotInstalled,
        Status::Refused,
        Status::Failed,
    ];
    for word in words {
        assert_eq!(serde_json::to_value(word).unwrap(), word.as_str());
    }
}

#[derive(Default)]
struct Notes(
    Mutex<Vec<(usize, &'static str, u64)>>,
    Mutex<Vec<(String, u64)>>,
);

impl Reporter for Notes {
    fn on_start(&self, object: Object<'_>) -> usize {
        let mut objects = self.1.lock().unwrap();
        objects.push((object.role.to_owned(), object.size));
        objects.len() - 1
    }
    fn on_progress(&self, id: usize, received: u64) {
        self.0.lock().unwrap().push((id, "progress", received));
    }
    fn on_complete(&self, id: usize, whole: bool) {
        self.0
            .lock()
            .unwrap()
            .push((id, "complete", u64::from(whole)));
    }
}

#[test]
fn a_reporter_sees_each_object_start_progress_and_complete() {
    let world = World::new();
    world.publish(Backend::Cuda, "aaaa", 7);
    let notes = Notes::default();
    let report = only(fetch(Source::Store(&world.store), &world.options(), &notes));
    let mut objects = notes.1.into_inner().unwrap();
    objects.sort();
    let roles: Vec<&str> = objects.iter().map(|(role, _)| role.as_str()).collect();
    assert_eq!(roles, ["symbol_map", "table"]);
    let calls = notes.0.into_inner().unwrap();
    for id in 0..2 {
        let own: Vec<_> = calls.iter().filter(|call| call.0 == id).collect();
        assert_eq!(own.last().unwrap().1, "complete");
        assert_eq!(own.last().unwrap().2, 1);
        assert!(own.iter().any(|call| call.1 == "progress"));
    }
    let received = |id| {
        let progress = calls.iter().filter(|c| c.0 == id && c.1 == "progress");
        progress.map(|call| call.2).max().unwrap()
    };
    assert_eq!(received(0) + received(1), report.bytes_received);
}
