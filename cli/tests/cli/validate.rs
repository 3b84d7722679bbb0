//! `kernrec validate`.

use crate::context::{Context, Ran, ggml, repository};
use std::process::Command;

const BASE: &str = "d99724f2b141fed9e1a9f402213506c081433465";

/// The example's change in a clone, a record of its base, and the commit of its end.
fn scene() -> (Context, String) {
    let context = Context::fetched();
    let script = repository().join("scripts/example-change.sh");
    let made = Command::new(script).arg(context.path("ggml")).status();
    assert!(made.unwrap().success());
    let head = Command::new("git")
        .args(["-C", "ggml", "rev-parse", "topic"])
        .current_dir(context.path("."))
        .output()
        .unwrap();
    let head = String::from_utf8(head.stdout).unwrap().trim().to_owned();
    (context, head)
}

fn validated(context: &Context, changes: &serde_json::Value, more: &[&str]) -> Ran {
    context.write("changes.json", changes.to_string());
    let mut command = context.command();
    command
        .args(["validate", "--changes", "changes.json", "--repo", "ggml"])
        .args(["--steps", &ggml("pipeline.yml")])
        .args(more);
    context.run(&mut command)
}

#[test]
fn a_failure_that_would_have_been_run_is_recalled() {
    let (context, head) = scene();
    let changes = serde_json::json!([
        {"base": BASE, "head": head, "failed": ["op-rope", "op-rope-back"]},
        {"base": BASE, "head": head, "failed": []},
    ]);
    let ran = validated(&context, &changes, &["--json"]);
    assert_eq!(ran.status, 0, "{ran}");
    let said: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(
        (&said["replayed"], &said["recall"]),
        (&2.into(), &100.0.into())
    );
    assert!(said["skipped_share"].as_f64().unwrap() > 90.0, "{said}");
    assert_eq!(said["misses"], serde_json::json!([]));
}

#[test]
fn a_failure_that_would_have_been_skipped_is_a_miss() {
    let (context, head) = scene();
    let changes = serde_json::json!([{
        "base": BASE, "head": head, "failed": ["op-rope", "op-argsort", "op-argsort"],
        "ran": ["op-rope", "op-argsort", "op-add"],
    }]);
    let ran = validated(&context, &changes, &["--crosscheck", "--json"]);
    assert_eq!(ran.status, 3, "{ran}");
    let said: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(said["recall"], 50.0);
    assert_eq!(
        said["misses"][0]["missed"],
        serde_json::json!(["op-argsort"])
    );
    let crosscheck = &said["crosscheck"][0];
    let saved = serde_json::json!(["op-add", "op-argsort"]);
    assert_eq!(crosscheck["ran_and_would_not"], saved);
    let added = crosscheck["would_and_did_not_run"].as_array().unwrap();
    assert!(added.contains(&"op-rope-back".into()), "{said}");
    let text = validated(&context, &changes, &[]);
    assert!(text.stdout.contains("op-argsort"), "{text}");
}

/// Where nothing could have been skipped, nothing is proven, and that is no success.
#[test]
fn what_could_not_be_replayed_is_no_success() {
    let (context, head) = scene();
    for (changes, word) in [
        (serde_json::json!([]), None),
        (
            serde_json::json!([{"base": "absent", "head": head, "failed": []}]),
            Some("git-"),
        ),
        // The record is of a later commit than the change starts from.
        (
            serde_json::json!([{"base": format!("{BASE}^"), "head": format!("{BASE}^"), "failed": []}]),
            Some(""),
        ),
    ] {
        let ran = validated(&context, &changes, &["--json"]);
        assert_eq!(ran.status, 1, "{ran}");
        let said: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!(said["replayed"], 0);
        if word.is_some() {
            assert!(said["not_replayed"][0]["reason"].is_string(), "{said}");
        }
    }
}

/// A backend that is asked for and not there holds every step: whoever failed would have been run for no merit.
#[test]
fn a_backend_that_is_not_there_proves_nothing() {
    let (context, head) = scene();
    let changes = serde_json::json!([{"base": BASE, "head": head, "failed": ["op-rope"]}]);
    let asked = ["--backend", "cuda", "--backend", "rocm", "--json"];
    let ran = validated(&context, &changes, &asked);
    assert_eq!(ran.status, 1, "{ran}");
    let said: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(said["replayed"], 0);
}

#[test]
fn wrong_input_is_told() {
    let (context, head) = scene();
    let changes = serde_json::json!([{"base": BASE, "head": head, "failed": []}]);
    let ran = validated(&context, &changes, &["--crosscheck"]);
    assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{ran}");
    let changes = serde_json::json!([{"base": BASE, "head": head, "faild": ["op-argsort"]}]);
    let ran = validated(&context, &changes, &[]);
    assert_eq!((ran.status, ran.stdout.as_str()), (1, ""), "{ran}");
    let ran = validated(&context, &serde_json::json!({"base": BASE}), &[]);
    assert_eq!((ran.status, ran.stdout.as_str()), (1, ""), "{ran}");
    context.write("broken.yml", "steps: [");
    let changes = serde_json::json!([{"base": BASE, "head": head, "failed": []}]);
    let ran = validated(&context, &changes, &["--steps", "broken.yml"]);
    assert_eq!((ran.status, ran.stdout.as_str()), (1, ""), "{ran}");
    let said = "error: step-file: step-file-malformed: ";
    assert!(ran.stderr.starts_with(said), "{ran}");
}
