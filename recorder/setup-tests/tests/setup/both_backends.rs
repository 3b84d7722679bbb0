//! One build's jobs of both backends, from recording to fetching: each backend stands for itself.

use crate::bench::{Bench, HOST, assert_quiet, library, shell_status, text};
use std::process::{Command, Output};

const HIP: &str = env!("CARGO_BIN_EXE_setup-fake-hip");
const COMMIT: &str = "c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00";

/// A test's folder with the jobs of a build: one on each kind of GPU, recorded against imitations of both.
fn recorded(build: &str) -> Bench {
    let bench = Bench::new();
    let sdk = bench.path("rocm/lib/librocprofiler-sdk.so");
    fs_err::create_dir_all(sdk.parent().unwrap()).unwrap();
    fs_err::copy(library("libkernrec_fake_rocprofiler.so"), &sdk).unwrap();
    let hip = [HIP, "init", "launch=_Z4scaleILi2EEvPf*3", "graph=4,400"].map(Into::into);
    for (backend, job, command) in [
        ("cuda", "j-1", bench.driver(&["launch=_Z5scalePf*3"])),
        ("rocm", "j-2", hip.to_vec()),
    ] {
        let mut run = bench.command(HOST);
        run.args(["run", "--step", "demo", "--backend", backend, "--"])
            .args(command)
            .env("ROCM_PATH", bench.path("rocm"))
            .env("BUILDKITE_JOB_ID", job)
            .env("BUILDKITE_COMMIT", COMMIT)
            .env("BUILDKITE_BUILD_NUMBER", build);
        assert_quiet(&run.output().unwrap(), 0);
    }
    write_map(&bench, "cuda", "_Z5scalePf", "");
    write_map(&bench, "rocm", "_Z4scaleILi2EEvPf", "");
    bench
}

fn write_map(bench: &Bench, backend: &str, symbol: &str, more: &str) {
    let map = format!(
        r#"{{"version":2,"backend":"{backend}","commit":"{COMMIT}","generated_at":"2030-01-01T00:00:00+00:00",
            "incomplete":false,"errors":[],"build_dirs":["build"],{more}"objects":[{{"source":"src/scale.cu",
            "target":"t","object":"scale.o","device":true,"symbols":["{symbol}"],"deps":["src/scale.cu"]}}]}}"#
    );
    fs_err::write(bench.path(&format!("{backend}.json")), map).unwrap();
}

fn kernrec(bench: &Bench, args: &[&str]) -> Output {
    let mut command: Command = bench.command(HOST);
    command.args(args).output().unwrap()
}

fn publish(bench: &Bench, build: &str) -> Output {
    kernrec(
        bench,
        &[
            "publish",
            "--store",
            "store",
            "--commit",
            COMMIT,
            "--build",
            build,
            "--recordings",
            ".kernrec",
            "--symbol-map",
            "cuda.json",
            "--symbol-map",
            "rocm.json",
        ],
    )
}

fn pointer(bench: &Bench, backend: &str) -> serde_json::Value {
    let path = bench.path(&format!("store/pointers/ci/{backend}.json"));
    serde_json::from_slice(&fs_err::read(path).unwrap()).unwrap()
}

#[test]
fn one_publish_moves_a_pointer_for_each() {
    let bench = recorded("1");
    let published = publish(&bench, "1");
    assert_eq!(shell_status(&published), 0, "{}", text(&published.stderr));
    for backend in ["cuda", "rocm"] {
        assert_eq!(pointer(&bench, backend)["generation"], 1, "{backend}");
    }
    let fetched = kernrec(&bench, &["fetch", "--url", "store"]);
    assert_eq!(shell_status(&fetched), 0, "{}", text(&fetched.stderr));
    let verified = kernrec(&bench, &["verify", "installed"]);
    assert_eq!(shell_status(&verified), 0, "{}", text(&verified.stderr));
    // Both saw the step launch a kernel of the file.
    let select = ["select", "--changed-file", "src/scale.cu"];
    let selected = text(&kernrec(&bench, &select).stderr);
    for backend in ["cuda", "rocm"] {
        assert!(selected.contains(backend), "{selected}");
    }
}

#[test]
fn one_that_is_refused_leaves_the_other_alone() {
    for (broken, whole) in [("rocm", "cuda"), ("cuda", "rocm")] {
        let bench = recorded("2");
        assert_eq!(shell_status(&publish(&bench, "1")), 0);
        let before = pointer(&bench, broken);
        write_map(&bench, broken, "_Z5scalePf", r#""reason":"no-objects","#);
        let published = publish(&bench, "2");
        assert_eq!(shell_status(&published), 3, "{}", text(&published.stdout));
        let said = text(&published.stdout) + &text(&published.stderr);
        assert!(said.contains("map-refused"), "{said}");
        assert_eq!(pointer(&bench, broken), before);
        assert_eq!(pointer(&bench, whole)["generation"], 2);
        assert_eq!(pointer(&bench, whole)["current"]["build"], 2);
    }
}
