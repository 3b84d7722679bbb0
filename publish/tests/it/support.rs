//! Small job folders, maps and requests.

use kernrec_publish::publishing::{BundlePolicy, Evidence, PublishRequest};
use kernrec_publish::{Collected, FoldOptions, GateOptions, Inputs, Maps, collect, fold};
use kernrec_schemas::jobs::JobsList;
use kernrec_schemas::symbol_map::SymbolMap;
use kernrec_schemas::table::{KernelTable, Row};
use kernrec_schemas::{Backend, BuildNumber, Commit, StepKey, Timestamp};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

pub(crate) const COMMIT: &str = "c0de";

/// A healthy CUDA recording of these kernels.
pub(crate) fn clean(names: &[&str]) -> String {
    let mut text = cuda_header();
    for name in names {
        writeln!(text, "{name}").unwrap();
    }
    let unique = names.len();
    writeln!(
        text,
        "# end records={} unique={unique} dropped=0 errors=0 unresolved=0",
        unique * 3
    )
    .unwrap();
    text
}

/// A CUDA recording whose process was killed.
pub(crate) fn killed(names: &[&str]) -> String {
    let mut text = cuda_header();
    for name in names {
        writeln!(text, "{name}").unwrap();
    }
    text
}

/// A CUDA recording that lost records.
pub(crate) fn dropped(names: &[&str]) -> String {
    clean(names).replace("dropped=0", "dropped=7")
}

/// A healthy ROCm recording of these kernels.
pub(crate) fn clean_rocm(names: &[&str]) -> String {
    clean(names).replace(
        &cuda_header(),
        &format!(
            "{}# sdk_version=10302 build_sdk_version=10302\n# gpu_active\n",
            rocm_header()
        ),
    )
}

/// A ROCm process that was killed before it began GPU work.
pub(crate) fn idle_rocm() -> String {
    format!(
        "{}# sdk_version=10302 build_sdk_version=10302\n",
        rocm_header()
    )
}

fn cuda_header() -> String {
    "# kernrec v1 backend=cuda recorder=cupti pid=310 ppid=301 exe=/opt/py/bin/python\n".to_owned()
}

fn rocm_header() -> String {
    "# kernrec v1 backend=rocm recorder=rocprofiler-sdk pid=77 ppid=70 exe=/usr/bin/python3\n"
        .to_owned()
}

/// A job folder to be: healthy CUDA unless changed.
#[derive(Debug, Clone)]
pub(crate) struct Job {
    pub(crate) id: String,
    files: Vec<(String, Vec<u8>)>,
    sidecar: Option<Map<String, Value>>,
}

impl Job {
    /// A passed CUDA job of a step with one clean recording of kernel `k`.
    pub(crate) fn new(id: &str, step: &str) -> Self {
        let sidecar = json!({
            "step_key": step, "label": step, "job_id": id, "build": "7", "commit": COMMIT,
            "parallel_job": "", "parallel_job_count": "", "exit_status": 0, "host": "n1",
            "backend": "cuda", "recorder": "cupti", "collection_available": true,
            "collection_error": null,
        });
        let Value::Object(sidecar) = sidecar else {
            unreachable!()
        };
        Self {
            id: id.to_owned(),
            files: vec![("kern.1.txt".to_owned(), clean(&["k"]).into_bytes())],
            sidecar: Some(sidecar),
        }
    }

    /// The same of ROCm.
    pub(crate) fn rocm(id: &str, step: &str) -> Self {
        Self::new(id, step)
            .set("backend", "rocm")
            .set("recorder", "rocprofiler-sdk")
            .recordings(&[&clean_rocm(&["k"])])
    }

    /// Sets a field of the sidecar.
    pub(crate) fn set(mut self, field: &str, value: impl Into<Value>) -> Self {
        let sidecar = self.sidecar.as_mut().unwrap();
        sidecar.insert(field.to_owned(), value.into());
        self
    }

    pub(crate) fn unset(mut self, field: &str) -> Self {
        self.sidecar.as_mut().unwrap().remove(field).unwrap();
        self
    }

    pub(crate) fn shard(self, index: u64, count: u64) -> Self {
        self.set("parallel_job", index.to_string())
            .set("parallel_job_count", count.to_string())
    }

    pub(crate) fn retry(self, count: u64, status: i64) -> Self {
        self.set("retry_count", count.to_string())
            .set("exit_status", status)
    }

    pub(crate) fn without_sidecar(mut self) -> Self {
        self.sidecar = None;
        self
    }

    /// Replaces the recordings: `kern.1.txt`, `kern.2.txt`, …
    pub(crate) fn recordings(mut self, texts: &[&str]) -> Self {
        self.files = texts
            .iter()
            .zip(1..)
            .map(|(text, n)| (format!("kern.{n}.txt"), text.as_bytes().to_vec()))
            .collect();
        self
    }

