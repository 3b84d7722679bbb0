//! Records of functions: gated and published beside those of kernels.

use crate::python::{functions, job, pack, set, table_of};
use crate::support::{Job, collect_dir, collect_jobs, map, maps, request};
use kernrec_publish::publishing::{BatchRequest, Evidence, Outcome, Table};
use kernrec_publish::{
    BundlePolicy, Collected, GateOptions, Maps, PublishReport, publish, publish_all, refold,
};
use kernrec_schemas::function_table::FunctionTable;
use kernrec_schemas::installed::StoreLayout;
use kernrec_schemas::manifest::RecordManifest;
use kernrec_schemas::{Backend, BuildNumber, Commit};
use kernrec_store::{LocalStore, objects};
use serde_json::json;

struct Shop {
    _dir: tempfile::TempDir,
    store: LocalStore,
    maps: Maps,
}

impl Shop {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        Self {
            store: LocalStore::create(dir.path()).unwrap(),
            _dir: dir,
            maps: Maps::default(),
        }
    }

    fn publish(
        &self,
        evidence: Evidence<'_>,
        change: impl FnOnce(&mut kernrec_publish::PublishRequest<'_>),
    ) -> PublishReport {
        let mut request = request(evidence, &self.maps);
        request.backend = Backend::Python;
        change(&mut request);
        publish(&self.store, &request).unwrap()
    }
}

fn refusals(report: &PublishReport) -> Vec<&'static str> {
    report
        .refusals
        .iter()
        .map(kernrec_publish::Refusal::word)
        .collect()
}

#[test]
fn a_record_of_functions_is_published_without_a_map_and_folds_again() {
    let shop = Shop::new();
    let (dir, collected) = collect_jobs(&[job("j1", "a"), job("j2", "b")]);
    let report = shop.publish(Evidence::Recordings(&collected), |_| ());
    assert_eq!(report.outcome, Outcome::Published, "{:?}", report.refusals);
    let digest = report.manifest.unwrap();
    let bytes = objects::read_bounded(&shop.store, &digest, 1 << 20).unwrap();
    let manifest = RecordManifest::parse(&bytes).unwrap();
    assert_eq!(manifest.backend, Backend::Python);
    let counts = manifest.counts;
    assert_eq!(
        (counts.rows, counts.usable_rows, counts.functions),
        (2, 2, 2)
    );
    let file = manifest.function_table().unwrap();
    let table = objects::read(&shop.store, &file.digest, file.size).unwrap();
    assert_eq!(
        functions(&FunctionTable::parse(&table).unwrap(), "a").len(),
        2
    );
    assert_eq!(manifest.bundles.len(), 2);
    assert!(refold(&shop.store, &manifest).unwrap().same);
    let packed = tempfile::tempdir().unwrap();
    pack(dir.path(), packed.path());
    let again = collect_dir(packed.path());
    let again = shop.publish(Evidence::Recordings(&again), |_| ());
    assert_eq!(
        (again.outcome, again.manifest),
        (Outcome::Unchanged, Some(digest))
    );
}

#[test]
fn every_gate_refuses_in_its_own_words() {
    let thin = [job("j", "a").file("pytest.1.jsonl", b"")];
    let foreign = [
        set("j1", "a", &json!({"commit": "beef"})),
        set("j2", "b", &json!({"commit": "beef"})),
        job("j3", "c"),
    ];
    let good = [job("j", "a")];
    let expecting = |expected_jobs| GateOptions {
        expected_jobs,
        ..GateOptions::default()
    };
    for (jobs, gates, layout, expected) in [
        (
            &thin[..],
            expecting(None),
            StoreLayout::Native,
            "no-usable-row",
        ),
        (
            &foreign[..],
            expecting(None),
            StoreLayout::Native,
            "foreign-recordings",
        ),
        (
            &good[..],
            expecting(Some(3)),
            StoreLayout::Native,
            "too-few-jobs",
        ),
        (
            &good[..],
            expecting(None),
            StoreLayout::Upstream,
            "backend-not-representable",
        ),
    ] {
        let shop = Shop::new();
        let (_dir, collected) = collect_jobs(jobs);
        let report = shop.publish(Evidence::Recordings(&collected), |request| {
            request.gates = gates;
            request.layout = layout;
        });
        assert_eq!(
            (report.outcome, refusals(&report)),
            (Outcome::Refused, vec![expected])
        );
    }
}

