//! Folders, bundles, mixtures of both, and jobs that are met twice.

use crate::support::{Job, clean, collect_dir, collect_jobs, kernels, options, put, row, words};
use kernrec_publish::{CollectError, Collected, Inputs, collect, delivery, fold};
use kernrec_schemas::Backend;
use kernrec_store::bundle::{self, PackOptions};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

fn jobs() -> Vec<Job> {
    vec![
        Job::new("j1", "a").recordings(&[&clean(&["a1", "a2"]), &clean(&["a1"])]),
        Job::new("j2", "b").recordings(&[&clean(&["b1"])]),
        Job::rocm("j3", "c"),
    ]
}

fn pack_all(recordings: &Path, out: &Path) -> Vec<PathBuf> {
    let found = bundle::job_folders(recordings).unwrap();
    found
        .jobs
        .iter()
        .map(|job| {
            bundle::pack(job, out, &PackOptions::default())
                .unwrap()
                .path
        })
        .collect()
}

fn cuda(collected: &Collected) -> Vec<u8> {
    fold(collected, &options(Backend::Cuda)).to_canonical()
}

#[test]
fn folders_bundles_and_mixtures_give_the_same_table() {
    let (raw, from_folders) = collect_jobs(&jobs());
    let packed = tempfile::tempdir().unwrap();
    let bundles = pack_all(raw.path(), packed.path());
    let by_name = collect(&Inputs {
        recordings: Vec::new(),
        bundles: bundles.clone(),
    });
    assert_eq!(cuda(&by_name.unwrap()), cuda(&from_folders));
    assert_eq!(cuda(&collect_dir(packed.path())), cuda(&from_folders));

    let mixed = tempfile::tempdir().unwrap();
    jobs()[0].write(mixed.path());
    let name = bundles[1].file_name().unwrap();
    fs_err::copy(&bundles[1], mixed.path().join(name)).unwrap();
    assert_eq!(cuda(&collect_dir(mixed.path())), cuda(&from_folders));
}

#[test]
fn the_same_content_met_twice_counts_once() {
    let (raw, once) = collect_jobs(&jobs());
    let packed = tempfile::tempdir().unwrap();
    let bundles = pack_all(raw.path(), packed.path());
    let twice = collect(&Inputs {
        recordings: vec![raw.path().to_path_buf(), packed.path().to_path_buf()],
        bundles,
    })
    .unwrap();
    assert_eq!(twice.jobs().len(), 3);
    assert_eq!(cuda(&twice), cuda(&once));
}

#[test]
fn different_content_under_one_job_is_united_and_unusable() {
    let one = tempfile::tempdir().unwrap();
    let two = tempfile::tempdir().unwrap();
    Job::new("j1", "a").write(one.path());
    Job::new("j1", "a")
        .recordings(&[&clean(&["other"])])
        .write(two.path());
    Job::new("j2", "b").write(two.path());
    let inputs = |first: &Path, second: &Path| Inputs {
        recordings: vec![first.to_path_buf(), second.to_path_buf()],
        bundles: Vec::new(),
    };
    let collected = collect(&inputs(one.path(), two.path())).unwrap();
    let table = fold(&collected, &options(Backend::Cuda));
    assert_eq!(kernels(&table, "a"), ["k", "other"]);
    assert_eq!(words(row(&table, "a")), ["duplicate-job"]);
    assert!(!row(&table, "a").trace_complete);
    assert!(row(&table, "b").is_usable());
    let swapped = collect(&inputs(two.path(), one.path())).unwrap();
    assert_eq!(cuda(&swapped), cuda(&collected));
}

#[test]
fn a_job_that_two_steps_claim_spoils_both() {
    let one = tempfile::tempdir().unwrap();
    let two = tempfile::tempdir().unwrap();
    Job::new("j1", "a").write(one.path());
    Job::new("j1", "b").write(two.path());
    let collected = collect(&Inputs {
        recordings: vec![one.path().to_path_buf(), two.path().to_path_buf()],
        bundles: Vec::new(),
    })
    .unwrap();
    let table = fold(&collected, &options(Backend::Cuda));
    for step in ["a", "b"] {
        assert_eq!(words(row(&table, step)), ["duplicate-job"]);
        assert_eq!(kernels(&table, step), ["k"]);
    }
}

