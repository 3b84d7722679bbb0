//! What holds for every command: streams, usage errors, a closed stdout.

use crate::context::{Context, ggml};
use std::process::{Command, Stdio};

#[test]
fn usage_errors_name_argument_and_value() {
    let context = Context::new();
    for (name, args) in [
        ("unknown_command", vec!["frobnicate"]),
        ("bad_number", vec!["show", "x", "--rows", "many"]),
        ("unknown_flag", vec!["show", "x", "--colour"]),
        ("missing_argument", vec!["diff", "a"]),
        ("nothing", vec![]),
    ] {
        let ran = context.run(context.command().args(args));
        assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{ran}");
        insta::assert_snapshot!(format!("usage_{name}"), ran.stderr);
    }
}

#[test]
fn help_and_version_go_to_stdout() {
    let context = Context::new();
    for flag in ["--help", "--version"] {
        let ran = context.kernrec([flag]);
        assert_eq!((ran.status, ran.stderr.as_str()), (0, ""), "{ran}");
        assert!(ran.stdout.contains("kernrec"), "{ran}");
    }
}

#[test]
fn a_reader_that_went_away_is_a_quiet_good_end() {
    let map = ggml("kernel_symbol_map.json.gz");
    let mut child = Command::new(env!("CARGO_BIN_EXE_kernrec"))
        .args(["show", &map, "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Closed before anything can be written: the map takes a while to read.
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn a_full_disk_under_stdout_is_a_failure() {
    let full = fs_err::OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_kernrec"))
        .args(["show", &ggml("kernel_symbol_map.json.gz")])
        .stdout(full.into_file())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("write to stdout"), "{stderr}");
}
