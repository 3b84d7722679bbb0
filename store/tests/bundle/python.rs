//! What the Python recorder leaves: alone, and beside what the kernel recorders leave.

use crate::common::{RECORDING, job, mkfifo};
use kernrec_store::bundle::{self, JobFolder, OriginLayout, PackOptions, Part};
use std::os::unix::fs::symlink;
use std::path::Path;

const KERNELS: &[u8] = br#"{"job_id":"of-kernels","step_key":"kernels","exit_status":0}"#;
const PYTHON: &[u8] = br#"{"job_id":"of-python","step_key":"python","exit_status":0}"#;
const FUNCTIONS: &[u8] = b"#start\tpid=9\tBUILDKITE_JOB_ID=of-header\tBUILDKITE_STEP_KEY=header\n";
const NOTES: &[u8] = b"{\"event\":\"collected\",\"selected\":1,\"deselected\":0}\n";

const FN: &str = "fn.n1.0badcafe.9.txt";

type Files<'a> = &'a [(&'a str, &'a [u8])];

fn whose(job: &JobFolder) -> (&str, Option<&str>) {
    let meta = &job.meta;
    (
        meta.job_id.as_str(),
        meta.step_key.as_ref().map(AsRef::as_ref),
    )
}

/// Packs a job and reads the names of the entries back.
fn packed(job: &JobFolder, out: &Path) -> Vec<String> {
    let bundle = bundle::pack(job, out, &PackOptions::default()).unwrap();
    let mut names = Vec::new();
    let read = bundle::read_file(&bundle.path, &mut |name, _| names.push(name.to_owned()));
    assert_eq!(read.unwrap().meta, job.meta);
    names
}

#[test]
fn recordings_notes_and_sidecars_of_both_go_into_one_bundle() {
    let dir = tempfile::tempdir().unwrap();
    let files: [(&str, &[u8]); 12] = [
        ("kernrec.json", KERNELS),
        ("kern.7.txt", RECORDING),
        ("fnrec.json", PYTHON),
        (FN, FUNCTIONS),
        ("pytest.installed", b""),
        ("pytest.9.jsonl", NOTES),
        ("pytest.jsonl", NOTES),
        ("pytest.9.txt", b"1 passed\n"),
        ("pytest.log.txt", b"somebody's log"),
        ("fn.9.bak", FUNCTIONS),
        ("install.err", b"x"),
        ("_recorder.abi3.so", b"\x7fELF"),
    ];
    let job = job(&dir.path().join("job"), &files);
    assert_eq!(whose(&job), ("of-kernels", Some("kernels")));
    let expected = [
        "bundle.json",
        FN,
        "fnrec.json",
        "kern.7.txt",
        "kernrec.json",
        "pytest.9.jsonl",
        "pytest.9.txt",
        "pytest.installed",
        "pytest.jsonl",
    ];
    assert_eq!(packed(&job, &dir.path().join("out")), expected);
    let kernels = job.entries_of(Part::Kernels).unwrap();
    assert_eq!(kernels, ["kern.7.txt", "kernrec.json"]);
    let python = job.entries_of(Part::Python).unwrap();
    assert_eq!([&expected[1..3], &expected[5..]].concat(), python);
}

#[test]
fn a_job_of_python_alone_is_a_job() {
    let dir = tempfile::tempdir().unwrap();
    let cases: [(Files, _); 5] = [
        (&[("fnrec.json", PYTHON)], ("of-python", Some("python"))),
        (
            &[("fnrec.json", PYTHON), (FN, FUNCTIONS)],
            ("of-python", Some("python")),
        ),
        (&[(FN, FUNCTIONS)], ("of-header", Some("header"))),
        // The first header that names anything, not the first.
        (
            &[("fn.a.txt", b"#start\tpid=1\n"), ("fn.b.txt", FUNCTIONS)],
            ("of-header", Some("header")),
        ),
        // A sidecar is what is asked, and this one does not know.
        (&[("fnrec.json", b"{}"), (FN, FUNCTIONS)], ("4", None)),
    ];
    for (i, (files, expected)) in cases.into_iter().enumerate() {
        let above = tempfile::tempdir().unwrap();
        let opened = job(&above.path().join(i.to_string()), files);
        assert_eq!(whose(&opened), expected);
        let found = bundle::job_folders(above.path()).unwrap();
        assert_eq!(found.jobs, std::slice::from_ref(&opened));
        assert!(found.empty.is_empty());
        assert_eq!(packed(&opened, dir.path()).len(), files.len() + 1);
    }
}

#[test]
fn a_header_that_cannot_be_read_names_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let endless = vec![b'x'; 1 << 20];
    let path = dir.path().join("j-1");
    job(&path, &[("fn.a.txt", &endless), ("fn.b.txt", b"")]);
    mkfifo(&path.join("fn.c.txt"));
    symlink("/etc/passwd", path.join("fn.d.txt")).unwrap();
    let job = JobFolder::open(&path, OriginLayout::InBuild);
    assert_eq!(whose(&job), ("j-1", None));
    assert_eq!(job.entries().unwrap_err().reason(), "not-a-regular-file");
}

#[test]
fn notes_of_sessions_alone_are_no_job() {
    let dir = tempfile::tempdir().unwrap();
    let notes: &[(&str, &[u8])] = &[("pytest.installed", b""), ("pytest.9.jsonl", NOTES)];
    let job = job(&dir.path().join("j-1"), notes);
    let found = bundle::job_folders(dir.path()).unwrap();
    assert!(found.jobs.is_empty());
    assert_eq!(found.empty, [dir.path().join("j-1")]);
    let out = dir.path().join("out");
    let error = bundle::pack(&job, &out, &PackOptions::default()).unwrap_err();
    assert_eq!(error.reason(), "bundle-empty");
}

/// Whatever Python left changes neither whose a job of kernels is nor what it holds.
#[test]
fn a_job_of_kernels_is_the_same_with_and_without_python() {
    let dir = tempfile::tempdir().unwrap();
    let kernels: [Files; 4] = [
        &[("kernrec.json", KERNELS)],
        &[("kernrec.json", b"not json"), ("kern.1.txt", RECORDING)],
        &[("kernrec.json", b"{}")],
        &[("kern.1.txt", RECORDING)],
    ];
    for (i, files) in kernels.into_iter().enumerate() {
        let open = |kind: &str, more: Files| {
            let path = dir.path().join(kind).join(format!("j-{i}"));
            job(&path, files);
            let found = job(&path, more);
            (found.meta.clone(), found)
        };
        let (plain, _) = open("plain", &[]);
        let python: Files = &[("fnrec.json", PYTHON), (FN, FUNCTIONS)];
        let (mixed, folder) = open("mixed", python);
        assert_eq!(plain, mixed);
        // Not even a file that is none.
        symlink("/nowhere", folder.path.join("fn.link.txt")).unwrap();
        let names: Vec<_> = files.iter().map(|(name, _)| *name).collect();
        let mut found = folder.entries_of(Part::Kernels).unwrap();
        found.sort_by_key(|name| names.iter().position(|other| other == name));
        assert_eq!(found, names);
    }
}

#[test]
fn a_folder_within_a_job_of_python_is_no_job() {
    let dir = tempfile::tempdir().unwrap();
    job(&dir.path().join("j-1"), &[("fnrec.json", PYTHON)]);
    job(&dir.path().join("j-1/.python/x"), &[("a.py", b"")]);
    let found = bundle::job_folders(dir.path()).unwrap();
    assert_eq!((found.jobs.len(), found.empty.len()), (1, 0));
}