#[test]
fn jobs_named_local_are_told_apart_by_their_step() {
    let one = tempfile::tempdir().unwrap();
    let two = tempfile::tempdir().unwrap();
    Job::new("local", "a").write(one.path());
    Job::new("local", "b").write(two.path());
    let collected = collect(&Inputs {
        recordings: vec![one.path().to_path_buf(), two.path().to_path_buf()],
        bundles: Vec::new(),
    })
    .unwrap();
    let table = fold(&collected, &options(Backend::Cuda));
    assert!(row(&table, "a").is_usable());
    assert!(row(&table, "b").is_usable());
}

#[test]
fn empty_folders_and_jobs_without_a_step_are_counted_and_spoil_nothing() {
    let dir = tempfile::tempdir().unwrap();
    Job::new("j1", "a").write(dir.path());
    Job::new("j2", "").write(dir.path());
    Job::new("j3", "x").without_sidecar().write(dir.path());
    fs_err::create_dir(dir.path().join("j4")).unwrap();
    let collected = collect_dir(dir.path());
    let counts = delivery(&collected, &options(Backend::Cuda));
    let unfiled: Vec<&str> = counts.unfiled.iter().map(AsRef::as_ref).collect();
    assert_eq!(unfiled, ["j2", "j3"]);
    assert_eq!(counts.empty, [dir.path().join("j4")]);
    assert_eq!((counts.delivered, counts.folded), (3, 1));
    let table = fold(&collected, &options(Backend::Cuda));
    assert_eq!(table.rows.len(), 1);
    assert!(row(&table, "a").is_usable());
}

#[test]
fn the_jobs_list_files_a_job_that_lost_its_sidecar() {
    let (_dir, collected) = collect_jobs(&[Job::new("j1", "x").without_sidecar()]);
    let list = serde_json::json!([{"id": "j1", "state": "passed", "step_key": "a"}]);
    let options = kernrec_publish::FoldOptions {
        jobs: Some(crate::support::jobs_list(&list)),
        ..options(Backend::Cuda)
    };
    let table = fold(&collected, &options);
    assert_eq!(words(row(&table, "a")), ["no-provenance"]);
    assert_eq!(kernels(&table, "a"), ["k"]);
}

#[test]
fn a_broken_bundle_is_set_aside_with_its_reason_and_adds_nothing() {
    let (raw, _) = collect_jobs(&jobs());
    let packed = tempfile::tempdir().unwrap();
    let bundles = pack_all(raw.path(), packed.path());
    let mut bytes = fs_err::read(&bundles[0]).unwrap();
    bytes.truncate(bytes.len() - 5);
    put(&bundles[0], &bytes);
    let collected = collect_dir(packed.path());
    assert_eq!(collected.jobs().len(), 2);
    let [broken] = collected.unreadable() else {
        panic!("{:?}", collected.unreadable());
    };
    assert_eq!(broken.path, bundles[0]);
    assert!(!broken.reason.is_empty());
}

#[test]
fn an_input_that_is_not_there_is_an_error_that_names_it() {
    let missing = PathBuf::from("/nonexistent/here");
    let error = collect(&Inputs {
        recordings: vec![missing.clone()],
        bundles: Vec::new(),
    })
    .unwrap_err();
    assert!(matches!(&error, CollectError::Search { dir, .. } if *dir == missing));
    let error = collect(&Inputs {
        recordings: Vec::new(),
        bundles: vec![missing.clone()],
    })
    .unwrap_err();
    assert!(matches!(&error, CollectError::NoSuchBundle { path } if *path == missing));
    assert_eq!(error.reason(), "no-such-bundle");
}

#[test]
fn a_recording_that_is_no_regular_file_spoils_its_row_and_the_others_keep_their_names() {
    let dir = tempfile::tempdir().unwrap();
    let folder = Job::new("j1", "a").write(dir.path());
    std::os::unix::fs::symlink("/etc/passwd", folder.join("kern.9.txt")).unwrap();
    Job::new("j2", "b").write(dir.path());
    let table = fold(&collect_dir(dir.path()), &options(Backend::Cuda));
    assert!(words(row(&table, "a")).contains(&"bad-header".to_owned()));
    assert_eq!(kernels(&table, "a"), ["k"]);
    assert!(row(&table, "b").is_usable());
}

