//! Packing: what goes in, what must not, and what is left behind.

use crate::common::{RECORDING, job, mkfifo, names};
use kernrec_store::bundle::{self, BundleError, JobFolder, OriginLayout, PackOptions};
use std::fs::Permissions;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;

const SIDECAR: &[u8] = br#"{"job_id":"j-1","step_key":"demo","exit_status":0}"#;

fn entry_names(path: &Path) -> Vec<String> {
    let mut names = Vec::new();
    bundle::read_file(path, &mut |name, _| names.push(name.to_owned())).unwrap();
    names
}

/// Packing fails, and leaves nothing in the destination.
fn unpackable(job: &JobFolder, out: &Path) -> BundleError {
    let error = bundle::pack(job, out, &PackOptions::default()).unwrap_err();
    assert!(!out.exists() || names(out).is_empty(), "left something");
    error
}

#[test]
fn only_sidecar_and_recordings_go_in_and_logs_on_request() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let files: [(&str, &[u8]); 8] = [
        ("kernrec.json", SIDECAR),
        ("kern.7.txt", RECORDING),
        ("kern.10.txt", b""),
        ("setup.log", b"set up"),
        ("preflight.log", b"checked"),
        ("core", b"memory with secrets"),
        (".kernrec.json.tmp", b"{"),
        ("kern.7.txt.bak", b"x"),
    ];
    let job = job(&dir.path().join("job"), &files);
    let plain = bundle::pack(&job, &out, &PackOptions::default()).unwrap();
    let expected = ["bundle.json", "kern.10.txt", "kern.7.txt", "kernrec.json"];
    assert_eq!(entry_names(&plain.path), expected);
    let options = PackOptions { include_logs: true };
    let with_logs = bundle::pack(&job, &out, &options).unwrap();
    let logs = ["preflight.log", "setup.log"];
    assert_eq!(
        entry_names(&with_logs.path),
        [&expected[..], &logs].concat()
    );
    assert_ne!(plain.digest, with_logs.digest);
}

#[test]
fn packing_again_changes_nothing_and_heals_a_damaged_file() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let job = job(&dir.path().join("job"), &[("kern.1.txt", RECORDING)]);
    let packed = bundle::pack(&job, &out, &PackOptions::default()).unwrap();
    let (bytes, inode) = (
        fs_err::read(&packed.path).unwrap(),
        fs_err::metadata(&packed.path).unwrap().ino(),
    );
    assert_eq!(
        bundle::pack(&job, &out, &PackOptions::default()).unwrap(),
        packed
    );
    assert_eq!(fs_err::metadata(&packed.path).unwrap().ino(), inode);
    let mut damaged = bytes.clone();
    damaged[20] ^= 1;
    fs_err::write(&packed.path, damaged).unwrap();
    bundle::pack(&job, &out, &PackOptions::default()).unwrap();
    assert_eq!(fs_err::read(&packed.path).unwrap(), bytes);
    assert_eq!(names(&out).len(), 1);
}

#[test]
fn a_job_that_left_nothing_makes_no_bundle() {
    let dir = tempfile::tempdir().unwrap();
    let job = job(&dir.path().join("job"), &[("setup.log", b"x")]);
    let error = unpackable(&job, &dir.path().join("out"));
    assert_eq!(error.reason(), "bundle-empty");
}

#[test]
fn a_sidecar_alone_is_a_bundle_and_so_is_a_recording() {
    let dir = tempfile::tempdir().unwrap();
    for (name, content) in [("kernrec.json", SIDECAR), ("kern.1.txt", RECORDING)] {
        let job = job(&dir.path().join(name), &[(name, content)]);
        let packed = bundle::pack(&job, &dir.path().join("out"), &PackOptions::default());
        assert_eq!(entry_names(&packed.unwrap().path), ["bundle.json", name]);
    }
}

/// Makes something at a path.
type Make<'a> = &'a dyn Fn(&Path);

#[test]
fn links_fifos_sockets_and_folders_are_refused_without_waiting() {
    let dir = tempfile::tempdir().unwrap();
    let secret = dir.path().join("secret");
    fs_err::write(&secret, b"secret").unwrap();
    let make: [(&str, Make); 5] = [
        ("symbolic link", &|path| symlink(&secret, path).unwrap()),
        ("symbolic link", &|path| symlink("/nowhere", path).unwrap()),
        ("FIFO", &mkfifo),
        ("socket", &|path| drop(UnixListener::bind(path).unwrap())),
        ("folder", &|path| fs_err::create_dir(path).unwrap()),
    ];
    for (i, (kind, make)) in make.iter().enumerate() {
        for name in ["kern.9.txt", "kernrec.json"] {
            let path = dir.path().join(format!("{i}-{name}"));
            let files: &[(&str, &[u8])] = &[("kern.1.txt", RECORDING)];
            job(&path, files);
            make(&path.join(name));
            let job = JobFolder::open(&path, OriginLayout::InBuild);
            let error = unpackable(&job, &dir.path().join("out"));
            assert_eq!(error.reason(), "not-a-regular-file");
            let text = error.to_string();
            assert!(text.contains(kind) && text.contains(name), "{text}");
        }
    }
}

