//! The function record in `select`, `explain` and `validate`: a change of the sample's project, from the repository to
//! the answer.

use crate::context::{Context, Ran, repository};
use std::path::PathBuf;
use std::process::Command;

fn sample(name: &str) -> PathBuf {
    repository().join("testdata/python-sample").join(name)
}

/// The sample's record, fetched to `coverage-data`, and its project in `clone`, in which texts were replaced since.
fn changed(edits: &[(&str, &str, &str)]) -> Context {
    let context = Context::new();
    let clone = context.path("clone");
    let output = Command::new(sample("commit.sh"))
        .arg(&clone)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let commit = String::from_utf8(output.stdout).unwrap();
    let recordings = sample("recordings");
    let recordings = ["--recordings", recordings.to_str().unwrap()];
    let mut publish = context.command();
    publish.args([
        "publish",
        "--store",
        "store",
        "--build",
        "1",
        "--commit",
        commit.trim(),
        "--recorded-at",
        "2030-01-01T00:00:00Z",
    ]);
    let ran = context.run(publish.args(recordings));
    assert_eq!(ran.status, 0, "{ran}");
    let ran = context.kernrec(["fetch", "--url", "store", "--backend", "python"]);
    assert_eq!(ran.status, 0, "{ran}");
    for (file, from, to) in edits {
        let path = clone.join(file);
        let text = fs_err::read_to_string(&path).unwrap();
        assert_eq!(text.matches(from).count(), 1, "{from}");
        fs_err::write(path, text.replace(from, to)).unwrap();
    }
    let identity = ["-c", "user.name=test", "-c", "user.email=test@localhost"];
    let output = Command::new("git")
        .current_dir(&clone)
        .args(identity)
        .args(["commit", "-qam", "a change"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    context
}

fn select<const N: usize>(context: &Context, more: [&str; N]) -> Ran {
    let mut command = context.command();
    command.args(["select", "--diff", "HEAD~1...HEAD", "--repo", "clone"]);
    context.run(command.args(more))
}

const TOP_K: (&str, &str, &str) = ("vllm/sampling.py", "[:k]", "[:k or None]");
const PIN: (&str, &str, &str) = ("requirements.txt", "==26.4", "==26.5");

#[test]
fn a_changed_function_selects_who_entered_it_and_lets_healthy_rows_go() {
    let context = changed(&[TOP_K]);
    insta::assert_snapshot!("function", select(&context, []));
    let ran = select(&context, ["--format", "keys"]);
    // `latency` ran no tests, so its silence is no news.
    assert_eq!(ran.stdout, "[\"latency\",\"models\"]\n", "{ran}");
}

#[test]
fn a_pin_selects_and_lets_go_only_what_was_declared() {
    let context = changed(&[PIN]);
    let ran = select(&context, []);
    assert_eq!(ran.status, 6, "{ran}");
    let ran = select(
        &context,
        ["--library", "packaging=aiter", "--format", "keys"],
    );
    // A worker of `engine` was killed: what it loaded of compiled code is not known.
    assert_eq!(
        (ran.status, ran.stdout.as_str()),
        (0, "[\"attention\",\"engine\",\"latency\"]\n"),
        "{ran}"
    );
    let ran = select(&context, ["--library", "packaging"]);
    assert_eq!(ran.status, 2, "{ran}");
}

#[test]
fn a_damaged_function_record_runs_everything() {
    let context = changed(&[TOP_K]);
    context.write("coverage-data/python/function_table.json.zst", "other");
    let ran = select(&context, []);
    assert_eq!(ran.status, 6, "{ran}");
    assert!(
        ran.stdout.is_empty() || ran.stdout.contains("unavailable"),
        "{ran}"
    );
}

#[test]
fn a_step_and_a_python_file_are_explained() {
    let context = changed(&[TOP_K]);
    let explain = |step| context.kernrec(["explain", "--step", step, "--file", "vllm/sampling.py"]);
    insta::assert_snapshot!("explain_models", explain("models"));
    insta::assert_snapshot!("explain_attention", explain("attention"));
}

#[test]
fn past_changes_are_replayed_with_the_function_record() {
    let context = changed(&[TOP_K]);
    let commit = |name: &str| {
        let mut git = Command::new("git");
        let git = git
            .current_dir(context.path("clone"))
            .args(["rev-parse", name]);
        String::from_utf8(git.output().unwrap().stdout)
            .unwrap()
            .trim()
            .to_owned()
    };
    let (base, head) = (commit("HEAD~1"), commit("HEAD"));
    let changes = serde_json::json!([{ "base": base, "head": head, "failed": ["models"] }]);
    context.write("changes.json", changes.to_string());
    let ran = context.kernrec([
        "validate",
        "--changes",
        "changes.json",
        "--repo",
        "clone",
        "--json",
    ]);
    let said: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(
        (ran.status, &said["replayed"], &said["would_have_run"]),
        (0, &1.into(), &1.into()),
        "{ran}"
    );
}
