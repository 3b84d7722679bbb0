//! Several set-ups and one folder.

use crate::bench::{Bench, HOST, assert_quiet, read_bundle, text};
use kernrec_schemas::recording::ProcessState;

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
