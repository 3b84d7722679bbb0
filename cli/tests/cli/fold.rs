//! `kernrec fold`.

use crate::context::{COMMIT, Context, Ran, ggml};
use crate::documents;

fn fold<const N: usize>(context: &Context, more: [&str; N]) -> Ran {
    let mut command = context.command();
    command.args([
        "fold",
        "--backend",
        "cuda",
        "--commit",
        COMMIT,
        "--build",
        "1001",
    ]);
    context.run(command.args(more))
}

#[test]
fn folders_and_bundles_fold_to_the_same_bytes() {
    let context = Context::new();
    let recordings = ggml("recordings");
    let time = ["--recorded-at", "2026-11-30T00:00:00Z"];
    let ran = fold(
        &context,
        [
            "--recordings",
            &recordings,
            "--out",
            "raw.json.zst",
            time[0],
            time[1],
        ],
    );
    insta::assert_snapshot!(ran);
    context.kernrec(["pack", &recordings, "--out", "bundles"]);
    let ran = fold(
        &context,
        [
            "--recordings",
            "bundles",
            "--out",
            "packed.json",
            time[0],
            time[1],
        ],
    );
    assert_eq!(ran.status, 0, "{ran}");
    let ran = context.kernrec(["verify", "files", "raw.json.zst", "packed.json"]);
    assert_eq!(ran.status, 0, "{ran}");
    let ran = context.kernrec(["diff", "raw.json.zst", "packed.json"]);
    assert_eq!(ran.status, 0, "{ran}");
}

#[test]
fn the_time_comes_from_the_flag_or_the_variable_and_never_from_the_clock() {
    let context = Context::new();
    let recordings = ggml("recordings");
    let ran = fold(
        &context,
        ["--recordings", &recordings, "--out", "table.json"],
    );
    assert_eq!(ran.status, 2, "{ran}");
    assert!(ran.stderr.contains("--recorded-at"), "{ran}");
    for (value, status) in [("1893456000", 0), ("yesterday", 2)] {
        let mut command = context.command();
        command.args([
            "fold",
            "--backend",
            "cuda",
            "--commit",
            COMMIT,
            "--build",
            "1",
        ]);
        command.args(["--recordings", &recordings, "--out", "table.json"]);
        let ran = context.run(command.env("SOURCE_DATE_EPOCH", value));
        assert_eq!(ran.status, status, "{ran}");
        assert_eq!(
            ran.stdout.contains("2030-01-01T00:00:00Z"),
            status == 0,
            "{ran}"
        );
    }
}

#[test]
fn bad_input_writes_nothing() {
    let context = Context::new();
    context.write("good/j-1/kernrec.json", documents::SIDECAR);
    context.write("good/j-1/kern.310.txt", documents::RECORDING);
    context.write("broken/x.tar.zst", "no bundle");
    context.write("jobs.json", "{}");
    fs_err::create_dir(context.path("empty")).unwrap();
    let before = context.files();
    let time = ["--recorded-at", "2030-01-01T00:00:00Z"];
    for (name, status, args) in [
        ("empty", 3, "--recordings empty"),
        ("absent", 1, "--recordings absent"),
        ("no_bundle", 1, "--bundle absent.tar.zst"),
        ("nothing", 2, ""),
        ("unreadable", 3, "--recordings good --recordings broken"),
        ("bad_jobs", 1, "--recordings good --jobs jobs.json"),
        ("bad_time", 2, "--recordings good --recorded-at noon"),
    ] {
        let mut command = context.command();
        command.args("fold --backend cuda --commit c0de --build 12 --out table.json".split(' '));
        if name != "bad_time" {
            command.args(time);
        }
        let ran = context.run(command.args(args.split_whitespace()));
        assert_eq!(
            (ran.status, ran.stdout.as_str()),
            (status, ""),
            "{name}: {ran}"
        );
        insta::assert_snapshot!(format!("fold_bad_{name}"), ran.stderr);
    }
    let ran = fold(
        &context,
        [
            "--recordings",
            "good",
            "--out",
            "no/such/table",
            time[0],
            time[1],
        ],
    );
    assert_eq!(ran.status, 1, "{ran}");
    assert!(ran.stderr.contains("`no/such/table`"), "{ran}");
    assert_eq!(context.files(), before);
}

#[test]
fn a_broken_bundle_is_accepted_only_when_asked_for() {
    let context = Context::new();
    context.write("jobs/j-1/kernrec.json", documents::SIDECAR);
    context.write("jobs/j-1/kern.310.txt", documents::RECORDING);
    context.write("jobs/x.tar.zst", "no bundle");
    let time = ["--recorded-at", "2030-01-01T00:00:00Z"];
    let ran = fold(
        &context,
        [
            "--recordings",
            "jobs",
            "--out",
            "t",
            time[0],
            time[1],
            "--allow-unreadable",
        ],
    );
    assert_eq!(ran.status, 0, "{ran}");
    assert!(ran.stdout.contains("jobs/x.tar.zst"), "{ran}");
}