#[test]
fn a_ready_made_table_is_published_for_its_own_commit_and_backend() {
    let shop = Shop::new();
    let ready = Table::Functions(table_of(&[job("j", "a")]));
    let other = |request: &mut kernrec_publish::PublishRequest<'_>| {
        request.commit = Commit::new("beef").unwrap();
    };
    let report = shop.publish(Evidence::Table(&ready), other);
    assert_eq!(refusals(&report), ["commit-mismatch"]);
    let report = shop.publish(Evidence::Table(&ready), |_| ());
    assert_eq!(report.outcome, Outcome::Published);
    let report = shop.publish(Evidence::Table(&ready), |request| {
        request.backend = Backend::Cuda;
    });
    assert!(refusals(&report).contains(&"wrong-backend"));
}

#[test]
fn a_shrunken_or_older_record_does_not_replace_a_good_one() {
    let shop = Shop::new();
    let (_dir, many) = collect_jobs(&[job("j1", "a"), job("j2", "b"), job("j3", "c")]);
    let published = shop.publish(Evidence::Recordings(&many), |_| ());
    assert_eq!(published.outcome, Outcome::Published);
    let (_dir, few) = collect_jobs(&[job("j1", "a")]);
    let build =
        |number| move |r: &mut kernrec_publish::PublishRequest<'_>| r.build = BuildNumber(number);
    let collapsed = shop.publish(Evidence::Recordings(&few), build(8));
    assert_eq!(refusals(&collapsed), ["collapse"]);
    let older = shop.publish(Evidence::Recordings(&many), build(6));
    assert_eq!(older.outcome, Outcome::Superseded);
    let newer = shop.publish(Evidence::Recordings(&many), build(9));
    assert_eq!(newer.outcome, Outcome::Published);
}

#[test]
fn each_backend_of_one_delivery_is_published_by_itself() {
    let batch = |collected: &Collected, maps: &Maps, backends: Vec<Backend>, store: &LocalStore| {
        let request = request(Evidence::Recordings(collected), maps);
        publish_all(
            store,
            &BatchRequest {
                backends,
                pipeline: request.pipeline,
                commit: request.commit,
                build: request.build,
                org: request.org,
                recorded_at: Some(request.recorded_at),
                source_date_epoch: None,
                evidence: request.evidence,
                maps,
                jobs: None,
                gates: request.gates,
                repo: None,
                layout: request.layout,
                replace_unnamed: false,
                bundles: BundlePolicy::Store,
                signing: request.signing,
                dry_run: false,
            },
        )
    };
    let ends = |report: &kernrec_publish::BatchReport| -> Vec<(Backend, Outcome)> {
        report
            .reports
            .iter()
            .map(|r| (r.backend, r.outcome))
            .collect()
    };
    let (_dir, both) = collect_jobs(&[Job::new("j1", "a"), job("j2", "b")]);
    let with_map = maps(vec![map(Backend::Cuda, &["k"])]);
    let shop = Shop::new();
    let report = batch(&both, &with_map, Vec::new(), &shop.store);
    let published = [
        (Backend::Cuda, Outcome::Published),
        (Backend::Python, Outcome::Published),
    ];
    assert_eq!(ends(&report), published);
    let shop = Shop::new();
    let report = batch(&both, &with_map, vec![Backend::Cuda], &shop.store);
    assert_eq!(ends(&report), published[..1]);
    // Kernels that join no map keep no functions back.
    let (shop, foreign) = (Shop::new(), maps(vec![map(Backend::Cuda, &["other"])]));
    let report = batch(&both, &foreign, Vec::new(), &shop.store);
    assert_eq!(
        ends(&report),
        [(Backend::Cuda, Outcome::Refused), published[1]]
    );
    let shop = Shop::new();
    let report = batch(&both, &Maps::default(), Vec::new(), &shop.store);
    assert_eq!(ends(&report), published[1..]);
    assert_eq!(report.backends_without_map, [Backend::Cuda]);
}
