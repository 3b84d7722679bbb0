//! `kernrec select`.

use crate::context::{Context, ggml, repository};
use std::fmt::Write;

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
        ("write", vec!["--changed-file", "a.cu", "--write", "keys=x"]),
        ("range", vec!["--diff", "main"]),
        ("both", vec!["--changed-file", "a.cu", "--diff", "a...b"]),
    ] {
        let ran = context.run(context.command().arg("select").args(args));
        assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{ran}");
        insta::assert_snapshot!(format!("select_usage_{name}"), ran.stderr);
    }
}

/// The example's change, in a clone in the folder `ggml`: a kernel of `rope.cu`, and a page of the docs.
fn with_change() -> Context {
    let context = Context::fetched();
    let script = repository().join("scripts/example-change.sh");
    let status = std::process::Command::new(script)
        .arg(context.path("ggml"))
        .status()
        .unwrap();
    assert!(status.success());
    context
}

const CHANGE: [&str; 5] = [
    "select",
    "--diff",
    "d99724f2b141fed9e1a9f402213506c081433465...topic",
    "--repo",
    "ggml",
];

fn pipeline() -> String {
    ggml("pipeline.yml")
}

#[test]
fn a_diff_with_a_step_file_skips_what_it_cannot_reach() {
    let context = with_change();
    let ran = context.run(
        context
            .command()
            .args(CHANGE)
            .args(["--steps", &pipeline()]),
    );
    insta::assert_snapshot!("select_diff_steps", ran);
}

#[test]
fn a_diff_without_a_step_file_is_held_by_the_file_outside_the_map() {
    let context = with_change();
    let ran = context.run(context.command().args(CHANGE));
    assert_eq!((ran.status, ran.stdout.as_str()), (6, ""), "{ran}");
    assert!(
        ran.stderr
            .contains("selected-by-a-file-outside-the-map (127)"),
        "{ran}"
    );
}

#[test]
fn what_cannot_be_read_runs_everything_and_says_why() {
    let context = with_change();
    context.write("broken.yml", "steps: [");
    context.write("not-utf8.yml", b"\xff");
    let cut = std::process::Command::new("git")
        .args(["clone", "-q", "--depth", "1"])
        .arg(format!("file://{}", context.path("ggml").display()))
        .arg(context.path("shallow"))
        .status()
        .unwrap();
    assert!(cut.success());
    for (args, word) in [
        (
            vec!["--diff", "absent...topic", "--repo", "ggml"],
            "revision-unknown",
        ),
        (
            vec!["--diff", "a...b", "--repo", "nowhere"],
            "repository-unusable",
        ),
        (
            vec!["--diff", "main...topic", "--repo", "shallow"],
            "revision-unknown",
        ),
        (
            vec!["--diff", "topic...topic", "--repo", "ggml"],
            "no-changed-file",
        ),
        (
            vec!["--changed-file", "a", "--steps", "absent.yml"],
            "file-error",
        ),
        (
            vec!["--changed-file", "a", "--steps", "broken.yml"],
            "step-file-malformed",
        ),
        (
            vec!["--changed-file", "a", "--steps", "not-utf8.yml"],
            "step-file-malformed",
        ),
    ] {
        for format in ["text", "json", "keys"] {
            let ran = context.run(
                context
                    .command()
                    .arg("select")
                    .args(&args)
                    .args(["--format", format]),
            );
            assert_eq!((ran.status, ran.stdout.as_str()), (6, ""), "{ran}");
            assert!(
                ran.stderr
                    .contains(&format!("every step must run: {word}: ")),
                "{ran}"
            );
        }
    }
}

#[test]
fn a_record_installed_without_the_required_signature_only_adds() {
    let context = Context::fetched();
    let key = |name: &str| {
        for args in [
            vec!["genpkey", "-algorithm", "ed25519", "-out", "secret.pem"],
            vec!["pkey", "-in", "secret.pem", "-pubout", "-out", name],
        ] {
            let made = std::process::Command::new("openssl")
                .args(args)
                .current_dir(context.path("."))
                .output()
                .unwrap();
            assert!(made.status.success(), "{made:?}");
        }
    };
    key("public.pem");
    let ran = context.kernrec([
        "select",
        "--changed-file",
        "src/ggml-cuda/rope.cu",
        "--require-key",
        "public.pem",
        "--format",
        "keys",
    ]);
    assert_eq!((ran.status, ran.stdout.as_str()), (6, ""), "{ran}");
    assert!(ran.stderr.contains("record-unverified (125)"), "{ran}");
    assert!(
        ran.stderr
            .contains("it was installed without a verified signature"),
        "{ran}"
    );
}

#[test]
fn a_pipeline_is_printed_with_its_skips() {
    let context = with_change();
    let mut command = context.command();
    command
        .args(CHANGE)
        .args(["--steps", &pipeline(), "--format", "buildkite"]);
    let ran = context.run(&mut command);
    assert_eq!(ran.status, 0, "{ran}");
    let given = fs_err::read_to_string(pipeline()).unwrap();
    let added: Vec<&str> = ran
        .stdout
        .lines()
        .filter(|line| line.contains("skip: \""))
        .collect();
    assert_eq!(added.len(), 126);
    assert_eq!(
        added[0],
        "      - skip: \"launched no kernel from a changed file (cuda d99724f2)\""
    );
    // All else is the file.
    let without: String = ran
        .stdout
        .split_inclusive('\n')
        .filter(|line| !line.contains("skip: \""))
        .collect();
    assert_eq!(
        without.replace("        label:", "      - label:"),
        given.replace("        label:", "      - label:")
    );
    let ran = context.run(
        context
            .command()
            .args(CHANGE)
            .args(["--format", "buildkite"]),
    );
    assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{ran}");
}

