//! Every gate refuses what it must, lets the nearest miss through, and leaves the store as it was.

use crate::support::{Job, clean, collect_jobs, jobs_list, map, map_from, maps, put, request};
use kernrec_publish::publishing::{Evidence, Outcome, PublishReport, PublishRequest, Table};
use kernrec_publish::{GateOptions, Inputs, Maps, collect, publish};
use kernrec_schemas::Backend;
use kernrec_schemas::exit::Exit;
use kernrec_schemas::table::KernelTable;
use kernrec_store::LocalStore;
use serde_json::{Value, json};
use tempfile::TempDir;

struct Shop {
    dir: TempDir,
    store: LocalStore,
}

fn shop() -> Shop {
    let dir = tempfile::tempdir().unwrap();
    let store = LocalStore::create(dir.path()).unwrap();
    Shop { dir, store }
}

impl Shop {
    fn publish(&self, request: &PublishRequest<'_>) -> PublishReport {
        publish(&self.store, request).unwrap()
    }

    fn is_empty(&self) -> bool {
        fs_err::read_dir(self.dir.path()).unwrap().next().is_none()
    }
}

fn words(report: &PublishReport) -> Vec<&'static str> {
    report
        .refusals
        .iter()
        .map(kernrec_publish::Refusal::word)
        .collect()
}

fn healthy() -> Vec<Job> {
    vec![Job::new("j1", "a"), Job::new("j2", "b")]
}

fn good_maps() -> Maps {
    maps(vec![map(Backend::Cuda, &["k", "unused"])])
}

/// Publishes these jobs with this map into an empty store.
fn publish_fresh(jobs: &[Job], maps: &Maps) -> PublishReport {
    let (_dir, collected) = collect_jobs(jobs);
    let shop = shop();
    let report = shop.publish(&request(Evidence::Recordings(&collected), maps));
    if report.outcome == Outcome::Refused {
        assert!(shop.is_empty(), "a refused publish wrote something");
        assert_eq!(report.outcome.exit(), Exit::Refused);
    }
    report
}

#[test]
fn a_healthy_record_passes() {
    let report = publish_fresh(&healthy(), &good_maps());
    assert_eq!(report.outcome, Outcome::Published);
    assert_eq!(report.generation.unwrap().0, 1);
}

#[test]
fn no_usable_row() {
    let failed = |job: Job| job.set("exit_status", 1);
    let all: Vec<Job> = healthy().into_iter().map(failed).collect();
    assert_eq!(words(&publish_fresh(&all, &good_maps())), ["no-usable-row"]);
    assert_eq!(words(&publish_fresh(&[], &good_maps())), ["no-usable-row"]);
    let one = [failed(Job::new("j1", "a")), Job::new("j2", "b")];
    assert!(words(&publish_fresh(&one, &good_maps())).is_empty());
}

#[test]
fn map_refused() {
    let of = |more: Value| {
        let mut document = json!({
            "version": 2, "backend": "cuda", "commit": crate::support::COMMIT,
            "objects": [{"source": "a.cu", "symbols": ["k"]}],
        });
        for (key, value) in more.as_object().unwrap() {
            document[key] = value.clone();
        }
        maps(vec![map_from(&document)])
    };
    let reason = publish_fresh(&healthy(), &of(json!({"reason": "nothing was built"})));
    assert_eq!(words(&reason), ["map-refused"]);
    let no_source = of(json!({"objects": [{"source": "", "symbols": ["k"]}]}));
    assert_eq!(
        words(&publish_fresh(&healthy(), &no_source)),
        ["map-refused"]
    );
    let empty = of(json!({"objects": []}));
    assert_eq!(words(&publish_fresh(&healthy(), &empty)), ["map-refused"]);
    let none = Maps::default();
    // Without any map no variant has one, so no row is usable either.
    assert_eq!(
        words(&publish_fresh(&healthy(), &none)),
        ["map-refused", "no-usable-row"]
    );
    let incomplete = of(json!({"incomplete": true}));
    assert!(words(&publish_fresh(&healthy(), &incomplete)).is_empty());
}

