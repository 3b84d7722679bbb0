//! Finding jobs in a folder of both layouts and bundles.

use crate::common::{RECORDING, job, mkfifo};
use kernrec_store::bundle::OriginLayout::{self, InBuild, StepJob};
use kernrec_store::bundle::{self, Found, JobFolder};
use std::os::unix::fs::symlink;
use std::path::Path;

fn sidecar(job_id: &str, step_key: &str) -> Vec<u8> {
    format!(r#"{{"job_id":"{job_id}","step_key":"{step_key}"}}"#).into_bytes()
}

fn find(dir: &Path) -> Found {
    bundle::job_folders(dir).unwrap()
}

/// `(path below dir, job id, step key, layout)`
fn told(dir: &Path, job: &JobFolder) -> (String, String, Option<String>, OriginLayout) {
    (
        job.path.strip_prefix(dir).unwrap().display().to_string(),
        job.meta.job_id.to_string(),
        job.meta.step_key.as_ref().map(ToString::to_string),
        job.meta.layout,
    )
}

#[test]
fn both_layouts_and_bundles_mixed_and_sorted() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    job(
        &dir.join("j-2"),
        &[("kernrec.json", &sidecar("j-2", "norm"))],
    );
    job(&dir.join("j-1"), &[("kern.1.txt", RECORDING)]);
    job(
        &dir.join("rope/a"),
        &[("kernrec.json", &sidecar("local", ""))],
    );
    job(&dir.join("rope/b"), &[("kern.1.txt", RECORDING)]);
    job(&dir.join("rope/nothing"), &[("setup.log", b"x")]);
    job(&dir.join("empty"), &[]);
    for path in ["z.tar.zst", "a.tar.zst", "rope/c.tar.zst", "notes.txt"] {
        fs_err::write(dir.join(path), b"x").unwrap();
    }
    let found = find(dir);
    let jobs: Vec<_> = found.jobs.iter().map(|job| told(dir, job)).collect();
    let entry = |path: &str, id: &str, step: Option<&str>, layout| {
        (
            path.to_owned(),
            id.to_owned(),
            step.map(str::to_owned),
            layout,
        )
    };
    assert_eq!(
        jobs,
        [
            entry("j-1", "j-1", None, InBuild),
            entry("j-2", "j-2", Some("norm"), InBuild),
            entry("rope/a", "a", Some("rope"), StepJob),
            entry("rope/b", "b", Some("rope"), StepJob),
        ]
    );
    let bundles = ["a.tar.zst", "rope/c.tar.zst", "z.tar.zst"].map(|path| dir.join(path));
    assert_eq!(found.bundles, bundles);
    assert_eq!(found.empty, [dir.join("empty"), dir.join("rope/nothing")]);
    assert_eq!(found.ignored, [dir.join("notes.txt")]);
}

#[test]
fn the_folder_itself_can_be_the_job() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("j-9");
    job(&path, &[("kern.1.txt", RECORDING), ("setup.log", b"x")]);
    let found = find(&path);
    assert_eq!(found.jobs.len(), 1);
    assert_eq!(found.jobs[0].meta.job_id.as_str(), "j-9");
    assert!(found.ignored.is_empty());
    // A path that does not spell its last name.
    let found = find(&path.join("."));
    assert_eq!(found.jobs[0].meta.job_id.as_str(), "j-9");
}

#[test]
fn a_stray_recording_beside_jobs_hides_none_of_them() {
    let dir = tempfile::tempdir().unwrap();
    let stray: &[(&str, &[u8])] = &[("kern.1.txt", RECORDING)];
    for path in ["", "rope", "rope/a", "rope/b"] {
        job(&dir.path().join(path), stray);
    }
    assert_eq!(find(dir.path()).jobs.len(), 4);
}

#[test]
fn a_hidden_folder_is_no_step() {
    let dir = tempfile::tempdir().unwrap();
    job(
        &dir.path().join(".kernrec/j-1"),
        &[("kern.1.txt", RECORDING)],
    );
    let found = find(dir.path());
    assert_eq!(found.jobs[0].meta.layout, InBuild);
    assert_eq!(found.jobs[0].meta.step_key, None);
}

#[test]
fn whose_job_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let cases: [(&[u8], &str); 8] = [
        (br#"{"job_id":"real"}"#, "real"),
        (br#"{"job_id":12}"#, "12"),
        (br#"{"job_id":"local"}"#, "folder"),
        (br#"{"job_id":""}"#, "folder"),
        (br#"{"job_id":null}"#, "folder"),
        (br#"{"job_id":"a/b"}"#, "folder"),
        (b"{}", "folder"),
        (b"not json", "folder"),
    ];
    for (i, (sidecar, expected)) in cases.into_iter().enumerate() {
        let path = dir.path().join(i.to_string()).join("folder");
        let job = job(&path, &[("kernrec.json", sidecar)]);
        assert_eq!(job.meta.job_id.as_str(), expected);
    }
}

#[test]
fn folder_names_that_are_no_job_ids_stay_apart() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["a\nb", "a\tb"] {
        job(&dir.path().join(name), &[("kern.1.txt", RECORDING)]);
    }
    let found = find(dir.path());
    let ids: Vec<_> = found
        .jobs
        .iter()
        .map(|job| job.meta.job_id.as_str())
        .collect();
    assert!(ids.iter().all(|id| id.starts_with("folder-")), "{ids:?}");
    assert_ne!(ids[0], ids[1]);
}

#[test]
fn links_are_not_followed() {
    let dir = tempfile::tempdir().unwrap();
    let outside = tempfile::tempdir().unwrap();
    job(&outside.path().join("j-1"), &[("kern.1.txt", RECORDING)]);
    fs_err::write(outside.path().join("x.tar.zst"), b"x").unwrap();
    symlink(outside.path().join("j-1"), dir.path().join("j-1")).unwrap();
    symlink(outside.path(), dir.path().join("step")).unwrap();
    symlink(
        outside.path().join("x.tar.zst"),
        dir.path().join("x.tar.zst"),
    )
    .unwrap();
    let found = find(dir.path());
    assert!(found.jobs.is_empty() && found.bundles.is_empty());
    assert_eq!(found.ignored.len(), 3);
    // The folder a user names may be a link.
    assert_eq!(find(&dir.path().join("step")).jobs.len(), 1);
}

#[test]
fn a_job_whose_sidecar_cannot_be_read_is_still_found() {
    let dir = tempfile::tempdir().unwrap();
    let fifo = dir.path().join("j-1");
    job(&fifo, &[]);
    mkfifo(&fifo.join("kernrec.json"));
    let link = dir.path().join("j-2");
    job(&link, &[]);
    symlink("/nowhere", link.join("kernrec.json")).unwrap();
    let found = find(dir.path());
    let ids: Vec<_> = found
        .jobs
        .iter()
        .map(|job| job.meta.job_id.as_str())
        .collect();
    assert_eq!(ids, ["j-1", "j-2"]);
    for job in &found.jobs {
        assert_eq!(job.entries().unwrap_err().reason(), "not-a-regular-file");
    }
}

#[test]
fn a_folder_that_is_not_there() {
    let dir = tempfile::tempdir().unwrap();
    let error = bundle::job_folders(&dir.path().join("gone")).unwrap_err();
    assert_eq!(error.reason(), "file-error");
    assert!(error.to_string().contains("gone"), "{error}");
}
