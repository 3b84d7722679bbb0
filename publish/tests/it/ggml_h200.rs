//! The real recordings of testdata/ggml-h200, against a join written here from the format's text alone.

use crate::support::{collect_dir, time};
use kernrec_publish::publishing::{Evidence, Outcome, PublishRequest};
use kernrec_publish::{
    BundlePolicy, Collected, FoldOptions, GateOptions, Inputs, Maps, collect, fold, publish, refold,
};
use kernrec_schemas::manifest::RecordManifest;
use kernrec_schemas::table::KernelTable;
use kernrec_schemas::{Backend, BuildNumber, Commit};
use kernrec_store::bundle::{self, PackOptions};
use kernrec_store::{LocalStore, objects};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

const COMMIT: &str = "d99724f2b141fed9e1a9f402213506c081433465";

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/ggml-h200")
}

fn options() -> FoldOptions {
    FoldOptions {
        backend: Backend::Cuda,
        commit: Commit::new(COMMIT).unwrap(),
        build: BuildNumber(1001),
        org: "acme".to_owned(),
        pipeline: "ci".parse().unwrap(),
        recorded_at: time(),
        jobs: None,
        map_variants: None,
    }
}

/// What a step launched, and whether its row is usable, by nothing but line prefixes and one JSON field.
fn independent_join() -> BTreeMap<String, (BTreeSet<String>, bool)> {
    let mut steps = BTreeMap::new();
    for job in fs_err::read_dir(data().join("recordings")).unwrap() {
        let job = job.unwrap().path();
        let sidecar: serde_json::Value =
            serde_json::from_slice(&fs_err::read(job.join("kernrec.json")).unwrap()).unwrap();
        let step = sidecar["step_key"].as_str().unwrap().to_owned();
        let (names, usable) = steps.entry(step).or_insert_with(|| (BTreeSet::new(), true));
        *usable &= sidecar["exit_status"] == 0;
        for file in fs_err::read_dir(&job).unwrap() {
            let file = file.unwrap().path();
            if file.extension().is_none_or(|extension| extension != "txt") {
                continue;
            }
            let text = fs_err::read_to_string(&file).unwrap();
            let last = text.lines().last().unwrap();
            *usable &= last.starts_with("# end ")
                && last.contains(" dropped=0 ")
                && last.ends_with(" errors=0 unresolved=0");
            let launched = text.lines().filter(|line| !line.starts_with('#'));
            names.extend(launched.map(str::to_owned));
        }
    }
    steps
}

#[test]
fn the_table_is_that_of_an_independent_join() {
    let table = fold(&collect_dir(&data().join("recordings")), &options());
    let expected = independent_join();
    assert_eq!(expected.len(), 129);
    let found: BTreeMap<String, (BTreeSet<String>, bool)> = table
        .rows
        .iter()
        .map(|(step, row)| {
            let names = table.kernels(row).map(ToString::to_string).collect();
            (step.to_string(), (names, row.is_usable()))
        })
        .collect();
    for (step, expected) in &expected {
        assert_eq!(found.get(step), Some(expected), "{step}");
    }
    assert_eq!(found.len(), expected.len());
    let unusable: Vec<&str> = found
        .iter()
        .filter(|(_, (_, usable))| !usable)
        .map(|(step, _)| step.as_str())
        .collect();
    assert_eq!(unusable, ["op-flash-attn-ext", "torch-killed"]);
    assert_eq!(table.usable_rows(), 127);
}

#[test]
fn the_documented_steps_launched_the_kernels_of_their_sources() {
    let maps = Maps::load(&[data().join("kernel_symbol_map.json.gz")]).unwrap();
    let (_, file) = maps.of(Backend::Cuda).next().unwrap();
    let table = fold(&collect_dir(&data().join("recordings")), &options());
    let cases = [
        ("src/ggml-cuda/rope.cu", 48, vec!["op-rope", "op-rope-back"]),
        ("src/ggml-cuda/pad.cu", 1, vec!["op-pad"]),
        ("src/ggml-cuda/mmq.cu", 0, vec![]),
    ];
    for (source, kernels, steps) in cases {
        let of_source: BTreeSet<&str> = file
            .map
            .objects
            .iter()
            .filter(|object| object.source == source)
            .flat_map(|object| {
                object
                    .symbols
                    .iter()
                    .map(kernrec_schemas::KernelName::as_str)
            })
            .collect();
        assert_eq!(of_source.len(), kernels, "{source}");
        let launched = |table: &KernelTable| -> Vec<String> {
            let launches = |row| table.kernels(row).any(|k| of_source.contains(k.as_str()));
            let rows = table.rows.iter().filter(|(_, row)| launches(row));
            rows.map(|(step, _)| step.to_string()).collect()
        };
        assert_eq!(launched(&table), steps, "{source}");
    }
}

fn publish_real(store: &LocalStore, collected: &Collected) -> RecordManifest {
    let maps = Maps::load(&[data().join("kernel_symbol_map.json.gz")]).unwrap();
    let request = PublishRequest {
        backend: Backend::Cuda,
        pipeline: "ci".parse().unwrap(),
        commit: Commit::new(COMMIT).unwrap(),
        build: BuildNumber(1001),
        org: "acme".to_owned(),
        recorded_at: time(),
        evidence: Evidence::Recordings(collected),
        maps: &maps,
        jobs: None,
        gates: GateOptions {
            expected_jobs: Some(129),
            ..GateOptions::default()
        },
        repo: None,
        layout: kernrec_schemas::installed::StoreLayout::Native,
        replace_unnamed: false,
        bundles: BundlePolicy::Store,
        signing: kernrec_store::signing::Signing::default(),
        dry_run: false,
    };
    let report = publish(store, &request).unwrap();
    assert_eq!(report.outcome, Outcome::Published, "{report:?}");
    let manifest = report.manifest.unwrap();
    let bytes = objects::read_bounded(store, &manifest, 1 << 22).unwrap();
    RecordManifest::parse(&bytes).unwrap()
}

#[test]
fn the_record_publishes_from_bundles_and_folds_again_to_the_same_bytes() {
    let packed = tempfile::tempdir().unwrap();
    let found = bundle::job_folders(&data().join("recordings")).unwrap();
    let bundles: Vec<PathBuf> = found
        .jobs
        .iter()
        .map(|job| {
            bundle::pack(job, packed.path(), &PackOptions::default())
                .unwrap()
                .path
        })
        .collect();
    assert_eq!(bundles.len(), 129);
    let from_bundles = collect(&Inputs {
        recordings: Vec::new(),
        bundles,
    })
    .unwrap();
    let raw = collect_dir(&data().join("recordings"));
    assert_eq!(
        fold(&from_bundles, &options()).to_canonical(),
        fold(&raw, &options()).to_canonical()
    );

    let dir = tempfile::tempdir().unwrap();
    let store = LocalStore::create(dir.path()).unwrap();
    let manifest = publish_real(&store, &from_bundles);
    let counts = manifest.counts;
    assert_eq!((counts.rows, counts.usable_rows), (129, 127));
    assert_eq!((counts.objects, counts.symbols), (167, 6201));
    assert_eq!(manifest.bundles.len(), 129);
    let refold = refold(&store, &manifest).unwrap();
    assert!(refold.same, "{:?}", refold.rows);
}
