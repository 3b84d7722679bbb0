//! A store with small records.

use kernrec_fetch::{Backends, FetchOptions, FetchReport, Silent, Source, fetch};
use kernrec_publish::publishing::{BundlePolicy, Evidence, PublishRequest};
use kernrec_publish::{GateOptions, Inputs, Maps, PublishReport, collect, publish};
use kernrec_schemas::manifest::RecordManifest;
use kernrec_schemas::pointer::{Pointer, RecordRef};
use kernrec_schemas::symbol_map::SymbolMap;
use kernrec_schemas::{Backend, BuildNumber, Digest, Nonce, Pipeline};
use kernrec_store::{Key, LocalStore, Store, Swap, objects, pointers};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// A store in a folder of its own.
pub(crate) struct Fixture {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) store: LocalStore,
}

pub(crate) fn ci() -> Pipeline {
    "ci".parse().unwrap()
}

/// A store with these builds of CUDA, published in this order.
pub(crate) fn published(builds: &[u64]) -> Fixture {
    let folder = tempfile::tempdir().unwrap();
    let store = LocalStore::create(&folder.path().join("store")).unwrap();
    for &build in builds {
        publish_build(&store, build);
    }
    Fixture { folder, store }
}

impl Fixture {
    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().join("store")
    }

    pub(crate) fn path(&self, key: &Key) -> PathBuf {
        self.root().join(key.as_str())
    }

    pub(crate) fn pointer(&self) -> Pointer {
        let found = pointers::read(&self.store, &ci(), Backend::Cuda).unwrap();
        found.unwrap().pointer
    }

    /// The record of a build, current or past.
    pub(crate) fn record(&self, build: u64) -> RecordRef {
        let pointer = self.pointer();
        let past = pointer.history.iter().map(|past| &past.record);
        let mut all = std::iter::once(&pointer.current).chain(past);
        all.find(|record| record.build.0 == build).unwrap().clone()
    }

    pub(crate) fn manifest(&self, build: u64) -> RecordManifest {
        let digest = self.record(build).manifest;
        let bytes = objects::read_bounded(&self.store, &digest, 4 << 20).unwrap();
        RecordManifest::parse(&bytes).unwrap()
    }

    /// Moves the CUDA pointer to what `next` makes of it.
    pub(crate) fn move_pointer(&self, next: impl FnOnce(Pointer, Nonce) -> Pointer) {
        let found = pointers::read(&self.store, &ci(), Backend::Cuda)
            .unwrap()
            .unwrap();
        let next = next(found.pointer, pointers::fresh_nonce().unwrap());
        let moved = pointers::swap(&self.store, Some(&found.version), &next).unwrap();
        assert!(matches!(moved, Swap::Moved(_)), "{moved:?}");
    }

    /// Forgets every record but the current one, as 256 publishes would.
    pub(crate) fn forget_history(&self) {
        self.move_pointer(|pointer, nonce| {
            let mut next = pointer.advanced(pointer.current.clone(), nonce).unwrap();
            next.history.clear();
            next
        });
    }

    /// Makes everything in the store look stored this long ago.
    pub(crate) fn age(&self, age: Duration) {
        for path in files(&self.root()) {
            set_age(&path, age);
        }
    }

    pub(crate) fn fetch(&self) -> FetchReport {
        let options = FetchOptions {
            backends: Backends::Listed(vec![Backend::Cuda]),
            ..FetchOptions::new(self.folder.path().join("out"))
        };
        fetch(Source::Store(&self.store), &options, &Silent)
    }
}

pub(crate) fn set_age(path: &Path, age: Duration) {
    let file = fs_err::OpenOptions::new().write(true).open(path).unwrap();
    file.file().set_modified(SystemTime::now() - age).unwrap();
}

/// Every file below a folder.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs_err::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found
}

pub(crate) fn days(days: u64) -> Duration {
    Duration::from_hours(24 * days)
}

/// Flips a byte in the middle of what stands under a key.
pub(crate) fn damage(fixture: &Fixture, key: &Key) {
    let path = fixture.path(key);
    let mut bytes = fs_err::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs_err::write(&path, bytes).unwrap();
}

pub(crate) fn table_key(fixture: &Fixture, build: u64) -> Key {
    Key::object(&fixture.manifest(build).table().unwrap().digest)
}

pub(crate) fn map_key(fixture: &Fixture, build: u64) -> Key {
    let manifest = fixture.manifest(build);
    let (_, file) = manifest.symbol_maps().next().unwrap();
    Key::object(&file.digest)
}

pub(crate) fn bundle_key(fixture: &Fixture, build: u64) -> Key {
    Key::bundle(&fixture.manifest(build).bundles[0].digest)
}

/// An object that no record names.
pub(crate) fn orphan(store: &dyn Store, content: &[u8]) -> Digest {
    objects::put(store, content).unwrap()
}

/// Publishes a build of one job, with the map that every build shares: its own kernel, the map's, one commit.
pub(crate) fn publish_build(store: &dyn Store, build: u64) -> PublishReport {
    let dir = tempfile::tempdir().unwrap();
    write_job(dir.path(), build);
    let collected = collect(&Inputs {
        recordings: vec![dir.path().to_path_buf()],
        bundles: Vec::new(),
    })
    .unwrap();
    let mut maps = Maps::default();
    maps.add(PathBuf::from("map.json"), map()).unwrap();
    let request = PublishRequest {
        backend: Backend::Cuda,
        pipeline: ci(),
        commit: "c0de".parse().unwrap(),
        build: BuildNumber(build),
        org: "acme".to_owned(),
        recorded_at: "2030-01-01T00:00:00Z".parse().unwrap(),
        evidence: Evidence::Recordings(&collected),
        maps: &maps,
        jobs: None,
        gates: GateOptions::default(),
        repo: None,
        layout: kernrec_schemas::installed::StoreLayout::Native,
        replace_unnamed: false,
        bundles: BundlePolicy::Store,
        signing: kernrec_store::signing::Signing::default(),
        dry_run: false,
    };
    publish(store, &request).unwrap()
}

fn write_job(dir: &Path, build: u64) {
    let folder = dir.join(format!("job-{build}"));
    fs_err::create_dir(&folder).unwrap();
    let recording = format!(
        "# kernrec v1 backend=cuda recorder=cupti pid=7 ppid=1 exe=/bin/test\nshared\nof_build_{build}\n\
         # end records=2 unique=2 dropped=0 errors=0 unresolved=0\n"
    );
    fs_err::write(folder.join("kern.7.txt"), recording).unwrap();
    let sidecar = json!({
        "step_key": "step", "label": "step", "job_id": format!("job-{build}"), "build": build.to_string(),
        "commit": "c0de", "parallel_job": "", "parallel_job_count": "", "exit_status": 0, "host": "h",
        "backend": "cuda", "recorder": "cupti", "collection_available": true, "collection_error": null,
    });
    fs_err::write(folder.join("kernrec.json"), sidecar.to_string()).unwrap();
}

fn map() -> SymbolMap {
    let map = json!({
        "version": 2, "backend": "cuda", "commit": "c0de",
        "objects": [{"source": "a.cu", "object": "a.o", "device": true, "symbols": ["shared"]}],
    });
    SymbolMap::parse(map.to_string().as_bytes()).unwrap()
}