#[test]
fn wrong_backend_is_about_ready_made_tables() {
    let (_dir, collected) = collect_jobs(&healthy());
    let rocm = json!({
        "version": 3,
        "source": {"org": "acme", "pipeline": "ci", "build": 7, "commit": crate::support::COMMIT,
            "recorded_at": "2030-01-01T00:00:00Z"},
        "names": ["k"],
        "rows": {"a": row_json("cuda"), "b": row_json("rocm"), "c": row_json("unknown")},
    });
    let table = KernelTable::parse(rocm.to_string().as_bytes()).unwrap();
    let maps = good_maps();
    let report = shop().publish(&request(
        Evidence::Table(&Table::Kernels(table.clone())),
        &maps,
    ));
    assert_eq!(words(&report), ["wrong-backend"]);
    let recorded = shop().publish(&request(Evidence::Recordings(&collected), &maps));
    assert_eq!(recorded.outcome, Outcome::Published);
}

fn row_json(backend: &str) -> Value {
    json!({"jobs": 1, "passed": true, "complete": true, "processes": 1, "dropped": 0,
        "kernels": [0], "backend": backend, "trace_complete": true, "recording_available": true})
}

#[test]
fn commit_and_source_mismatch() {
    let other_map = |commit: &str| {
        maps(vec![map_from(&json!({
            "version": 2, "backend": "cuda", "commit": commit,
            "objects": [{"source": "a.cu", "symbols": ["k"]}],
        }))])
    };
    for commit in ["feed", ""] {
        let report = publish_fresh(&healthy(), &other_map(commit));
        assert_eq!(words(&report), ["commit-mismatch"]);
    }
    let table = |build: u64, pipeline: &str, commit: &str| {
        let document = json!({
            "version": 3,
            "source": {"org": "acme", "pipeline": pipeline, "build": build, "commit": commit,
                "recorded_at": "2030-01-01T00:00:00Z"},
            "names": ["k"], "rows": {"a": row_json("cuda")},
        });
        KernelTable::parse(document.to_string().as_bytes()).unwrap()
    };
    let maps = good_maps();
    let refused = |table: KernelTable| {
        words(&shop().publish(&request(
            Evidence::Table(&Table::Kernels(table.clone())),
            &maps,
        )))
    };
    assert_eq!(refused(table(7, "ci", "feed")), ["commit-mismatch"]);
    assert_eq!(refused(table(7, "ci", "")), ["commit-mismatch"]);
    assert_eq!(refused(table(8, "ci", "c0de")), ["table-mismatch"]);
    assert_eq!(refused(table(7, "nightly", "c0de")), ["table-mismatch"]);
    assert!(refused(table(7, "ci", "c0de")).is_empty());
}

#[test]
fn foreign_recordings_are_more_than_half() {
    let jobs = |foreign: usize, own: usize| -> Vec<Job> {
        (0..foreign + own)
            .map(|n| {
                let job = Job::new(&format!("j{n}"), &format!("s{n}"));
                if n < foreign {
                    job.set("commit", "feed")
                } else {
                    job
                }
            })
            .collect()
    };
    assert_eq!(
        words(&publish_fresh(&jobs(3, 2), &good_maps())),
        ["foreign-recordings"]
    );
    assert!(words(&publish_fresh(&jobs(2, 2), &good_maps())).is_empty());
}

#[test]
fn names_that_do_not_join_at_all() {
    let elsewhere = maps(vec![map(Backend::Cuda, &["other"])]);
    assert_eq!(
        words(&publish_fresh(&healthy(), &elsewhere)),
        ["names-do-not-join"]
    );
    // A name that only an unusable row launched does not count.
    let jobs = [
        Job::new("j1", "a"),
        Job::new("j2", "b")
            .recordings(&[&clean(&["other"])])
            .set("exit_status", 1),
    ];
    assert_eq!(
        words(&publish_fresh(&jobs, &elsewhere)),
        ["names-do-not-join"]
    );
}

