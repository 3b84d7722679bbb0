//! What a recorded run leaves.

use crate::bench::{Bench, HOSTILE, assert_quiet, library};
use kernrec_schemas::Backend;
use kernrec_schemas::recording::ProcessState;
use kernrec_schemas::sidecar::Sidecar;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};

#[test]
fn one_bundle_with_clean_recordings() {
    let bench = Bench::new();
    let mut run = bench.recorded(&bench.driver(&["launch=_Z5firstv*3", "launch=_Z4lastv"]));
    run.env("BUILDKITE_JOB_ID", "j-1")
        .env("BUILDKITE_BUILD_NUMBER", "41")
        .env("BUILDKITE_COMMIT", "c0ffee")
        .env("BUILDKITE_RETRY_COUNT", "1")
        .env("CUDA_VISIBLE_DEVICES", "0")
        .env("VIRTUAL_ENV", bench.path("venv"))
        .env("HF_TOKEN", "a-secret");
    let torch = "venv/lib/python3.12/site-packages/torch-2.11.0.dist-info";
    fs_err::create_dir_all(bench.path(torch)).unwrap();
    assert_quiet(&run.output().unwrap(), 0);
    let bundle = bench.bundle();
    assert_eq!(bundle.recordings.len(), 1);
    let recording = &bundle.recordings[0];
    assert_eq!(recording.state, ProcessState::Clean, "{}", recording.text);
    assert_eq!(recording.names, ["_Z5firstv", "_Z4lastv"]);
    assert!(recording.text.contains(" forwarders=yes "));
    let sidecar = &bundle.sidecar;
    assert_eq!(sidecar.step_key.as_ref().unwrap().as_str(), "demo");
    assert_eq!(sidecar.job_id.as_ref().unwrap().as_str(), "j-1");
    assert_eq!(sidecar.commit.as_ref().unwrap().as_str(), "c0ffee");
    assert_eq!(
        (sidecar.build.as_deref(), sidecar.retry_count),
        (Some("41"), Some(1))
    );
    assert_eq!(
        (sidecar.backend, sidecar.exit_status),
        (Some(Backend::Cuda), Some(0))
    );
    assert!(sidecar.faults.is_empty() && sidecar.host.is_some());
    assert!(
        bundle
            .sidecar_text
            .contains("\"CUDA_VISIBLE_DEVICES\": \"0\"")
    );
    assert!(bundle.sidecar_text.contains("\"torch\": \"2.11.0\""));
    assert!(!bundle.sidecar_text.contains("a-secret"));
}

#[test]
fn the_collector_takes_it_for_a_usable_row() {
    let bench = Bench::new();
    let mut run = bench.recorded(&bench.driver(&["launch=_Z5firstv"]));
    run.env("BUILDKITE_JOB_ID", "j-1")
        .env("BUILDKITE_COMMIT", "c0ffee");
    assert_quiet(&run.output().unwrap(), 0);
    let audit = bench
        .command(crate::bench::HOST)
        .args(["audit", ".kernrec"])
        .output()
        .unwrap();
    let said = String::from_utf8(audit.stdout).unwrap();
    assert!(
        said.lines()
            .any(|line| line.split_whitespace().eq(["usable", "1"])),
        "{said}"
    );
}

#[test]
fn every_process_of_a_shell_is_recorded() {
    let bench = Bench::new();
    let mut recorded = bench.recorded(&[
        "sh",
        "-c",
        "for n in 1 2 3; do \"$@\" launch=_Z${n}v & done; wait",
        "sh",
    ]);
    recorded.args(bench.driver(&[]));
    assert_quiet(&recorded.output().unwrap(), 0);
    let recordings = bench.bundle().recordings;
    let mut names: Vec<&str> = recordings
        .iter()
        .map(|left| left.names[0].as_str())
        .collect();
    names.sort_unstable();
    assert_eq!(names, ["_Z1v", "_Z2v", "_Z3v"]);
    assert!(
        recordings
            .iter()
            .all(|left| left.state == ProcessState::Clean)
    );
}

/// A job that is killed has a sidecar too, which does not say that it passed.
#[test]
fn the_sidecar_is_there_from_the_start_without_a_status() {
    let bench = Bench::new();
    let output = bench
        .recorded(&["cat", ".kernrec/local/kernrec.json"])
        .output();
    let output = output.unwrap();
    assert_quiet(&output, 0);
    let while_running = Sidecar::parse(&output.stdout).unwrap();
    assert_eq!(while_running.exit_status, None);
    assert_eq!(while_running.collection_available, Some(true));
    assert_eq!(bench.sidecar("local").exit_status, Some(0));
}

