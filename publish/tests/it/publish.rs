//! What a published record is made of.

use crate::support::{Job, clean, collect_jobs, jobs_list, map, maps, request};
use kernrec_publish::publishing::{Evidence, Outcome, Table};
use kernrec_publish::{BundlePolicy, Collected, Inputs, Maps, collect, publish};
use kernrec_schemas::manifest::RecordManifest;
use kernrec_schemas::table::KernelTable;
use kernrec_schemas::{Backend, Digest};
use kernrec_store::{Key, LocalStore, Store, objects};
use serde_json::json;

fn store() -> (tempfile::TempDir, LocalStore) {
    let dir = tempfile::tempdir().unwrap();
    let store = LocalStore::create(dir.path()).unwrap();
    (dir, store)
}

fn jobs() -> Vec<Job> {
    vec![
        Job::new("j1", "a").recordings(&[&clean(&["k", "l"])]),
        Job::new("j2", "b"),
        Job::rocm("j3", "c"),
    ]
}

fn one_map() -> Maps {
    maps(vec![map(Backend::Cuda, &["k", "m"])])
}

fn manifest(store: &LocalStore, digest: &Digest) -> RecordManifest {
    RecordManifest::parse(&objects::read_bounded(store, digest, 1 << 20).unwrap()).unwrap()
}

fn publish_into(store: &LocalStore, collected: &Collected) -> Digest {
    let maps = one_map();
    let request = request(Evidence::Recordings(collected), &maps);
    let report = publish(store, &request).unwrap();
    assert_eq!(report.outcome, Outcome::Published);
    report.manifest.unwrap()
}

#[test]
fn the_manifest_names_every_file_and_every_bundle_of_its_steps() {
    let (_dir, store) = store();
    let (_jobs, collected) = collect_jobs(&jobs());
    let digest = publish_into(&store, &collected);
    let manifest = manifest(&store, &digest);
    let table = manifest.table().unwrap();
    let bytes = objects::read(&store, &table.digest, table.size).unwrap();
    assert_eq!(KernelTable::parse(&bytes).unwrap().rows.len(), 2);
    let counts = manifest.counts;
    assert_eq!((counts.rows, counts.usable_rows, counts.kernels), (2, 2, 2));
    assert_eq!((counts.objects, counts.symbols, counts.joined), (1, 2, 1));
    assert_eq!(
        manifest.bundles.len(),
        2,
        "the ROCm step's bundle is not this record's"
    );
    for bundle in &manifest.bundles {
        let key = Key::bundle(&bundle.digest);
        objects::verify(&store, &key, &bundle.digest, bundle.size).unwrap();
    }
}

#[test]
fn folders_and_their_bundles_give_the_same_manifest() {
    let (_dir, store) = store();
    let (raw, collected) = collect_jobs(&jobs());
    let from_folders = publish_into(&store, &collected);
    let packed = tempfile::tempdir().unwrap();
    let found = kernrec_store::bundle::job_folders(raw.path()).unwrap();
    for job in &found.jobs {
        let options = kernrec_store::bundle::PackOptions::default();
        kernrec_store::bundle::pack(job, packed.path(), &options).unwrap();
    }
    let inputs = Inputs {
        recordings: vec![packed.path().to_path_buf()],
        bundles: Vec::new(),
    };
    let maps = one_map();
    let collected = collect(&inputs).unwrap();
    let report = publish(&store, &request(Evidence::Recordings(&collected), &maps)).unwrap();
    assert_eq!(report.manifest, Some(from_folders));
    assert_eq!(report.outcome, Outcome::Unchanged);
}

#[test]
fn bundles_none_stores_none_and_names_none() {
    let (_dir, store) = store();
    let (_jobs, collected) = collect_jobs(&jobs());
    let maps = one_map();
    let mut request = request(Evidence::Recordings(&collected), &maps);
    request.bundles = BundlePolicy::None;
    let report = publish(&store, &request).unwrap();
    assert!(
        manifest(&store, &report.manifest.unwrap())
            .bundles
            .is_empty()
    );
    assert!(
        store
            .list(&Key::new("bundles").unwrap())
            .unwrap()
            .is_empty()
    );
}

#[test]
fn a_dry_run_decides_and_writes_nothing() {
    let (dir, store) = store();
    let (_jobs, collected) = collect_jobs(&jobs());
    let maps = one_map();
    let mut request = request(Evidence::Recordings(&collected), &maps);
    request.dry_run = true;
    let report = publish(&store, &request).unwrap();
    assert_eq!(report.outcome, Outcome::Published);
    assert!(report.dry_run && report.manifest.is_some());
    assert!(fs_err::read_dir(dir.path()).unwrap().next().is_none());
    request.dry_run = false;
    assert_eq!(publish(&store, &request).unwrap().manifest, report.manifest);
}