#[test]
fn too_few_jobs() {
    let (_dir, collected) = collect_jobs(&healthy());
    let maps = good_maps();
    let refused = |expected, min_delivered| {
        let mut request = request(Evidence::Recordings(&collected), &maps);
        request.gates = GateOptions {
            expected_jobs: Some(expected),
            min_delivered,
            ..GateOptions::default()
        };
        words(&shop().publish(&request))
    };
    assert_eq!(refused(5, 0.5), ["too-few-jobs"]);
    assert!(refused(4, 0.5).is_empty());
    assert!(refused(5, 0.4).is_empty());
    assert_eq!(refused(5, f64::NAN), ["too-few-jobs"]);
}

#[test]
fn an_unreadable_bundle_refuses_unless_a_jobs_list_protects_its_step() {
    let dir = tempfile::tempdir().unwrap();
    for job in healthy() {
        job.write(dir.path());
    }
    put(&dir.path().join("x.tar.zst"), b"no bundle");
    let collected = collect(&Inputs {
        recordings: vec![dir.path().to_path_buf()],
        bundles: Vec::new(),
    })
    .unwrap();
    let maps = good_maps();
    let plain = request(Evidence::Recordings(&collected), &maps);
    let report = shop().publish(&plain);
    assert_eq!(words(&report), ["unreadable-input"]);
    assert_eq!(report.delivery.unwrap().unreadable.len(), 1);

    let allowed = PublishRequest {
        gates: GateOptions {
            allow_unreadable: true,
            ..GateOptions::default()
        },
        ..plain.clone()
    };
    assert_eq!(shop().publish(&allowed).outcome, Outcome::Published);

    let list = jobs_list(&json!([
        {"id": "j1", "state": "passed", "step_key": "a"},
        {"id": "lost", "state": "passed", "step_key": "a"},
        {"id": "j2", "state": "passed", "step_key": "b"},
    ]));
    let listed = PublishRequest {
        jobs: Some(&list),
        ..plain.clone()
    };
    let report = shop().publish(&listed);
    assert_eq!(report.outcome, Outcome::Published);
    assert_eq!(report.counts.unwrap().usable_rows, 1);
}

#[test]
fn more_broken_bundles_than_missing_jobs_are_not_explained_by_the_list() {
    let dir = tempfile::tempdir().unwrap();
    for job in healthy() {
        job.write(dir.path());
    }
    for name in ["x.tar.zst", "y.tar.zst"] {
        put(&dir.path().join(name), b"no bundle");
    }
    let collected = crate::support::collect_dir(dir.path());
    let maps = good_maps();
    let refused = |absent: &[&str]| {
        let mut listed = vec![
            json!({"id": "j1", "state": "passed", "step_key": "a"}),
            json!({"id": "j2", "state": "passed", "step_key": "b"}),
        ];
        listed.extend(absent.iter().map(|id| json!({"id": id, "step_key": "a"})));
        let list = jobs_list(&Value::Array(listed));
        let mut request = request(Evidence::Recordings(&collected), &maps);
        request.jobs = Some(&list);
        words(&shop().publish(&request))
    };
    assert_eq!(refused(&["l1"]), ["unreadable-input"]);
    assert!(refused(&["l1", "l2"]).is_empty());
}

#[test]
fn a_job_that_lost_its_sidecar_is_refused_like_a_broken_bundle() {
    let keyless = Job::new("j4", "");
    let jobs = |lost: Job| [healthy(), vec![keyless.clone(), lost]].concat();
    for lost in [
        Job::new("j3", "a").without_sidecar(),
        Job::new("j3", "a").file("kernrec.json", b"{"),
        Job::new("j3", "a").set("step_key", json!({})),
    ] {
        let report = publish_fresh(&jobs(lost), &good_maps());
        assert_eq!(words(&report), ["unreadable-input"]);
        let unreadable = report.delivery.unwrap().unreadable;
        assert_eq!(unreadable.len(), 1, "{unreadable:?}");
        assert!(unreadable[0].path.ends_with("j3"));
    }
    // A job that says that its step has no key belongs to no row.
    let keyless = [healthy(), vec![keyless.clone()]].concat();
    assert!(words(&publish_fresh(&keyless, &good_maps())).is_empty());
    // The jobs list files it, and its row is the only one to suffer.
    let (_dir, collected) = collect_jobs(&jobs(Job::new("j3", "a").without_sidecar()));
    let list = jobs_list(&json!([
        {"id": "j1", "state": "passed", "step_key": "a"},
        {"id": "j2", "state": "passed", "step_key": "b"},
        {"id": "j3", "state": "passed", "step_key": "a"},
    ]));
    let maps = good_maps();
    let mut request = request(Evidence::Recordings(&collected), &maps);
    request.jobs = Some(&list);
    let report = shop().publish(&request);
    assert_eq!(report.outcome, Outcome::Published);
    assert_eq!(report.counts.unwrap().usable_rows, 1);
}

