//! Where nothing can be recorded the workload runs once, as it would have, and the sidecar says why.

use crate::bench::{Bench, HOST, HOSTILE, library, shell_status, text};
use crate::child;
use std::path::Path;
use std::process::{Command, Output};

/// A workload that counts its runs.
const ONCE: &str = "echo run >> runs; exit 7";

fn run_once(bench: &Bench, command: &mut Command) -> Output {
    command.args(["--", "sh", "-c", ONCE]);
    let output = command.output().unwrap();
    assert_eq!(shell_status(&output), 7, "{}", text(&output.stderr));
    let runs = fs_err::read_to_string(bench.path("runs")).unwrap();
    assert_eq!(runs, "run\n");
    output
}

fn says_why(bench: &Bench, word: &str, set: impl FnOnce(&mut Command)) {
    let mut command = bench.command(HOST);
    command.args(["run", "--step", "demo", "--backend", "cuda"]);
    set(&mut command);
    let output = run_once(bench, &mut command);
    assert!(
        text(&output.stderr).starts_with(&format!("kernrec: {word}: ")),
        "{}",
        text(&output.stderr)
    );
    let bundle = bench.bundle();
    assert!(bundle.recordings.is_empty());
    let sidecar = bundle.sidecar;
    assert_eq!(sidecar.collection_available, Some(false));
    let error = sidecar.collection_error.unwrap();
    assert!(error.starts_with(&format!("{word}: ")), "{error}");
    assert_eq!(
        (sidecar.exit_status, sidecar.unrecorded_processes),
        (Some(7), 1)
    );
}

fn libraries_with(bench: &Bench, recorder: &[u8]) -> std::path::PathBuf {
    let folder = bench.path("libraries");
    fs_err::create_dir(&folder).unwrap();
    fs_err::write(folder.join("libkernrec_cupti.so"), recorder).unwrap();
    folder
}

#[test]
fn no_library() {
    let bench = Bench::new();
    let folder = bench.path(".");
    says_why(&bench, "recorder-missing", |command| {
        command.env("KERNREC_LIB_DIR", folder);
    });
}

#[test]
fn a_library_of_another_architecture() {
    let bench = Bench::new();
    let mut bytes = fs_err::read(library("libkernrec_cupti.so")).unwrap();
    // IBM's mainframe.
    bytes[18..20].copy_from_slice(&22_u16.to_le_bytes());
    let folder = libraries_with(&bench, &bytes);
    says_why(&bench, "recorder-other-architecture", |command| {
        command.env("KERNREC_LIB_DIR", folder);
    });
}

#[test]
fn libraries_that_cannot_be_loaded() {
    let whole = fs_err::read(library("libkernrec_cupti.so")).unwrap();
    let mut holed = whole.clone();
    let middle = holed.len() / 2;
    holed[64..middle].fill(0xff);
    for bytes in [&b"not a library"[..], b"", &whole[..4096], &holed] {
        let bench = Bench::new();
        let folder = libraries_with(&bench, bytes);
        says_why(&bench, "recorder-not-loadable", |command| {
            command.env("KERNREC_LIB_DIR", folder);
        });
    }
}

#[test]
fn another_library_under_the_recorders_name() {
    let bench = Bench::new();
    let bytes = fs_err::read(library("libkernrec_cupti_forwarders.so")).unwrap();
    let folder = libraries_with(&bench, &bytes);
    says_why(&bench, "recorder-not-loadable", |command| {
        command.env("KERNREC_LIB_DIR", folder);
    });
}

#[test]
fn another_tool_in_the_drivers_place() {
    says_why(&Bench::new(), "other-injection-configured", |command| {
        command.env("CUDA_INJECTION64_PATH", "/opt/tool/libtool.so");
    });
    says_why(&Bench::new(), "other-profiler-configured", |command| {
        command.env("NSYS_PROFILING_SESSION_ID", "1");
    });
}

#[test]
fn a_cupti_that_is_none() {
    says_why(&Bench::new(), "cupti-not-usable", |command| {
        command.args(["--cupti", "/etc/hostname"]);
    });
}

#[test]
fn the_environment_is_left_alone_where_nothing_is_recorded() {
    let bench = Bench::new();
    let plain = bench.command("env").output().unwrap();
    let mut command = bench.command(HOST);
    command.args(["run", "--backend", "rocm", "--", "env"]);
    assert_eq!(text(&command.output().unwrap().stdout), text(&plain.stdout));
}

#[test]
fn a_folder_that_cannot_be_made() {
    let bench = Bench::new();
    fs_err::write(bench.path(".kernrec"), "a file").unwrap();
    let mut command = bench.command(HOST);
    command.args(["run", "--step", "demo", "--backend", "cuda"]);
    let output = run_once(&bench, &mut command);
    assert!(
        text(&output.stderr).starts_with("kernrec: folder-not-writable: "),
        "{}",
        text(&output.stderr)
    );
    assert_eq!(
        fs_err::read_to_string(bench.path(".kernrec")).unwrap(),
        "a file"
    );
}