#[test]
fn a_jobs_list_is_stored_canonically_with_the_record() {
    let (_dir, store) = store();
    let (_jobs, collected) = collect_jobs(&jobs());
    let maps = one_map();
    let entries = [
        json!({"id": "j1", "state": "passed", "step_key": "a"}),
        json!({"id": "j2", "state": "passed", "step_key": "b", "web_url": "ignored"}),
    ];
    let mut manifests = Vec::new();
    for list in [
        json!([entries[0], entries[1]]),
        json!([entries[1], entries[0]]),
    ] {
        let list = jobs_list(&list);
        let mut request = request(Evidence::Recordings(&collected), &maps);
        request.jobs = Some(&list);
        manifests.push(publish(&store, &request).unwrap().manifest.unwrap());
    }
    assert_eq!(manifests[0], manifests[1]);
    let manifest = manifest(&store, &manifests[0]);
    let file = &manifest.files["jobs"];
    let bytes = objects::read(&store, &file.digest, file.size).unwrap();
    assert!(bytes.starts_with(br#"[{"id":"j1""#));
}

#[test]
fn each_variant_has_its_map_in_the_manifest() {
    let (_dir, store) = store();
    let mut named = map(Backend::Cuda, &["k"]);
    named.variant = "cu12".parse().unwrap();
    let (_jobs, collected) = collect_jobs(&[
        Job::new("j1", "a"),
        Job::new("j2", "b").set("variant", "cu12"),
        Job::new("j3", "c").set("variant", "cu11"),
    ]);
    let maps = maps(vec![map(Backend::Cuda, &["k"]), named]);
    let request = request(Evidence::Recordings(&collected), &maps);
    let report = publish(&store, &request).unwrap();
    let manifest = manifest(&store, &report.manifest.unwrap());
    let roles: Vec<&str> = manifest.files.keys().map(String::as_str).collect();
    assert_eq!(roles, ["symbol_map", "symbol_map.cu12", "table"]);
    assert_eq!(manifest.counts.usable_rows, 2);
}

#[test]
fn two_maps_of_one_backend_and_variant_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let paths = ["one.json", "two.json.gz"].map(|name| {
        let path = dir.path().join(name);
        let bytes = map(Backend::Cuda, &["k"]).to_canonical();
        kernrec_store::artifact::write(&path, &bytes).unwrap();
        path
    });
    assert!(Maps::load(&paths[..1]).is_ok());
    let error = Maps::load(&paths).unwrap_err();
    assert_eq!(error.reason(), "map-given-twice");
    assert!(error.to_string().contains("two.json.gz"), "{error}");
}

#[test]
fn a_damaged_map_file_costs_only_its_own_backend() {
    let dir = tempfile::tempdir().unwrap();
    let [good, cut] = ["good.json.gz", "cut.json.gz"].map(|name| dir.path().join(name));
    kernrec_store::artifact::write(&good, &map(Backend::Cuda, &["k"]).to_canonical()).unwrap();
    let whole = kernrec_store::artifact::gzip(&map(Backend::Rocm, &["k"]).to_canonical());
    crate::support::put(&cut, &whole[..whole.len() - 9]);
    let maps = Maps::load(&[good, cut.clone()]).unwrap();
    assert_eq!(
        maps.backends().into_iter().collect::<Vec<_>>(),
        [Backend::Cuda]
    );
    let [refused] = maps.refused() else {
        panic!("{:?}", maps.refused());
    };
    assert_eq!(refused.path, cut);
    assert!(
        refused.problem.contains("cut.json.gz"),
        "{}",
        refused.problem
    );
    let absent = dir.path().join("absent.json");
    assert_eq!(Maps::load(&[absent]).unwrap_err().reason(), "file-error");
}

#[test]
fn a_job_that_no_bundle_can_hold_spoils_its_row_and_not_the_record() {
    let (_dir, store) = store();
    let (raw, _) = collect_jobs(&jobs());
    let folder = raw.path().join("j2");
    std::os::unix::fs::symlink("/dev/null", folder.join("kern.9.txt")).unwrap();
    let collected = crate::support::collect_dir(raw.path());
    let maps = one_map();
    let report = publish(&store, &request(Evidence::Recordings(&collected), &maps)).unwrap();
    assert_eq!(report.outcome, Outcome::Published);
    assert_eq!(report.counts.unwrap().usable_rows, 1);
    let [left_out] = report.without_bundle.as_slice() else {
        panic!("{:?}", report.without_bundle);
    };
    assert_eq!(
        (&left_out.path, left_out.reason),
        (&folder, "not-a-regular-file")
    );
    let manifest = manifest(&store, &report.manifest.unwrap());
    assert_eq!(manifest.bundles.len(), 1);
    // Whoever folds it again is told which row cannot be had.
    let refold = kernrec_publish::refold(&store, &manifest).unwrap();
    let steps: Vec<&str> = refold.rows.iter().map(|row| row.step.as_str()).collect();
    assert_eq!(steps, ["b"]);
}

#[test]
fn a_row_whose_fields_contradict_each_other_is_published_so_that_no_reader_uses_it() {
    let (_dir, store) = store();
    let row = |health: serde_json::Value| {
        json!({"jobs": 1, "passed": true, "complete": true, "processes": 1, "dropped": 0, "kernels": [0],
            "backend": "cuda", "trace_complete": true, "health": health})
    };
    let table = json!({
        "version": 3,
        "source": {"org": "acme", "pipeline": "ci", "build": 7, "commit": crate::support::COMMIT,
            "recorded_at": "2030-01-01T00:00:00Z"},
        "names": ["k"],
        "rows": {"bad": row(json!({"no_footer": 1})), "good": row(json!({"clean": 1}))},
    });
    let table = KernelTable::parse(table.to_string().as_bytes()).unwrap();
    let maps = one_map();
    let report = publish(
        &store,
        &request(Evidence::Table(&Table::Kernels(table.clone())), &maps),
    )
    .unwrap();
    let file = manifest(&store, &report.manifest.unwrap())
        .table()
        .unwrap()
        .clone();
    let bytes = objects::read(&store, &file.digest, file.size).unwrap();
    let stored = KernelTable::parse(&bytes).unwrap();
    let complete: Vec<bool> = stored.rows.values().map(|row| row.trace_complete).collect();
    assert_eq!(complete, [false, true]);
}

#[test]
fn a_damaged_object_is_healed_by_publishing_the_record_again() {
    let (dir, store) = store();
    let (_jobs, collected) = collect_jobs(&jobs());
    let digest = publish_into(&store, &collected);
    let table = manifest(&store, &digest).table().unwrap().clone();
    let path = dir.path().join(Key::object(&table.digest).as_str());
    let mut bytes = fs_err::read(&path).unwrap();
    bytes[10] ^= 1;
    crate::support::put(&path, &bytes);
    assert!(objects::read(&store, &table.digest, table.size).is_err());
    let maps = one_map();
    let again = publish(&store, &request(Evidence::Recordings(&collected), &maps)).unwrap();
    assert_eq!(again.outcome, Outcome::Unchanged);
    objects::read(&store, &table.digest, table.size).unwrap();
}

#[test]
fn a_lost_current_manifest_does_not_keep_the_next_record_out() {
    let (dir, store) = store();
    let (_jobs, collected) = collect_jobs(&jobs());
    let digest = publish_into(&store, &collected);
    fs_err::remove_file(dir.path().join(Key::object(&digest).as_str())).unwrap();
    let maps = one_map();
    let mut request = request(Evidence::Recordings(&collected), &maps);
    request.build.0 = 8;
    assert_eq!(
        publish(&store, &request).unwrap().outcome,
        Outcome::Published
    );
}

#[test]
fn recordings_that_change_after_the_fold_are_not_stored_as_if_folded() {
    let (_dir, store) = store();
    let (raw, collected) = collect_jobs(&jobs());
    crate::support::put(
        &raw.path().join("j1/kern.1.txt"),
        clean(&["new"]).as_bytes(),
    );
    let maps = one_map();
    let error = publish(&store, &request(Evidence::Recordings(&collected), &maps)).unwrap_err();
    assert_eq!(error.reason(), "recordings-changed");
}

#[test]
fn one_odd_file_spoils_its_row_and_not_the_record() {
    let (_dir, store) = store();
    let (jobs, _) = collect_jobs(&jobs());
    fs_err::create_dir(jobs.path().join("j1/kern.9.txt")).unwrap();
    let collected = crate::support::collect_dir(jobs.path());
    let maps = one_map();
    let request = request(Evidence::Recordings(&collected), &maps);
    let report = publish(&store, &request).unwrap();
    assert_eq!(report.outcome, Outcome::Published);
    assert_eq!(report.counts.unwrap().usable_rows, 1);
    assert_eq!(report.counts.unwrap().kernels, 2, "its names count");
    let [left_out] = &report.without_bundle[..] else {
        panic!("{:?}", report.without_bundle)
    };
    assert_eq!(left_out.reason, "not-a-regular-file");
    assert!(left_out.path.ends_with("j1"));
    assert_eq!(report.bundles, 1);
}
