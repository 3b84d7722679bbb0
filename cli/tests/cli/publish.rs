//! `kernrec publish`.

use crate::context::{COMMIT, Context, ggml};
use crate::documents;

#[test]
fn the_real_record_is_published_once_and_then_unchanged() {
    let context = Context::new();
    insta::assert_snapshot!("published", context.publish([]));
    let ran = context.publish([]);
    assert_eq!(ran.status, 0, "{ran}");
    assert!(ran.stdout.starts_with("cuda: unchanged\n"), "{ran}");
}

#[test]
fn json_is_the_report() {
    let context = Context::new();
    let ran = context.publish(["--json"]);
    let report: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(report["backends"][0]["outcome"], "published", "{ran}");
    assert_eq!(report["backends"][0]["counts"]["rows"], 129, "{ran}");
}

#[test]
fn commit_and_build_come_from_the_environment_unless_given() {
    let context = Context::new();
    let (recordings, map) = (ggml("recordings"), ggml("kernel_symbol_map.json.gz"));
    let prepare = || {
        let mut command = context.command();
        command.args(["publish", "--store", "store", "--bundles", "none"]);
        command.args(["--recordings", &recordings, "--symbol-map", &map]);
        command
    };
    let ran = context.run(&mut prepare());
    assert_eq!(ran.status, 2, "{ran}");
    insta::assert_snapshot!("publish_without_commit", ran.stderr);
    let ran = context.run(
        prepare()
            .env("BUILDKITE_COMMIT", COMMIT)
            .env("BUILDKITE_BUILD_NUMBER", ""),
    );
    assert_eq!(ran.status, 2, "{ran}");
    assert!(ran.stderr.contains("BUILDKITE_BUILD_NUMBER"), "{ran}");
    let ran = context.run(
        prepare()
            .env("BUILDKITE_COMMIT", COMMIT)
            .env("BUILDKITE_BUILD_NUMBER", "x1"),
    );
    assert_eq!(ran.status, 2, "{ran}");
    assert!(ran.stderr.contains("`x1`"), "{ran}");
    assert!(!context.path("store").exists());
    let ran = context.run(
        prepare()
            .args(["--build", "1001"])
            .env("BUILDKITE_COMMIT", COMMIT)
            .env("BUILDKITE_BUILD_NUMBER", "7"),
    );
    assert_eq!(ran.status, 0, "{ran}");
    assert!(ran.stdout.contains("1001"), "{ran}");
}

#[test]
fn another_branch_publishes_nothing_and_is_no_error() {
    let context = Context::new();
    for (branch, variable) in [
        (Some("topic"), None),
        (None, Some(("BUILDKITE_BRANCH", "topic"))),
        (None, Some(("GITHUB_REF_NAME", "topic"))),
        (None, None),
    ] {
        let mut command = context.command();
        // Nothing else is looked at: neither the recordings nor the map exist.
        command.args([
            "publish", "--store", "store", "--commit", COMMIT, "--build", "1",
        ]);
        command.args([
            "--recordings",
            "absent",
            "--symbol-map",
            "absent",
            "--only-branch",
            "main",
        ]);
        command.args(branch.iter().flat_map(|branch| ["--branch", branch]));
        if let Some((name, value)) = variable {
            command.env(name, value);
        }
        let ran = context.run(&mut command);
        assert_eq!((ran.status, ran.stdout.as_str()), (0, ""), "{ran}");
        assert!(ran.stderr.contains("nothing published"), "{ran}");
    }
    assert!(context.files().is_empty());
    let ran = context.publish(["--only-branch", "main", "--branch", "main"]);
    assert_eq!(ran.status, 0, "{ran}");
}

