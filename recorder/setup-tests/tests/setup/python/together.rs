//! Kernels and Python in one job: one bundle, and neither feels the other's failure.

use super::bench::{MODES, PRINTED, Step};
use crate::bench::{HOST, library, read_bundle, shell_status, text};
use crate::pythons;
use kernrec_schemas::recording::ProcessState;
use kernrec_schemas::sidecar::Sidecar;
use std::process::{Command, Output};

/// A program of Python, then one of the fake driver, in one job with both recorders.
fn both(step: &Step, mode: &str) -> Command {
    let mut run = set_up(step, mode, "python main.py; exec \"$@\"");
    run.args(step.bench.driver(&["launch=_Z5firstv*3"]));
    run
}

fn set_up(step: &Step, mode: &str, script: &str) -> Command {
    let mut run = step.command(HOST);
    run.args([
        "run",
        "--step",
        "demo",
        "--backend",
        "cuda",
        "--python",
        mode,
        "--",
    ])
    .args(["sh", "-ec", script, "sh"])
    .env("BUILDKITE_JOB_ID", "j-1")
    .env("BUILDKITE_COMMIT", "c0ffee");
    run
}

fn assert_ran(output: &Output) {
    assert_eq!(shell_status(output), 0, "{output:?}");
    assert_eq!(text(&output.stdout), PRINTED);
}

/// The sidecar and the clean recordings of kernels in the one bundle.
fn kernels(step: &Step) -> (Sidecar, usize) {
    let bundles = step.bench.bundles();
    let bundle = read_bundle(&bundles[0]);
    let clean = |left: &&crate::bench::Left| left.state == ProcessState::Clean;
    let recordings = bundle.recordings.iter().filter(clean);
    let named = recordings.filter(|left| left.names == ["_Z5firstv"]);
    (bundle.sidecar, named.count())
}

#[test]
fn one_bundle_holds_both() {
    for python in pythons::recorded() {
        for mode in MODES {
            let step = Step::new(python);
            let output = both(&step, mode).output().unwrap();
            assert_ran(&output);
            assert_eq!(text(&output.stderr), "");
            step.left().assert_recorded(1);
            let (sidecar, recordings) = kernels(&step);
            assert_eq!((sidecar.collection_available, recordings), (Some(true), 1));
            assert_eq!(sidecar.exit_status, Some(0));
            let mut audit = step.command(HOST);
            let said = text(&audit.args(["audit", ".kernrec"]).output().unwrap().stdout);
            let usable = |line: &str| line.split_whitespace().eq(["usable", "1"]);
            assert!(said.lines().any(usable), "{said}");
        }
    }
}

#[test]
fn python_is_recorded_where_kernels_are_not() {
    for mode in MODES {
        let step = Step::new(&pythons::recorded()[0]);
        let folder = step.bench.path("libraries");
        fs_err::create_dir(&folder).unwrap();
        let name = "libkernrec_python_extension.so";
        fs_err::copy(library(name), folder.join(name)).unwrap();
        // The fake driver ends where it finds no recorder.
        let output = set_up(&step, mode, "python main.py")
            .env("KERNREC_LIB_DIR", &folder)
            .output()
            .unwrap();
        assert_ran(&output);
        step.left().assert_recorded(1);
        let (sidecar, recordings) = kernels(&step);
        let error = sidecar.collection_error.unwrap();
        assert!(error.starts_with("recorder-missing: "), "{error}");
        assert_eq!((recordings, sidecar.unrecorded_processes), (0, 1));
    }
}

#[test]
fn kernels_are_recorded_where_python_is_not() {
    for mode in MODES {
        let step = Step::new(&pythons::too_old()[0]);
        let output = both(&step, mode).output().unwrap();
        assert_ran(&output);
        let (sidecar, recordings) = kernels(&step);
        assert_eq!((sidecar.collection_error, recordings), (None, 1));
        assert_eq!(sidecar.unrecorded_processes, 0);
        let left = step.left();
        assert!(left.states.is_empty());
        let error = left.sidecar.collection_error.unwrap();
        assert!(error.starts_with("python-too-old: "), "{error}");
    }
}
