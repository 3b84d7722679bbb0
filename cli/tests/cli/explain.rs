//! `kernrec explain`.

use crate::context::{Context, Ran, ggml};

const ROPE: &str = "src/ggml-cuda/rope.cu";

fn explained(context: &Context, step: &str, file: &str) -> Ran {
    context.kernrec(["explain", "--step", step, "--file", file, "--rows", "3"])
}

#[test]
fn each_kind_of_end_is_explained() {
    let context = Context::fetched();
    for (name, step) in [
        ("selected", "op-rope"),
        ("skipped", "op-argsort"),
        ("kept", "op-flash-attn-ext"),
        ("no_row", "never-recorded"),
    ] {
        let ran = explained(&context, step, ROPE);
        insta::assert_snapshot!(format!("explain_{name}"), ran);
    }
}

/// What it says of a step is what `select` decides about it.
#[test]
fn it_agrees_with_select() {
    let context = Context::fetched();
    let format = ["--format", "json"];
    let ran = context.kernrec(["select", "--changed-file", ROPE, format[0], format[1]]);
    let report: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    for (list, must_run) in [("selected", true), ("kept", true), ("skipped", false)] {
        let steps = report[list].as_array().unwrap();
        assert!(!steps.is_empty(), "{list}");
        for decided in steps.iter().take(4) {
            let step = decided["step"].as_str().unwrap();
            let ran = context.kernrec(["explain", "--step", step, "--file", ROPE, "--json"]);
            let said: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
            assert_eq!(said["reason"], decided["reason"], "{step}");
            assert_eq!(said["must_run"], must_run, "{step}");
        }
    }
}

#[test]
fn with_the_recordings_the_processes_are_named() {
    let context = Context::fetched();
    let recordings = ggml("recordings");
    let ran = context.kernrec([
        "explain",
        "--step",
        "op-rope",
        "--file",
        ROPE,
        "--recordings",
        &recordings,
        "--json",
    ]);
    let said: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let processes = said["processes"].as_array().unwrap();
    assert_eq!(processes.len(), 1, "{said}");
    assert_eq!(processes[0]["state"], "clean");
    let launched = |of: &serde_json::Value| -> Vec<String> {
        let mut names: Vec<String> = serde_json::from_value(of.clone()).unwrap();
        names.sort();
        names
    };
    let kernels = said["kernels"].as_array().unwrap().iter();
    let of_row: Vec<String> = kernels
        .filter(|kernel| kernel["launched"] == true)
        .map(|kernel| kernel["kernel"].as_str().unwrap().to_owned())
        .collect();
    assert!(!of_row.is_empty());
    assert_eq!(launched(&processes[0]["launched"]), of_row);
}

#[test]
fn a_backend_that_cannot_be_had_stands_in_the_explanation() {
    let context = Context::fetched();
    let ran = context.kernrec([
        "explain",
        "--step",
        "op-argsort",
        "--file",
        ROPE,
        "--backend",
        "rocm",
        "--json",
    ]);
    let said: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(said["reason"], "pair-unavailable");
    assert_eq!(said["unavailable"][0]["reason"], "never-installed");
}

#[test]
fn what_cannot_be_explained_says_why() {
    let context = Context::new();
    insta::assert_snapshot!("explain_nothing_installed", explained(&context, "s", ROPE));
    let context = Context::fetched();
    let ran = explained(&context, "op-rope", "../rope.cu");
    assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{ran}");
}
