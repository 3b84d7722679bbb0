//! The real recordings of testdata/ggml-h200: as a pair, and as an oracle that shares no code with it.

use kernrec_schemas::recording::Recording;
use kernrec_schemas::sidecar::Sidecar;
use kernrec_schemas::symbol_map::SymbolMap;
use kernrec_schemas::table::{KernelTable, RowReason, TableSource};
use kernrec_schemas::{Backend, BuildNumber, KernelName, RowBackend, StepKey};
use kernrec_select::{Lineage, Pair, Record};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::{Path, PathBuf};

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/ggml-h200")
}

fn map_bytes() -> Vec<u8> {
    let file = fs_err::File::open(data().join("kernel_symbol_map.json.gz")).unwrap();
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(file)
        .read_to_end(&mut bytes)
        .unwrap();
    bytes
}

fn job_folders() -> Vec<PathBuf> {
    let jobs = fs_err::read_dir(data().join("recordings")).unwrap();
    let mut jobs: Vec<PathBuf> = jobs.map(|job| job.unwrap().path()).collect();
    jobs.sort();
    jobs
}

fn recordings(job: &Path) -> Vec<Vec<u8>> {
    let mut files: Vec<PathBuf> = fs_err::read_dir(job)
        .unwrap()
        .map(|file| file.unwrap().path())
        .collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "txt"));
    files
        .into_iter()
        .map(|file| fs_err::read(file).unwrap())
        .collect()
}

/// One row per job, as every step of this data ran in one job: what the fold makes of it, in a few lines.
pub(crate) fn pair() -> Pair {
    let map = SymbolMap::load(&map_bytes()).unwrap();
    let mut names: BTreeMap<String, u32> = BTreeMap::new();
    let mut rows = BTreeMap::new();
    for job in job_folders() {
        let sidecar = Sidecar::parse(&fs_err::read(job.join("kernrec.json")).unwrap()).unwrap();
        let files = recordings(&job);
        let read: Vec<Recording<'_>> = files.iter().map(|bytes| Recording::read(bytes)).collect();
        let mut kernels = BTreeSet::new();
        for name in read.iter().flat_map(|recording| &recording.names) {
            let next = u32::try_from(names.len()).unwrap();
            kernels.insert(*names.entry(name.to_string()).or_insert(next));
        }
        let mut row = super::row(
            RowBackend::Known(Backend::Cuda),
            kernels.into_iter().collect(),
        );
        row.reasons = read
            .iter()
            .filter_map(|recording| RowReason::of_process(recording.state))
            .collect();
        row.processes = files.len() as u64;
        row.passed = sidecar.exit_status == Some(0);
        row.trace_complete = !files.is_empty() && row.reasons.is_empty();
        assert!(
            rows.insert(sidecar.step_key.unwrap(), row).is_none(),
            "one job per step"
        );
    }
    let mut by_index: Vec<(u32, String)> = names
        .into_iter()
        .map(|(name, index)| (index, name))
        .collect();
    by_index.sort_unstable();
    Pair {
        backend: Backend::Cuda,
        table: KernelTable {
            version: 3,
            source: TableSource {
                org: "acme".to_owned(),
                pipeline: "ci".to_owned(),
                build: BuildNumber(1001),
                commit: map.commit.clone(),
                recorded_at: "2030-01-01T00:00:00Z".parse().unwrap(),
            },
            names: by_index
                .into_iter()
                .map(|(_, name)| KernelName::new(name).unwrap())
                .collect(),
            rows,
            faults: Vec::new(),
        },
        maps: vec![map],
        published_at: super::ago(3 * super::DAY),
        revoked: false,
        unverified: None,
        lineage: Lineage::default(),
    }
}

pub(crate) fn record() -> Record {
    super::ready(pair())
}

/// What an independent join of the raw files says: text lines against raw JSON. Kernels are numbered by first
/// appearance, as comparing a million long names takes minutes.
#[derive(Default)]
pub(crate) struct Oracle {
    names: BTreeMap<String, u32>,
    /// The kernels of each sampled file that the map names.
    pub(crate) kernels: BTreeMap<String, BTreeSet<u32>>,
    /// Those of them that an object without kernels uses.
    pub(crate) host: BTreeSet<String>,
    /// The steps of each kernel that the map knows and some step launched.
    observed: BTreeMap<u32, BTreeSet<String>>,
}

impl Oracle {
    pub(crate) fn read() -> Self {
        let mut oracle = Self::default();
        let map: serde_json::Value = serde_json::from_slice(&map_bytes()).unwrap();
        for object in map["objects"].as_array().unwrap() {
            oracle.add_object(object);
        }
        for job in job_folders() {
            let sidecar: serde_json::Value =
                serde_json::from_slice(&fs_err::read(job.join("kernrec.json")).unwrap()).unwrap();
            let step = sidecar["step_key"].as_str().unwrap();
            for bytes in recordings(&job) {
                let text = String::from_utf8(bytes).unwrap();
                for kernel in text.lines().filter_map(|line| oracle.names.get(line)) {
                    oracle
                        .observed
                        .entry(*kernel)
                        .or_default()
                        .insert(step.to_owned());
                }
            }
        }
        oracle
    }

    fn add_object(&mut self, object: &serde_json::Value) {
        let texts = |field: &str| {
            object[field]
                .as_array()
                .unwrap()
                .iter()
                .map(|text| text.as_str().unwrap())
        };
        let mut symbols = Vec::new();
        for name in texts("symbols") {
            let next = u32::try_from(self.names.len()).unwrap();
            symbols.push(*self.names.entry(name.to_owned()).or_insert(next));
        }
        let paths = texts("deps").chain(object["source"].as_str());
        for path in paths.filter(|path| is_sampled(path)) {
            if symbols.is_empty() {
                self.host.insert(path.to_owned());
            }
            self.kernels
                .entry(path.to_owned())
                .or_default()
                .extend(&symbols);
        }
    }

    /// The number of a kernel the map knows.
    pub(crate) fn number(&self, name: &KernelName) -> u32 {
        self.names[name.as_str()]
    }

    /// By step, the kernels of the file that it launched.
    pub(crate) fn launches(&self, path: &str) -> BTreeMap<&str, BTreeSet<u32>> {
        let mut launches: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
        for (kernel, steps) in &self.observed {
            if self.kernels[path].contains(kernel) {
                for step in steps {
                    launches.entry(step).or_default().insert(*kernel);
                }
            }
        }
        launches
    }
}

/// Every file of the project and some of the 1,600 system headers, which reach nearly every kernel each.
fn is_sampled(path: &str) -> bool {
    !path.starts_with('/') || path.len().is_multiple_of(16)
}

pub(crate) fn keys<'a>(steps: impl IntoIterator<Item = &'a StepKey>) -> BTreeSet<&'a str> {
    steps.into_iter().map(StepKey::as_str).collect()
}
