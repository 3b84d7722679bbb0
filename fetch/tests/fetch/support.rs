//! A store with tiny records in it, a local folder, and shorthand for both.

use kernrec_fetch::installed::{self, InstalledError, InstalledPair};
use kernrec_fetch::{
    BackendReport, Backends, Choice, FetchOptions, FetchReport, Silent, Source, Status, fetch,
};
use kernrec_schemas::manifest::{
    Counts, FileRef, MEDIA_JSON, ManifestParts, Producer, ROLE_TABLE, RecordManifest,
    symbol_map_role,
};
use kernrec_schemas::pointer::{Pointer, RecordRef};
use kernrec_schemas::symbol_map::{MapObject, MapVersion, SymbolMap};
use kernrec_schemas::table::{KernelTable, Row, Shards, TableSource};
use kernrec_schemas::{
    Backend, BuildNumber, Commit, Digest, KernelName, Pipeline, RowBackend, StepKey, Timestamp,
    Variant,
};
use kernrec_store::{LocalStore, Swap, objects, pointers};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

/// The present of every test: 2030-01-01T00:00:00Z.
pub(crate) const NOW: i64 = 1_893_456_000;

pub(crate) struct World {
    pub(crate) dir: TempDir,
    pub(crate) store: LocalStore,
    pub(crate) out: PathBuf,
}

/// A record before it is published, for a test to change.
pub(crate) struct Draft {
    pub(crate) table: KernelTable,
    pub(crate) maps: BTreeMap<Variant, SymbolMap>,
    pub(crate) parts: ManifestParts,
    pub(crate) published_at: Timestamp,
}

impl World {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        Self {
            store: LocalStore::create(&dir.path().join("store")).unwrap(),
            out: dir.path().join("out"),
            dir,
        }
    }

    /// Publishes a record whose names contain its commit, so that mixed pairs show.
    pub(crate) fn publish(&self, backend: Backend, commit: &str, build: u64) -> RecordRef {
        self.publish_draft(Draft::new(backend, commit, build))
    }

    /// Counts what a draft holds, stores it and moves the pointer to it.
    pub(crate) fn publish_draft(&self, mut draft: Draft) -> RecordRef {
        draft.parts.counts = Counts::of(&draft.table, draft.maps.values());
        self.publish_as_it_is(draft)
    }

    /// Stores a draft whatever it says, and moves the pointer to it.
    pub(crate) fn publish_as_it_is(&self, mut draft: Draft) -> RecordRef {
        let mut files = vec![(ROLE_TABLE.to_owned(), draft.table.to_canonical())];
        for (variant, map) in &draft.maps {
            files.push((symbol_map_role(variant), map.to_canonical()));
        }
        for (role, bytes) in files {
            let file = FileRef {
                digest: objects::put(&self.store, &bytes).unwrap(),
                size: bytes.len() as u64,
                media_type: MEDIA_JSON.to_owned(),
            };
            draft.parts.files.entry(role).or_insert(file);
        }
        let (commit, build, backend) = (
            draft.parts.commit.clone(),
            draft.parts.build,
            draft.parts.backend,
        );
        let manifest = RecordManifest::new(draft.parts).to_canonical();
        let record = RecordRef {
            manifest: objects::put(&self.store, &manifest).unwrap(),
            commit,
            build,
            published_at: draft.published_at,
        };
        self.point_at(backend, &record);
        record
    }

    pub(crate) fn point_at(&self, backend: Backend, record: &RecordRef) {
        self.move_pointer(backend, |current, nonce| match current {
            Some(pointer) => pointer.advanced(record.clone(), nonce).unwrap(),
            None => Pointer::first(ci(), backend, record.clone(), nonce),
        });
    }

    pub(crate) fn roll_back(&self, backend: Backend, target: &RecordRef) {
        self.move_pointer(backend, |current, nonce| {
            let pointer = current.unwrap();
            pointer.rolled_back(&target.manifest, nonce, now()).unwrap()
        });
    }

    fn move_pointer(
        &self,
        backend: Backend,
        next: impl Fn(Option<Pointer>, kernrec_schemas::Nonce) -> Pointer,
    ) {
        let current = pointers::read(&self.store, &ci(), backend).unwrap();
        let version = current.as_ref().map(|found| found.version.clone());
        let nonce = pointers::fresh_nonce().unwrap();
        let next = next(current.map(|found| found.pointer), nonce);
        let moved = pointers::swap(&self.store, version.as_ref(), &next).unwrap();
        assert!(matches!(moved, Swap::Moved(_)), "{moved:?}");
    }

    pub(crate) fn options(&self) -> FetchOptions {
        FetchOptions {
            backends: Backends::Listed(vec![Backend::Cuda]),
            now: now(),
            lock_wait: Duration::from_mins(1),
            ..FetchOptions::new(&self.out)
        }
    }

    pub(crate) fn fetch_with(&self, options: &FetchOptions) -> FetchReport {
        fetch(Source::Store(&self.store), options, &Silent)
    }

    /// Fetches CUDA with these options and returns its report.
    pub(crate) fn one_with(&self, change: impl FnOnce(&mut FetchOptions)) -> BackendReport {
        let mut options = self.options();
        change(&mut options);
        only(self.fetch_with(&options))
    }

    pub(crate) fn fetch(&self) -> BackendReport {
        self.one_with(|_| {})
    }

    pub(crate) fn fetch_choice(&self, choice: Choice) -> BackendReport {
        self.one_with(|options| options.choice = choice)
    }

    pub(crate) fn open(&self) -> Result<InstalledPair, InstalledError> {
        installed::open(&self.out, Backend::Cuda)
    }

    /// The record folder CUDA's link names.
    pub(crate) fn folder(&self) -> PathBuf {
        self.out
            .join(fs_err::read_link(self.out.join("cuda")).unwrap())
    }

    /// The names of the record folders there are.
    pub(crate) fn record_folders(&self) -> Vec<String> {
        let mut names = names_in(&self.out.join(".records"));
        names.sort();
        names
    }
}

