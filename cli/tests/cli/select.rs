//! `kernrec select`.

use crate::context::Context;

#[test]
fn a_kernel_source_selects_its_steps_and_lets_the_others_go() {
    let context = Context::fetched();
    insta::assert_snapshot!(
        "select_rope",
        context.kernrec(["select", "--changed-file", "src/ggml-cuda/rope.cu"])
    );
    let ran = context.kernrec([
        "select",
        "--changed-file",
        "src/ggml-cuda/rope.cu",
        "--format",
        "keys",
    ]);
    insta::assert_snapshot!("select_rope_keys", ran);
    let ran = context.kernrec([
        "select",
        "--changed-file",
        "src/ggml-cuda/rope.cu",
        "--format",
        "json",
    ]);
    let report: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(report["schema"], "kernrec.selection/1");
    assert_eq!(report["counts"]["skipped"], 125);
}

#[test]
fn when_everything_must_run_stdout_is_empty() {
    let context = Context::fetched();
    for file in [
        "src/ggml-cuda/mmq.cu",
        "README.md",
        "src/ggml-cuda/common.cuh",
    ] {
        for format in ["text", "json", "keys"] {
            let ran = context.kernrec(["select", "--changed-file", file, "--format", format]);
            assert_eq!((ran.status, ran.stdout.as_str()), (6, ""), "{ran}");
            assert!(ran.stderr.contains("Everything must run"), "{ran}");
        }
    }
}

#[test]
fn a_backend_that_was_asked_for_and_is_not_there_lets_nothing_go() {
    let context = Context::fetched();
    let file = "src/ggml-cuda/rope.cu";
    let ran = context.kernrec(["select", "--changed-file", file, "--backend", "rocm"]);
    assert_eq!((ran.status, ran.stdout.as_str()), (6, ""), "{ran}");
    assert!(ran.stderr.contains("never-installed"), "{ran}");
}

#[test]
fn nothing_installed_means_that_everything_must_run() {
    let context = Context::new();
    let ran = context.kernrec(["select", "--changed-file", "a.cu", "--format", "keys"]);
    insta::assert_snapshot!("select_nothing_installed", ran);
}

#[test]
fn a_damaged_record_lets_nothing_go() {
    let context = Context::fetched();
    let path = context.path("coverage-data/cuda/kernel_table.json.zst");
    let mut bytes = fs_err::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs_err::write(&path, bytes).unwrap();
    let ran = context.kernrec([
        "select",
        "--changed-file",
        "src/ggml-cuda/rope.cu",
        "--format",
        "keys",
    ]);
    assert_eq!((ran.status, ran.stdout.as_str()), (6, ""), "{ran}");
    assert!(ran.stderr.contains("installed-damaged"), "{ran}");
}

#[test]
fn usage_errors() {
    let context = Context::new();
    for (name, args) in [
        ("no_file", vec![]),
        ("parent", vec!["--changed-file", "../a.cu"]),
        ("empty", vec!["--changed-file", ""]),
        ("format", vec!["--changed-file", "a.cu", "--format", "xml"]),
    ] {
        let ran = context.run(context.command().arg("select").args(args));
        assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{ran}");
        insta::assert_snapshot!(format!("select_usage_{name}"), ran.stderr);
    }
}