#[test]
fn a_job_of_github_gets_a_summary_and_outputs() {
    let context = with_change();
    let select = |file: &str| {
        let mut command = context.command();
        command.args(["select", "--changed-file", file, "--format", "github"]);
        command
    };
    let rope = "src/ggml-cuda/rope.cu";
    let ran = context.run(&mut select(rope));
    assert!(
        ran.stdout.starts_with("<!-- kernrec-selection -->\n"),
        "{ran}"
    );
    assert!(
        ran.stdout
            .contains("\neverything-must-run=false\nkeys=[\"op-"),
        "{ran}"
    );
    let files = [
        context.write("summary", "before\n"),
        context.path("outputs"),
    ];
    let mut commands = [select(rope), select("README.md")];
    for (command, status) in commands.iter_mut().zip([0, 6]) {
        command
            .env("GITHUB_STEP_SUMMARY", &files[0])
            .env("GITHUB_OUTPUT", &files[1]);
        let ran = context.run(command);
        assert_eq!((ran.status, ran.stdout.as_str()), (status, ""), "{ran}");
    }
    let [summary, outputs] = files.map(|file| fs_err::read_to_string(file).unwrap());
    assert!(
        summary.starts_with("before\n<!-- kernrec-selection -->\n**kernrec: 125 of 129"),
        "{summary}"
    );
    assert!(
        summary.contains("**kernrec: everything must run.**"),
        "{summary}"
    );
    assert!(
        outputs.ends_with("]\neverything-must-run=true\nkeys=\nskip=\n"),
        "{outputs}"
    );
}

#[test]
fn the_answer_can_be_written_to_files_even_when_everything_must_run() {
    let context = with_change();
    let run = |args: &[&str], status: i32| {
        let mut command = context.command();
        command.arg("select").args(args);
        for form in ["text", "json", "markdown"] {
            command.args(["--write", &format!("{form}=answer.{form}")]);
        }
        let ran = context.run(&mut command);
        assert_eq!(ran.status, status, "{ran}");
        ["text", "json", "markdown"]
            .map(|form| fs_err::read_to_string(context.path(&format!("answer.{form}"))).unwrap())
    };
    let [text, json, markdown] = run(&["--changed-file", "src/ggml-cuda/rope.cu"], 0);
    assert!(text.starts_with("129 steps recorded"));
    assert!(markdown.contains("125 of 129"));
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["counts"]["skipped"], 125);
    let [text, json, markdown] = run(&["--diff", "absent...topic", "--repo", "ggml"], 6);
    assert!(
        text.starts_with("Everything must run: revision-unknown: `absent`"),
        "{text}"
    );
    assert!(
        markdown.contains("everything must run.** revision-unknown"),
        "{markdown}"
    );
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["everything_must_run"], true);
    assert_eq!(json["stopped"]["reason"], "revision-unknown");
}

#[test]
fn a_comment_is_printed_the_same_twice() {
    let context = with_change();
    let ran = || {
        context.run(context.command().args(CHANGE).args([
            "--steps",
            &pipeline(),
            "--format",
            "markdown",
        ]))
    };
    let first = ran();
    assert_eq!(first.status, 0, "{first}");
    assert_eq!(first.stdout, ran().stdout);
    assert!(
        first.stdout.contains("- change from `d99724f2b141` to `"),
        "{first}"
    );
}

#[test]
fn a_change_of_fifty_thousand_files_runs_everything() {
    let context = with_change();
    let git = |args: &[&str], input: String| {
        let mut command = assert_cmd::Command::new("git");
        command.args([
            "-C",
            "ggml",
            "-c",
            "user.name=t",
            "-c",
            "user.email=t@localhost",
        ]);
        let ran = command
            .args(args)
            .current_dir(context.path("."))
            .write_stdin(input)
            .output()
            .unwrap();
        assert!(ran.status.success(), "{ran:?}");
        String::from_utf8(ran.stdout).unwrap().trim().to_owned()
    };
    let blob = git(&["hash-object", "-w", "--stdin"], String::new());
    let mut index = String::new();
    for number in 0..50_000 {
        writeln!(index, "100644 {blob}\tfile-{number}.cu").unwrap();
    }
    git(&["update-index", "--index-info"], index);
    git(&["commit", "-q", "-m", "a new tree"], String::new());
    let ran = context.kernrec([
        "select",
        "--diff",
        "HEAD~1...HEAD",
        "--repo",
        "ggml",
        "--format",
        "keys",
    ]);
    assert_eq!((ran.status, ran.stdout.as_str()), (6, ""), "{ran}");
    assert!(
        ran.stderr
            .contains("every step must run: too-many-changed-files: 50000 files changed"),
        "{ran}"
    );
}