#[test]
fn collapse_of_rows_or_kernels_against_the_current_record() {
    let many: Vec<Job> = (0..5)
        .map(|n| {
            let names = [format!("k{n}"), "k".to_owned()];
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            Job::new(&format!("j{n}"), &format!("s{n}")).recordings(&[&clean(&names)])
        })
        .collect();
    let maps = maps(vec![map(Backend::Cuda, &["k"])]);
    let shop = shop();
    let (_dir, first) = collect_jobs(&many);
    let old = request(Evidence::Recordings(&first), &maps);
    assert_eq!(shop.publish(&old).outcome, Outcome::Published);

    let next = |jobs: &[Job], allow_shrink: bool, dry_run: bool| {
        let (_dir, collected) = collect_jobs(jobs);
        let mut request = request(Evidence::Recordings(&collected), &maps);
        request.build.0 = 8;
        request.gates.allow_shrink = allow_shrink;
        request.dry_run = dry_run;
        shop.publish(&request)
    };
    let report = next(&many[..2], false, false);
    assert_eq!(words(&report), ["collapse"]);
    assert_eq!(
        report.refusals[0].to_string(),
        "2 usable rows where the current record has 5"
    );
    assert_eq!(report.current.unwrap().build.0, 7);
    assert_eq!(
        words(&next(&many[..1], false, false)),
        ["collapse", "collapse"]
    );
    assert_eq!(next(&many[..3], false, true).outcome, Outcome::Published);
    assert_eq!(next(&many[..1], true, true).outcome, Outcome::Published);
}

#[test]
fn the_joined_share_may_not_fall_below_half_of_the_current_one() {
    let shop = shop();
    let jobs = [Job::new("j1", "a").recordings(&[&clean(&["k", "l"])])];
    let (_dir, collected) = collect_jobs(&jobs);
    let full = maps(vec![map(Backend::Cuda, &["k", "l"])]);
    let first = request(Evidence::Recordings(&collected), &full);
    assert_eq!(shop.publish(&first).outcome, Outcome::Published);
    let against = |symbols: &[&str], allow_shrink| {
        let maps = maps(vec![map(Backend::Cuda, symbols)]);
        let mut request = request(Evidence::Recordings(&collected), &maps);
        request.build.0 = 8;
        request.dry_run = true;
        request.gates.allow_shrink = allow_shrink;
        words(&shop.publish(&request))
    };
    assert!(against(&["k", "x"], false).is_empty());
    assert_eq!(against(&["k", "x", "y"], false), ["names-do-not-join"]);
    assert!(against(&["k", "x", "y"], true).is_empty());
    assert_eq!(against(&["x"], true), ["names-do-not-join"]);
}

#[test]
fn every_failed_gate_is_reported_at_once() {
    let jobs = [Job::new("j1", "a").set("commit", "feed")];
    let (_dir, collected) = collect_jobs(&jobs);
    let maps = maps(vec![map_from(&json!({
        "version": 2, "backend": "cuda", "commit": "beef", "objects": [], "reason": "none",
    }))]);
    let mut request = request(Evidence::Recordings(&collected), &maps);
    request.gates.expected_jobs = Some(10);
    let report = shop().publish(&request);
    let mut found = words(&report);
    found.sort_unstable();
    let expected = [
        "commit-mismatch",
        "foreign-recordings",
        "map-refused",
        "no-usable-row",
        "too-few-jobs",
    ];
    assert_eq!(found, expected);
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["outcome"], "refused");
    assert!(json["refusals"].as_array().unwrap().iter().any(|refusal| {
        refusal["reason"] == "foreign-recordings" && refusal["foreign"] == 1 && refusal["jobs"] == 1
    }));
}