impl Draft {
    pub(crate) fn new(backend: Backend, commit: &str, build: u64) -> Self {
        Self {
            table: table(backend, commit, build),
            maps: BTreeMap::from([(Variant::default(), map(backend, commit, ""))]),
            parts: ManifestParts {
                pipeline: ci(),
                backend,
                commit: commit_of(commit),
                build: BuildNumber(build),
                recorded_at: now(),
                files: BTreeMap::new(),
                counts: Counts::default(),
                bundles: Vec::new(),
                producer: Producer {
                    name: "kernrec".to_owned(),
                    version: "0".to_owned(),
                },
            },
            published_at: now(),
        }
    }
}

pub(crate) fn now() -> Timestamp {
    Timestamp::from_unix(NOW).unwrap()
}

pub(crate) fn ci() -> Pipeline {
    Pipeline::new("ci").unwrap()
}

pub(crate) fn commit_of(text: &str) -> Commit {
    Commit::new(text).unwrap()
}

pub(crate) fn only(report: FetchReport) -> BackendReport {
    assert_eq!(report.backends.len(), 1);
    report.backends.into_iter().next().unwrap()
}

/// The reason word of a report that must be a failure.
pub(crate) fn reason(report: &BackendReport) -> &'static str {
    report.failure.as_ref().unwrap().reason
}

/// Asserts that a fetch was refused or failed for a reason and left this commit in place, whole.
pub(crate) fn assert_kept(
    world: &World,
    report: &BackendReport,
    status: Status,
    reason_word: &str,
    commit: &str,
) {
    assert_eq!(
        (report.status, reason(report)),
        (status, reason_word),
        "{report:?}"
    );
    assert_eq!(report.pair.as_ref().unwrap().commit.as_str(), commit);
    assert_commit(&world.open().unwrap(), commit);
}

/// Asserts that everything in a pair is of one commit.
pub(crate) fn assert_commit(pair: &InstalledPair, commit: &str) {
    assert_eq!(pair.record.commit.as_str(), commit);
    assert_eq!(pair.table.names[0].as_str(), format!("kernel_{commit}"));
    for map in pair.maps.values() {
        assert_eq!(
            map.objects[0].symbols[0].as_str(),
            format!("kernel_{commit}")
        );
    }
}

pub(crate) fn table(backend: Backend, commit: &str, build: u64) -> KernelTable {
    let row = Row {
        jobs: 1,
        passed: true,
        complete: true,
        processes: 1,
        dropped: 0,
        shards: Shards::default(),
        kernels: vec![0],
        backend: RowBackend::Known(backend),
        trace_complete: true,
        recording_available: true,
        health: None,
        reasons: BTreeSet::new(),
        variants: BTreeSet::new(),
    };
    KernelTable {
        version: 3,
        source: TableSource {
            org: "org".to_owned(),
            pipeline: "ci".to_owned(),
            build: BuildNumber(build),
            commit: Some(commit_of(commit)),
            recorded_at: now(),
        },
        names: vec![kernel(commit)],
        rows: BTreeMap::from([(StepKey::new("step").unwrap(), row)]),
        faults: Vec::new(),
    }
}

pub(crate) fn map(backend: Backend, commit: &str, variant: &str) -> SymbolMap {
    SymbolMap {
        version: MapVersion::V2,
        backend,
        commit: Some(commit_of(commit)),
        variant: Variant::new(variant).unwrap(),
        cuda: None,
        generated_at: None,
        incomplete: false,
        errors: Vec::new(),
        build_dirs: Vec::new(),
        objects: vec![MapObject {
            source: "src/a.cu".to_owned(),
            compiled_source: None,
            target: "t".to_owned(),
            object: "a.o".to_owned(),
            device: true,
            symbols: vec![kernel(commit)],
            deps: vec!["src/a.cu".into()],
            offload_targets: Vec::new(),
            error: None,
        }],
        reason: None,
        stats: None,
        tools: BTreeMap::new(),
        hipify_manifests: Vec::new(),
        offload_targets: Vec::new(),
    }
}

pub(crate) fn kernel(commit: &str) -> KernelName {
    KernelName::new(format!("kernel_{commit}")).unwrap()
}

pub(crate) fn names_in(folder: &Path) -> Vec<String> {
    fs_err::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

/// Where an object stands in a local store.
pub(crate) fn object_path(world: &World, digest: &Digest) -> PathBuf {
    let key = kernrec_store::Key::object(digest);
    world.dir.path().join("store").join(key.as_str())
}

pub(crate) fn pointer_path(world: &World) -> PathBuf {
    world.dir.path().join("store/pointers/ci/cuda.json")
}

/// Changes a file in place, so that size and name stay and the time differs from any before.
pub(crate) fn overwrite(path: &Path, bytes: &[u8]) {
    fs_err::write(path, bytes).unwrap();
    let file = fs_err::File::options().write(true).open(path).unwrap();
    let past = std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    file.into_parts().0.set_modified(past).unwrap();
}
