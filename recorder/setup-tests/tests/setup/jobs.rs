//! Several set-ups and one folder.

use crate::bench::{Bench, HOST, assert_quiet, read_bundle, text};
use kernrec_schemas::recording::ProcessState;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;

#[test]
fn the_commands_of_one_job_share_a_bundle() {
    let bench = Bench::new();
    for (name, status) in [("_Z1av", 0), ("_Z1bv", 7), ("_Z1cv", 0)] {
        let end = if status == 0 {
            "launch=_Z1dv"
        } else {
            "end=exit"
        };
        let mut run = bench.recorded(&bench.driver(&[&format!("launch={name}"), end]));
        assert_quiet(
            &run.env("BUILDKITE_JOB_ID", "j-1").output().unwrap(),
            status,
        );
    }
    let bundle = bench.bundle();
    assert_eq!(bundle.recordings.len(), 3);
    assert_eq!(bundle.sidecar.exit_status, Some(7));
    assert_eq!(bundle.sidecar.collection_error, None);
}

#[test]
fn local_runs_have_a_folder_each() {
    let bench = Bench::new();
    for _ in 0..3 {
        assert_quiet(
            &bench
                .recorded(&bench.driver(&["launch=_Z1av"]))
                .output()
                .unwrap(),
            0,
        );
    }
    assert_eq!(bench.bundles().len(), 3);
    for bundle in bench.bundles() {
        assert_eq!(read_bundle(&bundle).recordings.len(), 1);
    }
}

/// The recordings of an earlier job are neither added to nor taken for this one's.
#[test]
fn a_folder_of_another_job_stays_as_it_is() {
    let bench = Bench::new();
    let run = |job: &str, status: i32| {
        let mut run = bench.command(HOST);
        run.args([
            "run",
            "--step",
            "demo",
            "--backend",
            "cuda",
            "--dir",
            ".kernrec/mine",
            "--job-id",
            job,
            "--",
        ]);
        let output = run
            .args(["sh", "-c", &format!("exit {status}")])
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(status));
        text(&output.stderr)
    };
    assert_eq!(run("j-1", 0), "");
    let before = fs_err::read(&bench.bundles()[0]).unwrap();
    let said = run("j-2", 5);
    assert!(said.starts_with("kernrec: folder-not-fresh: "), "{said}");
    assert_eq!(bench.sidecar("mine").job_id.unwrap().as_str(), "j-1");
    assert_eq!(fs_err::read(&bench.bundles()[0]).unwrap(), before);
    assert_eq!(bench.bundles().len(), 1);
}

#[test]
fn recordings_without_a_set_up_are_another_jobs() {
    let bench = Bench::new();
    fs_err::create_dir_all(bench.path("old")).unwrap();
    fs_err::write(bench.path("old/kern.7.txt"), "# kernrec v1 pid=7\n").unwrap();
    let mut run = bench.command(HOST);
    run.args([
        "run",
        "--step",
        "demo",
        "--backend",
        "cuda",
        "--dir",
        "old",
        "--",
    ]);
    let output = run
        .args(["sh", "-c", "env | grep -c CUDA_INJECTION"])
        .output()
        .unwrap();
    assert_eq!(text(&output.stdout), "0\n");
    assert!(text(&output.stderr).starts_with("kernrec: folder-not-fresh: "));
}

#[test]
fn a_run_within_a_run_joins_it() {
    let bench = Bench::new();
    let inner = bench.recorded(&bench.driver(&["launch=_Z1av"]));
    let mut command = vec![inner.get_program().to_owned()];
    command.extend(inner.get_args().map(ToOwned::to_owned));
    assert_quiet(&bench.recorded(&command).output().unwrap(), 0);
    let bundle = bench.bundle();
    assert_eq!(bundle.recordings.len(), 1);
    assert_eq!(bundle.recordings[0].state, ProcessState::Clean);
    assert_eq!(bundle.sidecar.exit_status, Some(0));
}

/// Elsewhere, an inner run would take its kernels out of the outer one's recordings.
#[test]
fn a_run_within_a_run_takes_nothing_away_from_it() {
    let bench = Bench::new();
    let mut command = vec![HOST.into()];
    let flags = [
        "run",
        "--step",
        "other",
        "--backend",
        "cuda",
        "--dir",
        "elsewhere/job",
        "--",
    ];
    command.extend(flags.map(Into::into));
    command.extend(bench.driver(&["launch=_Z1av"]));
    let output = bench.recorded(&command).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(text(&output.stderr).starts_with("kernrec: already-recording: "));
    assert_eq!(bench.bundle().recordings[0].names, ["_Z1av"]);
    let inner = fs_err::read_to_string(bench.path("elsewhere/job/kernrec.json")).unwrap();
    assert!(inner.contains("already-recording: "), "{inner}");
}

/// A shell that has finished one session still has its variables.
#[test]
fn a_session_that_has_ended_is_in_nobodys_way() {
    let bench = Bench::new();
    let script = "set -e; eval \"$(\"$K\" env --step demo --backend cuda --dir .kernrec/first)\"; \
                  \"$K\" finish --status 0; \
                  exec \"$K\" run --step other --backend cuda --dir .kernrec/second -- \"$@\"";
    let mut shell = bench.command("sh");
    shell
        .args(["-c", script, "sh"])
        .args(bench.driver(&["launch=_Z1av"]))
        .env("K", HOST);
    assert_quiet(&shell.output().unwrap(), 0);
    assert_eq!(bench.sidecar("second").step_key.unwrap().as_str(), "other");
    let recordings = |job: &str| {
        let names = fs_err::read_dir(bench.path(".kernrec").join(job)).unwrap();
        let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.starts_with("kern.")).count()
    };
    assert_eq!((recordings("first"), recordings("second")), (0, 1));
}

