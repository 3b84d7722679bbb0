//! `kernrec run`, `env` and `finish` as command lines. What they do to real workloads is tested with the
//! recorder, in `recorder/setup-tests`.

use crate::context::Context;

#[test]
fn mistakes_are_usage_errors_and_nothing_runs() {
    let context = Context::new();
    for (name, args) in [
        ("run_without_command", vec!["run", "--step", "x"]),
        ("run_without_dashes", vec!["run", "touch", "ran"]),
        (
            "run_bad_backend",
            vec!["run", "--backend", "opencl", "--", "touch", "ran"],
        ),
        (
            "run_bad_period",
            vec!["run", "--flush-ms", "3600001", "--", "touch", "ran"],
        ),
        ("env_with_command", vec!["env", "--", "touch", "ran"]),
        ("finish_unknown_flag", vec!["finish", "--state", "0"]),
    ] {
        let ran = context.run(context.command().args(args));
        assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{ran}");
        insta::assert_snapshot!(format!("usage_{name}"), ran.stderr);
    }
    assert_eq!(context.files(), []);
}

#[test]
fn the_status_is_the_commands() {
    let context = Context::new();
    let mut command = context.command();
    command
        .args(["run", "--backend", "rocm", "--"])
        .args(["sh", "-c", "echo out; exit 41"])
        .env("KERNREC_LIB_DIR", "nowhere");
    let ran = context.run(&mut command);
    assert_eq!((ran.status, ran.stdout.as_str()), (41, "out\n"), "{ran}");
    insta::assert_snapshot!("run_unrecorded", ran.stderr);
}

#[test]
fn where_nothing_can_be_recorded_only_the_session_is_named() {
    let context = Context::new();
    let ran = context.kernrec(["env", "--backend", "rocm"]);
    assert_eq!(ran.status, 0, "{ran}");
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert!(
        lines.len() == 1 && lines[0].starts_with("export KERNREC_SESSION='"),
        "{ran}"
    );
}

#[test]
fn finish_always_ends_well() {
    let ran = Context::new().kernrec(["finish", "--status", "1"]);
    assert_eq!((ran.status, ran.stdout.as_str()), (0, ""), "{ran}");
    insta::assert_snapshot!("finish_nothing", ran.stderr);
}