#[test]
fn a_bundle_that_names_another_job_than_its_sidecar_spoils_its_row() {
    let raw = tempfile::tempdir().unwrap();
    let packed = tempfile::tempdir().unwrap();
    Job::new("j1", "a").write(raw.path());
    // Outside CI the sidecar's id tells nothing, and the folder's name stands in for it.
    Job::new("local", "b").write(raw.path());
    let jobs = bundle::job_folders(raw.path()).unwrap().jobs;
    for (mut job, id) in jobs.into_iter().zip(["x1", "x2"]) {
        job.meta.job_id = id.parse().unwrap();
        bundle::pack(&job, packed.path(), &PackOptions::default()).unwrap();
    }
    let table = fold(&collect_dir(packed.path()), &options(Backend::Cuda));
    assert_eq!(words(row(&table, "a")), ["bad-sidecar"]);
    assert!(row(&table, "b").is_usable());
}

#[test]
fn links_are_not_followed_and_reported() {
    let dir = tempfile::tempdir().unwrap();
    let outside = tempfile::tempdir().unwrap();
    Job::new("j1", "a").write(dir.path());
    let elsewhere = Job::new("j2", "b").write(outside.path());
    let link = dir.path().join("j2");
    std::os::unix::fs::symlink(elsewhere, &link).unwrap();
    put(&dir.path().join("notes.txt"), b"no link");
    let collected = collect_dir(dir.path());
    assert_eq!(collected.jobs().len(), 1);
    assert_eq!(delivery(&collected, &options(Backend::Cuda)).links, [link]);
}

#[test]
fn recordings_that_both_contents_of_one_job_hold_count_once() {
    let one = tempfile::tempdir().unwrap();
    let two = tempfile::tempdir().unwrap();
    let many = |kernel: &str| {
        let text = clean(&[kernel]);
        Job::new("j1", "a").recordings(&[text.as_str(); 3])
    };
    many("k").write(one.path());
    many("l")
        .file("kern.1.txt", clean(&["k"]).as_bytes())
        .write(two.path());
    let collected = collect(&Inputs {
        recordings: vec![one.path().to_path_buf(), two.path().to_path_buf()],
        bundles: Vec::new(),
    })
    .unwrap();
    // `kern.1.txt` is the same in both.
    assert_eq!(collected.jobs()[0].processes.len(), 5);
}

const FUNCTIONS: &[u8] = b"#start\tpid=9\tBUILDKITE_STEP_KEY=functions\n";

/// Folders and bundles of jobs that recorded Python only, beside jobs of GPUs.
#[test]
fn a_job_without_a_recording_of_kernels_is_no_job_of_a_gpu() {
    let (_, expected) = collect_jobs(&jobs());
    let (raw, _) = collect_jobs(&jobs());
    let sidecar = br#"{"job_id":"p-1","step_key":"functions","exit_status":1}"#;
    let python = |id| {
        let job = Job::new(id, "").without_sidecar().recordings(&[]);
        job.file("fn.n.0.9.txt", FUNCTIONS)
    };
    python("p-1").file("fnrec.json", sidecar).write(raw.path());
    python("p-2").write(raw.path());
    let packed = tempfile::tempdir().unwrap();
    pack_all(raw.path(), packed.path());
    for dir in [raw.path(), packed.path()] {
        let collected = collect_dir(dir);
        let ids = |collected: &Collected| -> Vec<String> {
            let jobs = collected.jobs().iter();
            jobs.map(|job| job.id.to_string()).collect()
        };
        assert_eq!(ids(&collected), ids(&expected));
        assert!(collected.empty().is_empty() && collected.unreadable().is_empty());
        assert_eq!(cuda(&collected), cuda(&expected));
    }
}

#[test]
fn what_python_left_in_a_job_of_kernels_changes_nothing() {
    let (_, expected) = collect_jobs(&jobs());
    let (raw, _) = collect_jobs(&jobs());
    let foreign = br#"{"job_id":"another","step_key":"another","exit_status":1}"#;
    put(&raw.path().join("j1/fnrec.json"), foreign);
    put(&raw.path().join("j2/fn.n.0.9.txt"), FUNCTIONS);
    let packed = tempfile::tempdir().unwrap();
    pack_all(raw.path(), packed.path());
    // Something that no bundle can hold: the kernels are read all the same.
    symlink("/nowhere", raw.path().join("j1/fn.link.txt")).unwrap();
    for dir in [raw.path(), packed.path()] {
        assert_eq!(cuda(&collect_dir(dir)), cuda(&expected));
    }
}