fn command_of_job(bench: &Bench, flags: &[&str], name: &str) -> std::process::Output {
    let mut run = bench.command(HOST);
    run.args([
        "run",
        "--step",
        "demo",
        "--backend",
        "cuda",
        "--job-id",
        "j-1",
    ]);
    run.args(flags).arg("--");
    run.args(bench.driver(&[&format!("launch={name}")]));
    run.output().unwrap()
}

/// What one command of a job launched must not be missing from what passes for all of it.
#[test]
fn commands_that_contradict_each_other_are_recorded_and_not_trusted() {
    let bench = Bench::new();
    assert_quiet(&command_of_job(&bench, &["--variant", "cu13"], "_Z1av"), 0);
    assert_quiet(&command_of_job(&bench, &["--variant", "cu12"], "_Z1bv"), 0);
    let bundle = bench.bundle();
    assert_eq!(bundle.recordings.len(), 2);
    let error = bundle.sidecar.collection_error.unwrap();
    assert!(error.starts_with("invalid-identity: variant: "), "{error}");
}

#[test]
fn where_a_further_command_cannot_be_written_down_the_job_makes_no_claim() {
    let bench = Bench::new();
    assert_quiet(&command_of_job(&bench, &[], "_Z1av"), 0);
    assert_eq!(bench.bundle().sidecar.exit_status, Some(0));
    let mut run = bench.command(HOST);
    run.args([
        "run",
        "--step",
        "demo",
        "--backend",
        "cuda",
        "--job-id",
        "j-1",
    ]);
    run.args(["--", "sh", "-c", "exit 5"]);
    crate::child::before_exec(&mut run, || crate::child::limit_file_size(64));
    let output = run.output().unwrap();
    assert_eq!(output.status.code(), Some(5));
    let said = text(&output.stderr);
    assert!(said.starts_with("kernrec: folder-not-writable: "), "{said}");
    assert!(bench.bundles().is_empty());
    assert!(!bench.path(".kernrec/j-1/kernrec.json").exists());
    // Nor does a later command speak for the one that is missing.
    let output = command_of_job(&bench, &[], "_Z1cv");
    assert!(text(&output.stderr).starts_with("kernrec: folder-not-fresh: "));
    assert!(bench.bundles().is_empty());
}

/// The folder is open to everyone: what stands under the names of set-up's own files may be anything.
#[test]
fn what_stands_in_the_place_of_the_state_is_not_waited_for() {
    let bench = Bench::new();
    let folder = bench.path(".kernrec/j-1");
    fs_err::create_dir_all(&folder).unwrap();
    let mut make = std::process::Command::new("mkfifo");
    assert!(
        make.arg(folder.join(".setup.json"))
            .status()
            .unwrap()
            .success()
    );
    for flags in [
        &["run", "--step", "demo", "--backend", "cuda"][..],
        &["finish", "--status", "0"],
    ] {
        let mut command = bench.command(HOST);
        command.args(flags).env("BUILDKITE_JOB_ID", "j-1");
        if flags[0] == "run" {
            command.args(["--", "sh", "-c", "exit 5"]);
        } else {
            command.args(["--dir", ".kernrec/j-1"]);
        }
        let output = command.output().unwrap();
        let expected = if flags[0] == "run" { 5 } else { 0 };
        assert_eq!(output.status.code(), Some(expected));
    }
}

#[test]
fn what_a_link_in_the_place_of_the_lock_leads_to_is_left_alone() {
    let bench = Bench::new();
    let folder = bench.path(".kernrec/j-1");
    fs_err::create_dir_all(&folder).unwrap();
    let secret = bench.path("secret");
    fs_err::write(&secret, "s").unwrap();
    fs_err::set_permissions(&secret, Permissions::from_mode(0o600)).unwrap();
    fs_err::os::unix::fs::symlink(&secret, folder.join(".setup.lock")).unwrap();
    assert_quiet(&command_of_job(&bench, &[], "_Z1av"), 0);
    assert_eq!(bench.bundle().sidecar.exit_status, Some(0));
    let mode = fs_err::metadata(&secret).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

/// The bundle of the first command does not stay to speak for the job.
#[test]
fn a_further_command_that_is_killed_with_its_launcher_leaves_the_job_open() {
    let bench = Bench::new();
    assert_quiet(&command_of_job(&bench, &[], "_Z1av"), 0);
    assert_eq!(bench.bundle().sidecar.exit_status, Some(0));
    let mut run = bench.recorded(&["sh", "-c", "kill -9 $PPID"]);
    let output = run.env("BUILDKITE_JOB_ID", "j-1").output().unwrap();
    assert_eq!(output.status.code(), None);
    let bundle = bench.bundle();
    assert_eq!(bundle.sidecar.exit_status, None);
    assert_eq!(bundle.recordings[0].names, ["_Z1av"]);
}

/// Nor does it where no other can be packed at the end.
#[test]
fn a_folder_that_cannot_be_packed_leaves_the_job_open() {
    let bench = Bench::new();
    assert_quiet(&command_of_job(&bench, &[], "_Z1av"), 0);
    let mut run = bench.recorded(&["mkdir", ".kernrec/j-1/kern.7.txt"]);
    let output = run.env("BUILDKITE_JOB_ID", "j-1").output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(bench.bundle().sidecar.exit_status, None);
}