    /// Adds or replaces any file.
    pub(crate) fn file(mut self, name: &str, bytes: &[u8]) -> Self {
        self.files.retain(|(known, _)| known != name);
        self.files.push((name.to_owned(), bytes.to_vec()));
        self
    }

    /// Writes `<dir>/<id>/`.
    pub(crate) fn write(&self, dir: &Path) -> PathBuf {
        let folder = dir.join(&self.id);
        fs_err::create_dir_all(&folder).unwrap();
        if let Some(sidecar) = &self.sidecar {
            let text = serde_json::to_vec_pretty(sidecar).unwrap();
            put(&folder.join("kernrec.json"), &text);
        }
        for (name, bytes) in &self.files {
            put(&folder.join(name), bytes);
        }
        folder
    }
}

/// Writes a file; tests need no durability.
pub(crate) fn put(path: &Path, bytes: &[u8]) {
    fs_err::write(path, bytes).unwrap();
}

pub(crate) fn collect_jobs(jobs: &[Job]) -> (tempfile::TempDir, Collected) {
    let dir = tempfile::tempdir().unwrap();
    for job in jobs {
        job.write(dir.path());
    }
    let collected = collect_dir(dir.path());
    (dir, collected)
}

pub(crate) fn collect_dir(dir: &Path) -> Collected {
    collect(&Inputs {
        recordings: vec![dir.to_path_buf()],
        bundles: Vec::new(),
    })
    .unwrap()
}

pub(crate) fn commit() -> Commit {
    Commit::new(COMMIT).unwrap()
}

pub(crate) fn time() -> Timestamp {
    "2030-01-01T00:00:00Z".parse().unwrap()
}

pub(crate) fn options(backend: Backend) -> FoldOptions {
    FoldOptions {
        backend,
        commit: commit(),
        build: BuildNumber(7),
        org: "acme".to_owned(),
        pipeline: "ci".parse().unwrap(),
        recorded_at: time(),
        jobs: None,
        map_variants: None,
    }
}

pub(crate) fn jobs_list(listed: &Value) -> JobsList {
    JobsList::parse(listed.to_string().as_bytes()).unwrap()
}

/// The CUDA table of these jobs.
pub(crate) fn table_of(jobs: &[Job], list: Option<&Value>) -> KernelTable {
    let (_dir, collected) = collect_jobs(jobs);
    let options = FoldOptions {
        jobs: list.map(jobs_list),
        ..options(Backend::Cuda)
    };
    fold(&collected, &options)
}

pub(crate) fn step(key: &str) -> StepKey {
    StepKey::new(key).unwrap()
}

pub(crate) fn row<'a>(table: &'a KernelTable, key: &str) -> &'a Row {
    table.rows.get(&step(key)).unwrap()
}

pub(crate) fn words(row: &Row) -> Vec<String> {
    let words: BTreeSet<&str> = row
        .reasons
        .iter()
        .map(kernrec_schemas::table::RowReason::word)
        .collect();
    words.into_iter().map(str::to_owned).collect()
}

pub(crate) fn kernels(table: &KernelTable, key: &str) -> Vec<String> {
    let row = row(table, key);
    let names: BTreeSet<String> = table.kernels(row).map(ToString::to_string).collect();
    names.into_iter().collect()
}

/// A version 2 map whose one object holds these symbols.
pub(crate) fn map(backend: Backend, symbols: &[&str]) -> SymbolMap {
    map_from(&json!({
        "version": 2, "backend": backend, "commit": COMMIT,
        "objects": [{"source": "a.cu", "object": "a.o", "device": true, "symbols": symbols}],
    }))
}

pub(crate) fn map_from(document: &Value) -> SymbolMap {
    SymbolMap::parse(document.to_string().as_bytes()).unwrap()
}

pub(crate) fn maps(all: Vec<SymbolMap>) -> Maps {
    let mut maps = Maps::default();
    for (map, n) in all.into_iter().zip(1..) {
        maps.add(PathBuf::from(format!("map-{n}.json")), map)
            .unwrap();
    }
    maps
}

/// A request to publish build 7 of CUDA.
pub(crate) fn request<'a>(evidence: Evidence<'a>, maps: &'a Maps) -> PublishRequest<'a> {
    PublishRequest {
        backend: Backend::Cuda,
        pipeline: "ci".parse().unwrap(),
        commit: commit(),
        build: BuildNumber(7),
        org: "acme".to_owned(),
        recorded_at: time(),
        evidence,
        maps,
        jobs: None,
        gates: GateOptions::default(),
        repo: None,
        layout: kernrec_schemas::installed::StoreLayout::Native,
        replace_unnamed: false,
        bundles: BundlePolicy::Store,
        signing: kernrec_store::signing::Signing::default(),
        dry_run: false,
    }
}