#[test]
fn a_pull_request_publishes_nothing_whatever_its_branch_is_called() {
    let only = ["--only-branch", "main"];
    let said = ["--only-branch", "main", "--branch", "main"];
    for (variable, value, options, publishes) in [
        ("BUILDKITE_PULL_REQUEST", "7", only.as_slice(), false),
        ("BUILDKITE_PULL_REQUEST", "7", &said, false),
        ("BUILDKITE_PULL_REQUEST", "true", &only, false),
        ("BUILDKITE_PULL_REQUEST", "7", &[], true),
        ("BUILDKITE_PULL_REQUEST", "false", &only, true),
        ("BUILDKITE_PULL_REQUEST", "", &only, true),
        ("GITHUB_EVENT_NAME", "pull_request", &only, false),
        ("GITHUB_EVENT_NAME", "pull_request_target", &only, false),
        ("GITHUB_EVENT_NAME", "pull_request_target", &said, false),
        ("GITHUB_EVENT_NAME", "push", &only, true),
        ("GITHUB_EVENT_NAME", "", &only, true),
    ] {
        let context = Context::new();
        let mut command = context.publisher();
        command
            .env("BUILDKITE_BRANCH", "main")
            .env(variable, value)
            .args(options);
        let ran = context.run(&mut command);
        let case = format!("{variable}={value} {options:?}: {ran}");
        assert_eq!(ran.status, 0, "{case}");
        let pointer = context.path("store/pointers/ci/cuda.json");
        assert_eq!(pointer.is_file(), publishes, "{case}");
        let said = "nothing published: the branch is `main of a pull request`";
        assert_eq!(ran.stderr.contains(said), !publishes, "{case}");
    }
}

#[test]
fn a_gate_refuses_with_its_word_and_the_pointer_stays() {
    let context = Context::published();
    let pointer = fs_err::read(context.path("store/pointers/ci/cuda.json")).unwrap();
    let ran = context.publish(["--expected-jobs", "1000", "--build", "1002"]);
    // A flag given twice is a mistake, not a choice.
    assert_eq!(ran.status, 2, "{ran}");
    let ran = context.publish(["--expected-jobs", "1000"]);
    insta::assert_snapshot!("publish_too_few_jobs", ran);
    assert_eq!(
        fs_err::read(context.path("store/pointers/ci/cuda.json")).unwrap(),
        pointer
    );
}

#[test]
fn a_dry_run_writes_nothing() {
    let context = Context::published();
    let before = context.files();
    let ran = context.publish(["--dry-run"]);
    assert_eq!(ran.status, 0, "{ran}");
    assert_eq!(context.files(), before);
}

#[test]
fn bad_input_creates_no_store() {
    let context = Context::new();
    context.write("map", documents::MAP);
    context.write("table", documents::TABLE);
    context.write("cut.json", &documents::TABLE[..50]);
    let before = context.files();
    for (name, status, args) in [
        ("no_map", 2, "--table table"),
        ("absent_map", 1, "--table table --symbol-map absent"),
        ("cut_table", 1, "--table cut.json --symbol-map map"),
        (
            "two_sources",
            2,
            "--table table --recordings x --symbol-map map",
        ),
        (
            "bad_share",
            2,
            "--table table --symbol-map map --min-delivered 1.5",
        ),
        ("bad_commit", 2, "--commit a/b"),
        (
            "absent_recordings",
            1,
            "--recordings absent --symbol-map map",
        ),
        (
            "bad_scheme",
            2,
            "--store ftp://x/y --table table --symbol-map map",
        ),
    ] {
        let mut command = context.command();
        command.args(["publish", "--build", "12"]);
        if !args.contains("--store") {
            command.args(["--store", "store"]);
        }
        if !args.contains("--commit") {
            command.args(["--commit", "c0de"]);
        }
        let ran = context.run(command.args(args.split(' ')));
        let outcome = (ran.status, ran.stdout.as_str());
        assert_eq!(outcome, (status, ""), "{name}: {ran}");
        insta::assert_snapshot!(format!("publish_bad_{name}"), ran.stderr);
    }
    assert_eq!(context.files(), before);
}

#[test]
fn the_program_of_its_own_is_the_same_command() {
    let context = Context::new();
    let mut command = assert_cmd::Command::new(env!("CARGO_BIN_EXE_kernrec-publish"));
    command.current_dir(context.path("."));
    let (recordings, map) = (ggml("recordings"), ggml("kernel_symbol_map.json.gz"));
    command.args([
        "--store",
        "store",
        "--commit",
        COMMIT,
        "--build",
        "1001",
        "--dry-run",
    ]);
    fs_err::create_dir(context.path("store")).unwrap();
    let ran = context.run(command.args(["--recordings", &recordings, "--symbol-map", &map]));
    assert_eq!(ran.status, 0, "{ran}");
    assert!(
        ran.stdout.starts_with("cuda: would be published\n"),
        "{ran}"
    );
}