#[test]
fn workers_get_time_to_finish_unless_somebody_decided() {
    let name = "VLLM_WORKER_SHUTDOWN_TIMEOUT_SECONDS";
    for (given, expected) in [(None, "30\n"), (Some("7"), "7\n")] {
        let bench = Bench::new();
        let mut run = bench.recorded(&["printenv", name]);
        run.envs(given.map(|value| (name, value)));
        let output = run.output().unwrap();
        assert_quiet(&output, 0);
        assert_eq!(String::from_utf8(output.stdout).unwrap(), expected);
    }
}

#[test]
fn a_failed_workload_leaves_its_names() {
    let bench = Bench::new();
    let output = bench
        .recorded(&bench.driver(&["launch=_Z1av", "end=exit"]))
        .output()
        .unwrap();
    assert_quiet(&output, 7);
    let bundle = bench.bundle();
    assert_eq!(bundle.sidecar.exit_status, Some(7));
    assert_eq!(bundle.recordings[0].names, ["_Z1av"]);
}

#[test]
fn the_folder_and_the_files_are_open_to_everyone() {
    let bench = Bench::new();
    let script = "umask 077; exec \"$@\"";
    let run = bench.recorded(&bench.driver(&["launch=_Z1av"]));
    let mut shell = bench.command("sh");
    shell
        .args(["-c", script, "sh"])
        .arg(run.get_program())
        .args(run.get_args());
    assert_quiet(&shell.output().unwrap(), 0);
    let mode =
        |path: &std::path::Path| fs_err::metadata(path).unwrap().permissions().mode() & 0o777;
    for folder in [".kernrec", ".kernrec/local"] {
        assert_eq!(mode(&bench.path(folder)), 0o777, "{folder}");
        for entry in fs_err::read_dir(bench.path(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                assert_eq!(mode(&path), 0o666, "{}", path.display());
            }
        }
    }
}

#[test]
fn an_explicit_folder_gets_the_bundle_beside_it() {
    let bench = Bench::new();
    let mut run = bench.command(crate::bench::HOST);
    run.args([
        "run",
        "--step",
        "demo",
        "--backend",
        "cuda",
        "--dir",
        "out put/here",
        "--flush-ms",
        "1",
        "--",
    ]);
    run.args(bench.driver(&["launch=_Z1av"]));
    assert_quiet(&run.output().unwrap(), 0);
    let names: Vec<String> = fs_err::read_dir(bench.path("out put"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let bundle = names
        .iter()
        .find(|name| name.ends_with(".tar.zst"))
        .unwrap();
    let bundle = crate::bench::read_bundle(&bench.path("out put").join(bundle));
    assert_eq!(bundle.recordings[0].state, ProcessState::Clean);
    assert!(bundle.sidecar_text.contains("\"exit_status\": 0"));
}

/// A process that the environment does not reach cannot be recorded; that it used the GPU is seen.
#[test]
fn a_gpu_process_with_an_environment_of_its_own_is_counted() {
    let bench = Bench::new();
    let run = bench.recorded(&["env", "-i", HOSTILE, "map"]);
    assert_eq!(unrecorded_with(&bench, run, "libcuda.so.1"), 1);
}

/// What the sidecar says after a command that maps what it gets for this library of a GPU's runtime.
pub(crate) fn unrecorded_with(bench: &Bench, mut run: Command, name: &str) -> u64 {
    // Under its own name: a link would be mapped under the name it leads to.
    let driver = bench.path("driver").join(name);
    fs_err::create_dir(driver.parent().unwrap()).unwrap();
    fs_err::copy(library("libkernrec_cupti_forwarders.so"), &driver).unwrap();
    let mut child = run
        .arg(&driver)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    out.read_line(&mut line).unwrap();
    assert_eq!(line, "mapped\n");
    // One look may have begun before the library was mapped; a later one has ended.
    let mut start = None;
    while looks(child.id()) < start.map(|start: u64| start + 3) || start.is_none() {
        start = start.or_else(|| looks(child.id()));
        std::thread::yield_now();
    }
    drop(child.stdin.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    bench.bundle().sidecar.unrecorded_processes
}

/// How often the launcher's watching thread went to sleep; `None` before it has its name.
fn looks(launcher: u32) -> Option<u64> {
    let tasks = fs_err::read_dir(format!("/proc/{launcher}/task")).unwrap();
    let task = tasks
        .map(|task| task.unwrap().path())
        .find(|task| fs_err::read_to_string(task.join("comm")).unwrap() == "watch\n")?;
    let status = fs_err::read_to_string(task.join("status")).unwrap();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
    line.unwrap().trim().parse().ok()
}
