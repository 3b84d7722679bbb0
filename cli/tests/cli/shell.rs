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

#[test]
fn names_of_files_cannot_steer_a_terminal() {
    let context = Context::new();
    let name = "a\u{1b}[31m\u{7}\u{9b}b";
    context.write(name, "{}");
    for command in ["show", "audit"] {
        let ran = context.kernrec([command, name]);
        assert_eq!(ran.status, 1, "{ran}");
        assert!(ran.stderr.contains(r"a\u{1b}[31m\u{7}\u{9b}b"), "{ran}");
        let steers = |c: char| c.is_control() && c != '\n';
        assert!(!ran.stderr.contains(steers), "{ran}");
    }
}

#[test]
fn nobody_waits_for_a_fifo() {
    let context = Context::new();
    let table = context.write("table.json", crate::documents::TABLE);
    let mut mkfifo = std::process::Command::new("mkfifo");
    assert!(mkfifo.arg(context.path("fifo")).status().unwrap().success());
    for command in ["show", "audit"] {
        let ran = context.kernrec([command, "fifo"]);
        assert_eq!(ran.status, 1, "{ran}");
        assert!(ran.stderr.contains("is a FIFO"), "{ran}");
    }
    let ran = context.kernrec(["diff", "table.json", "fifo"]);
    assert_eq!(ran.status, 1, "{ran}");
    let ran = context.kernrec(["verify", "files", "fifo", "table.json"]);
    assert_eq!(ran.status, 1, "{ran}");
    // What a shell puts in place of `<(...)` is a link to a pipe that has its writer.
    let mut piped = assert_cmd::Command::new("bash");
    let script = format!(
        "exec '{}' diff <(cat '{table}') '{table}'",
        env!("CARGO_BIN_EXE_kernrec"),
        table = table.display()
    );
    let ran = context.run(piped.arg("-c").arg(script));
    assert_eq!(ran.status, 0, "{ran}");
}

#[test]
fn names_of_others_cannot_steer_the_terminal() {
    let context = Context::fetched();
    let hostile = "a\u{1b}[2J\u{202e}\rb";
    context.write(hostile, format!("# kernrec v1\n{hostile}\n"));
    for args in [
        vec!["show", hostile],
        vec!["show", "absent\u{1b}[2J"],
        vec!["verify", "files", hostile, "absent\u{1b}[2J"],
        vec!["fetch", "--url", "absent\u{1b}[2J"],
        vec!["fetch", "--url", "store", "--out", hostile],
        vec!["select", "--changed-file", hostile],
        vec!["select", "--changed-file", "a.cu", "--data", hostile],
        vec!["pack", hostile, "--out", "bundles"],
    ] {
        let ran = context.run(context.command().args(&args));
        let said = format!("{}{}", ran.stdout, ran.stderr);
        assert!(
            !said.contains(['\u{1b}', '\u{202e}', '\r']) && said.contains("\\u{1b}[2J"),
            "{args:?}: {ran}"
        );
    }
}