#[test]
fn a_folder_that_cannot_be_written() {
    let bench = Bench::new();
    let mut command = bench.command(HOST);
    // No user may write there, not even root.
    command.args([
        "run",
        "--step",
        "demo",
        "--backend",
        "cuda",
        "--dir",
        "/proc/kernrec/job",
    ]);
    let output = run_once(&bench, &mut command);
    assert!(
        text(&output.stderr).starts_with("kernrec: folder-not-writable: "),
        "{}",
        text(&output.stderr)
    );
}

#[test]
fn files_that_may_not_grow() {
    let bench = Bench::new();
    let mut command = bench.command(HOST);
    command.args(["run", "--step", "demo", "--backend", "cuda"]);
    // Enough for the workload's own file.
    child::before_exec(&mut command, || child::limit_file_size(64));
    let output = run_once(&bench, &mut command);
    assert!(
        text(&output.stderr).starts_with("kernrec: folder-not-writable: "),
        "{}",
        text(&output.stderr)
    );
    assert!(bench.bundles().is_empty());
}

#[test]
fn a_disk_without_room() {
    let bench = Bench::new();
    let disk = bench.path("disk");
    fs_err::create_dir(&disk).unwrap();
    if !Mount::small(&disk) {
        // Not root: `files_that_may_not_grow` shows the same of a write.
        return;
    }
    let _mounted = Mount(&disk);
    let mut command = bench.command(HOST);
    command.args([
        "run",
        "--step",
        "demo",
        "--backend",
        "cuda",
        "--dir",
        "disk/job",
    ]);
    let output = run_once(&bench, &mut command);
    assert!(
        text(&output.stderr).starts_with("kernrec: no-space: "),
        "{}",
        text(&output.stderr)
    );
    let sidecar = fs_err::read(disk.join("job/kernrec.json")).unwrap();
    assert!(text(&sidecar).contains("no-space: "));
}

struct Mount<'a>(&'a Path);

impl Mount<'_> {
    fn small(path: &Path) -> bool {
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=256k", "tmpfs"])
            .arg(path)
            .output();
        mounted.is_ok_and(|output| output.status.success())
    }
}

impl Drop for Mount<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0).status();
    }
}

#[test]
fn a_job_folder_that_vanishes_while_the_workload_runs() {
    let bench = Bench::new();
    let output = bench
        .recorded(&["sh", "-c", "rm -rf .kernrec; exit 3"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(3));
    let sidecar = bench.bundle().sidecar;
    assert_eq!(sidecar.collection_available, Some(false));
    assert!(
        sidecar
            .collection_error
            .unwrap()
            .starts_with("folder-lost: ")
    );
    assert_eq!(sidecar.exit_status, Some(3));
}

#[test]
fn the_preload_is_left_out_beside_a_sanitizer() {
    let bench = Bench::new();
    let script = "echo \"[$LD_PRELOAD]\"; test -n \"$CUDA_INJECTION64_PATH\"";
    let mut command = bench.recorded(&["sh", "-c", script]);
    let output = command
        .env("ASAN_OPTIONS", "detect_leaks=0")
        .output()
        .unwrap();
    assert_eq!(
        (shell_status(&output), text(&output.stdout).as_str()),
        (0, "[]\n")
    );
    let bundle = bench.bundle();
    assert_eq!(bundle.sidecar.collection_error, None);
    assert!(
        bundle.sidecar_text.contains("no-preload-sanitizer: "),
        "{}",
        bundle.sidecar_text
    );
}

#[test]
fn an_existing_preload_stays_behind_ours() {
    let bench = Bench::new();
    let other = library("libkernrec_fake_cupti.so");
    let mut command = bench.recorded(&["sh", "-c", "echo \"$LD_PRELOAD\""]);
    let output = command.env("LD_PRELOAD", &other).output().unwrap();
    let ours = library("libkernrec_cupti_forwarders.so");
    assert_eq!(
        text(&output.stdout),
        format!("{}:{}\n", ours.display(), other.display())
    );
}

#[test]
fn what_no_sidecar_can_hold_spoils_the_job_and_nothing_else() {
    let bench = Bench::new();
    let mut command = bench.command(HOST);
    command.args([
        "run",
        "--step",
        "demo",
        "--backend",
        "cuda",
        "--variant",
        "a b",
        "--",
        HOSTILE,
        "reset-signals",
    ]);
    let output = command.output().unwrap();
    assert_eq!(
        (shell_status(&output), text(&output.stdout).as_str()),
        (0, "reset\n")
    );
    let sidecar = bench.bundle().sidecar;
    assert!(
        sidecar
            .collection_error
            .unwrap()
            .starts_with("invalid-identity: variant: ")
    );
    assert_eq!(sidecar.collection_available, Some(true));
}
