//! A published record folded again from its own bundles.

use crate::support::{Job, clean, collect_jobs, jobs_list, killed, map, maps, request};
use kernrec_publish::publishing::Evidence;
use kernrec_publish::verify::RowChange;
use kernrec_publish::{BundlePolicy, RefoldError, publish, refold};
use kernrec_schemas::manifest::{ManifestParts, RecordManifest};
use kernrec_schemas::{Backend, Digest};
use kernrec_store::{Key, LocalStore, objects};
use serde_json::json;

fn manifest(store: &LocalStore, digest: &Digest) -> RecordManifest {
    RecordManifest::parse(&objects::read_bounded(store, digest, 1 << 20).unwrap()).unwrap()
}

fn store() -> (tempfile::TempDir, LocalStore) {
    let dir = tempfile::tempdir().unwrap();
    let store = LocalStore::create(dir.path()).unwrap();
    (dir, store)
}

/// Everything that a row can depend on: a jobs list, a job of the other backend, two contents of one job,
/// variants, attempts, a job of unknown step.
fn everything() -> Vec<Job> {
    vec![
        Job::new("j1", "a").recordings(&[&clean(&["k", "l"]), &killed(&["m"])]),
        Job::new("j2", "b").retry(0, 1),
        Job::new("j3", "b").retry(1, 0),
        Job::new("j4", "c"),
        Job::rocm("j5", "c"),
        Job::new("j6", "d").set("variant", "cu12"),
        Job::new("j7", "").recordings(&[&clean(&["filed"])]),
        Job::new("j8", "e").set("backend", "").recordings(&[]),
    ]
}

fn publish_everything(store: &LocalStore) -> RecordManifest {
    let (raw, _) = collect_jobs(&everything());
    let other = tempfile::tempdir().unwrap();
    Job::new("j1", "a")
        .recordings(&[&clean(&["n"])])
        .write(other.path());
    let collected = kernrec_publish::collect(&kernrec_publish::Inputs {
        recordings: vec![raw.path().to_path_buf(), other.path().to_path_buf()],
        bundles: Vec::new(),
    })
    .unwrap();
    let maps = maps(vec![map(Backend::Cuda, &["k", "x"])]);
    let list = jobs_list(&json!([
        {"id": "j4", "state": "passed", "step_key": "c"},
        {"id": "j5", "state": "passed", "step_key": "c"},
        {"id": "j7", "state": "passed", "step_key": "f"},
        {"id": "lost", "state": "passed", "step_key": "b"},
    ]));
    let mut request = request(Evidence::Recordings(&collected), &maps);
    request.jobs = Some(&list);
    let report = publish(store, &request).unwrap();
    manifest(store, &report.manifest.unwrap())
}

#[test]
fn a_record_folds_again_to_the_same_bytes() {
    let (_dir, store) = store();
    let manifest = publish_everything(&store);
    assert_eq!(manifest.counts.rows, 6);
    assert_eq!(manifest.counts.usable_rows, 2, "`c` and `f`");
    let refold = refold(&store, &manifest).unwrap();
    assert!(refold.same, "{refold:?}");
    assert_eq!(refold.published, refold.refolded);
    assert!(refold.rows.is_empty());
}

#[test]
fn a_bundle_left_out_of_the_manifest_shows_in_its_row() {
    let (_dir, store) = store();
    let (_jobs, collected) = collect_jobs(&[
        Job::new("j1", "a").recordings(&[&clean(&["k"])]),
        Job::new("j2", "a").recordings(&[&clean(&["l"])]),
        Job::new("j3", "b"),
    ]);
    let maps = maps(vec![map(Backend::Cuda, &["k"])]);
    let report = publish(&store, &request(Evidence::Recordings(&collected), &maps)).unwrap();
    let whole = manifest(&store, &report.manifest.unwrap());
    let mut changed = Vec::new();
    for n in 0..3 {
        let mut bundles = whole.bundles.clone();
        bundles.remove(n);
        let less = RecordManifest::new(ManifestParts {
            bundles,
            pipeline: whole.pipeline.clone(),
            backend: whole.backend,
            commit: whole.commit.clone(),
            build: whole.build,
            recorded_at: whole.recorded_at,
            files: whole.files.clone(),
            counts: whole.counts,
            producer: whole.producer.clone(),
        });
        let refold = refold(&store, &less).unwrap();
        assert!(!refold.same);
        let [row] = refold.rows.as_slice() else {
            panic!("{:?}", refold.rows);
        };
        changed.push((row.step.to_string(), row.change == RowChange::Missing));
        if row.change == RowChange::Changed {
            assert!(row.fields.iter().any(|field| field.field == "jobs"));
            assert_eq!(row.kernels_lost.len(), 1);
        }
    }
    changed.sort();
    let expected = [("a", false), ("a", false), ("b", true)];
    assert_eq!(
        changed,
        expected.map(|(step, missing)| (step.to_owned(), missing))
    );
}

#[test]
fn a_damaged_bundle_and_a_record_without_bundles_are_errors() {
    let (dir, store) = store();
    let manifest = publish_everything(&store);
    let key = Key::bundle(&manifest.bundles[0].digest);
    let path = dir.path().join(key.as_str());
    let mut bytes = fs_err::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x10;
    crate::support::put(&path, &bytes);
    assert!(refold(&store, &manifest).is_err());

    let (_jobs, collected) = collect_jobs(&[Job::new("j1", "a")]);
    let maps = maps(vec![map(Backend::Cuda, &["k"])]);
    let mut request = request(Evidence::Recordings(&collected), &maps);
    request.build.0 = 8;
    request.bundles = BundlePolicy::None;
    request.gates.allow_shrink = true;
    let report = publish(&store, &request).unwrap();
    let bare = self::manifest(&store, &report.manifest.unwrap());
    assert!(matches!(refold(&store, &bare), Err(RefoldError::NoBundles)));
}

#[test]
fn a_bundle_of_another_size_than_the_manifest_names_is_refused() {
    let (_dir, store) = store();
    let mut manifest = publish_everything(&store);
    manifest.bundles[0].size += 512;
    let error = refold(&store, &manifest).unwrap_err();
    assert_eq!(error.reason(), "digest-mismatch");
    assert!(error.to_string().contains("the manifest names"), "{error}");
}