#[test]
fn what_became_a_fifo_after_it_was_listed_is_refused_too() {
    let dir = tempfile::tempdir().unwrap();
    let job = job(&dir.path().join("job"), &[("kern.1.txt", RECORDING)]);
    let listed = job.entries().unwrap();
    let path = job.path.join("kern.1.txt");
    fs_err::remove_file(&path).unwrap();
    let error = job.read(&listed[0], &mut Vec::new()).unwrap_err();
    assert_eq!(error.reason(), "file-error");
    assert!(error.to_string().contains("kern.1.txt"), "{error}");
    mkfifo(&path);
    let error = job.read(&listed[0], &mut Vec::new()).unwrap_err();
    assert_eq!(error.reason(), "not-a-regular-file");
    fs_err::remove_file(&path).unwrap();
    symlink("/etc/passwd", &path).unwrap();
    let error = job.read(&listed[0], &mut Vec::new()).unwrap_err();
    assert_eq!(error.reason(), "not-a-regular-file");
}

#[test]
fn names_no_bundle_can_hold_are_refused_not_dropped() {
    let dir = tempfile::tempdir().unwrap();
    let long = format!("kern.{}.txt", "9".repeat(92));
    for (i, (name, reason)) in [
        (long.as_str(), "name-too-long"),
        ("kern.\n.txt", "name-not-allowed"),
    ]
    .into_iter()
    .enumerate()
    {
        let job = job(&dir.path().join(i.to_string()), &[(name, RECORDING)]);
        let error = unpackable(&job, &dir.path().join("out"));
        assert_eq!(error.reason(), reason);
    }
    let longest = format!("kern.{}.txt", "9".repeat(91));
    let job = job(&dir.path().join("longest"), &[(&longest, RECORDING)]);
    let packed = bundle::pack(&job, &dir.path().join("out"), &PackOptions::default()).unwrap();
    assert_eq!(entry_names(&packed.path), ["bundle.json", &longest]);
}

#[test]
fn a_file_too_large_is_refused_by_name() {
    let dir = tempfile::tempdir().unwrap();
    let job = job(&dir.path().join("job"), &[("kern.1.txt", b"")]);
    let file = fs_err::OpenOptions::new()
        .write(true)
        .open(job.path.join("kern.1.txt"));
    file.unwrap().set_len((256 << 20) + 1).unwrap();
    let error = unpackable(&job, &dir.path().join("out"));
    assert_eq!(error.reason(), "entry-too-large");
    assert!(error.to_string().contains("kern.1.txt"));
}

#[test]
fn an_archive_too_large_for_memory_is_packed_through_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let job = job(&dir.path().join("job"), &[("kern.1.txt", b"")]);
    let file = fs_err::OpenOptions::new()
        .write(true)
        .open(job.path.join("kern.1.txt"));
    file.unwrap().set_len(40 << 20).unwrap();
    let out = dir.path().join("out");
    let packed = bundle::pack(&job, &out, &PackOptions::default()).unwrap();
    let mut sizes = Vec::new();
    bundle::read_file(&packed.path, &mut |_, content| sizes.push(content.len())).unwrap();
    assert_eq!(sizes[1..], [40 << 20]);
    assert_eq!(names(&out).len(), 1);
}

#[test]
fn a_folder_that_is_gone_or_a_destination_that_is_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let gone = JobFolder::open(&dir.path().join("gone"), OriginLayout::InBuild);
    let error = unpackable(&gone, &dir.path().join("out"));
    assert!(error.to_string().contains("gone"), "{error}");
    let job = job(&dir.path().join("job"), &[("kern.1.txt", RECORDING)]);
    let file = dir.path().join("file");
    fs_err::write(&file, b"").unwrap();
    let error = bundle::pack(&job, &file, &PackOptions::default()).unwrap_err();
    assert_eq!(error.reason(), "file-error");
    assert_eq!(fs_err::read(&file).unwrap(), b"");
}

#[test]
fn a_bundle_file_that_is_none() {
    let dir = tempfile::tempdir().unwrap();
    let fifo = dir.path().join("fifo.tar.zst");
    mkfifo(&fifo);
    for (path, reason) in [
        (fifo.as_path(), "not-a-regular-file"),
        (dir.path(), "not-a-regular-file"),
        (&dir.path().join("gone.tar.zst"), "file-error"),
    ] {
        let error = bundle::read_file(path, &mut |_, _| ()).unwrap_err();
        assert_eq!(error.reason(), reason);
    }
}

#[test]
fn modes_and_times_leave_no_trace() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let job = job(&dir.path().join("job"), &[("kern.1.txt", RECORDING)]);
    let before = bundle::pack(&job, &out, &PackOptions::default()).unwrap();
    let path = job.path.join("kern.1.txt");
    fs_err::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
    let file = fs_err::OpenOptions::new().write(true).open(&path).unwrap();
    let past = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1);
    file.file().set_modified(past).unwrap();
    let after = bundle::pack(&job, &out, &PackOptions::default()).unwrap();
    assert_eq!(before, after);
}
