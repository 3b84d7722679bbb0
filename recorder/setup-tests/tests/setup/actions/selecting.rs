//! `actions/select`: whatever goes wrong, everything runs.

use super::runner::{Ended, Runner, repository};
use crate::bench::text;
use serde_json::{Value, json};

/// The commit of the real recordings.
const COMMIT: &str = "d99724f2b141fed9e1a9f402213506c081433465";

/// Steps of the workflow: two that the change reaches, two that it does not, one without a complete recording, and one
/// that nobody recorded.
const KEYS: &str = "op-rope op-rope-back op-abs\ntorch-linalg op-flash-attn-ext brand-new";

/// A runner with the checkout of a pull request, and a store with the record of its base.
fn pull_request() -> Runner {
    let mut runner = Runner::new();
    let script = repository().join("scripts/example-change.sh");
    done(&runner, script.to_str().unwrap(), &["ggml"]);
    let data = repository().join("testdata/ggml-h200");
    let (recordings, map) = (
        data.join("recordings"),
        data.join("kernel_symbol_map.json.gz"),
    );
    let (recordings, map) = (recordings.to_str().unwrap(), map.to_str().unwrap());
    let mut publish = vec![
        "publish", "--store", "store", "--commit", COMMIT, "--build", "1001",
    ];
    publish.extend([
        "--recordings",
        recordings,
        "--symbol-map",
        map,
        "--bundles",
        "none",
    ]);
    done(&runner, "kernrec", &publish);
    runner.contexts["github"]["event"] = json!({"pull_request": {"base": {"sha": COMMIT}}});
    runner
}

fn done(runner: &Runner, program: &str, args: &[&str]) {
    let path = runner.bench.path("bin").join(program);
    let program = if path.exists() {
        path.display().to_string()
    } else {
        program.to_owned()
    };
    let output = runner.command(&program).args(args).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
}

fn pipeline() -> String {
    let path = repository().join("testdata/ggml-h200/pipeline.yml");
    path.display().to_string()
}

/// Selects, with other inputs in the place of the good ones.
fn select(runner: &Runner, more: &[(&str, &str)]) -> Ended {
    let steps = pipeline();
    let mut with = vec![
        ("url", "store"),
        ("all-keys", KEYS),
        ("repository-path", "ggml"),
        ("steps", &steps),
        ("backend", "cuda"),
    ];
    with.retain(|(name, _)| !more.iter().any(|(other, _)| other == name));
    with.extend(more);
    runner.uses("select", &with)
}

fn list(ended: &Ended, name: &str) -> Vec<String> {
    let value: Value = serde_json::from_str(&ended.outputs[name])
        .unwrap_or_else(|e| panic!("{name}: {e}: {ended:?}"));
    serde_json::from_value(value).unwrap()
}

fn assert_everything(ended: &Ended, what: &str) {
    assert_eq!(ended.status, 0, "{what}: {ended:?}");
    assert_eq!(ended.outputs["run-everything"], "true", "{what}: {ended:?}");
    let all: Vec<&str> = KEYS.split_whitespace().collect();
    assert_eq!(list(ended, "keys"), all, "{what}: {ended:?}");
    assert_eq!(ended.outputs["skipped"], "[]", "{what}: {ended:?}");
}

/// The record lets nothing go. What the file of steps says is not its doing.
fn assert_only_adds(ended: &Ended, what: &str) {
    assert_eq!(ended.status, 0, "{what}: {ended:?}");
    assert_eq!(
        list(ended, "skipped"),
        ["torch-linalg"],
        "{what}: {ended:?}"
    );
    assert!(
        list(ended, "keys").contains(&"op-abs".to_owned()),
        "{what}: {ended:?}"
    );
}

#[test]
fn a_pull_request_runs_what_it_can_reach_and_what_is_not_known() {
    let runner = pull_request();
    let ended = select(&runner, &[]);
    assert_eq!(ended.status, 0, "{ended:?}");
    assert_eq!(ended.outputs["run-everything"], "false", "{ended:?}");
    assert_eq!(
        list(&ended, "skipped"),
        ["op-abs", "torch-linalg"],
        "{ended:?}"
    );
    let run = ["op-rope", "op-rope-back", "op-flash-attn-ext", "brand-new"];
    assert_eq!(list(&ended, "keys"), run);
    assert!(ended.summary.contains("126 of 130 steps"), "{ended:?}");
    let report: Value =
        serde_json::from_slice(&fs_err::read(&ended.outputs["report"]).unwrap()).unwrap();
    assert_eq!(report["schema"], "kernrec.selection/1");
}

#[test]
fn without_a_file_of_steps_the_keys_are_the_steps() {
    let runner = pull_request();
    // The change touches a page of documentation too, which may then concern every step.
    let ended = select(&runner, &[("steps", "")]);
    assert_everything(&ended, "a file outside the map");
    assert!(ended.summary.contains("6 steps"), "{ended:?}");
    done(
        &runner,
        "git",
        &["-C", "ggml", "checkout", "-q", "topic^", "--", "docs"],
    );
    let commit = [
        "-C",
        "ggml",
        "-c",
        "user.name=e",
        "-c",
        "user.email=e@localhost",
        "commit",
        "-qm",
        "x",
    ];
    done(&runner, "git", &commit);
    let ended = select(&runner, &[("steps", "")]);
    assert_eq!(
        list(&ended, "skipped"),
        ["op-abs", "torch-linalg"],
        "{ended:?}"
    );
}

#[test]
fn no_base_runs_everything() {
    let mut runner = pull_request();
    runner.contexts["github"]["event"] = json!({});
    let ended = select(&runner, &[]);
    assert_everything(&ended, "a push");
    assert!(ended.log.contains("this is no pull request"), "{ended:?}");
    assert!(
        ended.summary.contains("this is no pull request"),
        "{ended:?}"
    );
    runner.contexts["github"]["event"] = json!({"merge_group": {"base_sha": COMMIT}});
    assert_eq!(select(&runner, &[]).outputs["run-everything"], "false");
}

#[test]
fn a_fetch_that_fails_is_no_failure() {
    let runner = pull_request();
    for (url, what) in [
        ("nowhere", "no store"),
        ("http://127.0.0.1:9/x", "no server"),
        ("ftp://x/y", "no such kind"),
        ("", "empty"),
        ("-x", "a flag"),
    ] {
        let ended = select(&runner, &[("url", url)]);
        assert_everything(&ended, what);
        assert!(
            ended.log.contains("no newer record could be fetched"),
            "{what}: {ended:?}"
        );
    }
    // Nothing published yet.
    fs_err::create_dir(runner.bench.path("work/empty")).unwrap();
    assert_everything(&select(&runner, &[("url", "empty")]), "an empty store");
    // What was fetched before goes on while it is fresh, and no longer.
    let data = [("data", "kept")];
    assert_eq!(select(&runner, &data).outputs["run-everything"], "false");
    let gone = [("data", "kept"), ("url", "nowhere")];
    let ended = select(&runner, &gone);
    assert_eq!(
        list(&ended, "skipped"),
        ["op-abs", "torch-linalg"],
        "{ended:?}"
    );
    let old = [("data", "kept"), ("url", "nowhere"), ("max-age", "0s")];
    assert_only_adds(&select(&runner, &old), "too old");
}

#[test]
fn whatever_is_wrong_with_the_question_runs_everything() {
    let runner = pull_request();
    for (input, value) in [
        ("base", "0000000000000000000000000000000000000000"),
        ("base", "$(touch pwned)"),
        ("base", "--output=pwned"),
        ("base", "a\nb"),
        ("head", "nowhere"),
        ("repository-path", "nowhere"),
        ("steps", "nowhere.yml"),
        ("steps", "$(touch pwned)"),
        ("steps", "ggml/docs/build.md"),
        ("backend", "rocm"),
        ("backend", "cdua"),
        ("pipeline", "nightly"),
        ("pipeline", "\"; touch pwned; \""),
        ("max-age", "a fortnight"),
        ("require-key", "nowhere.pem"),
        ("data", "/dev/null/x"),
    ] {
        let ended = select(&runner, &[(input, value)]);
        assert_everything(&ended, &format!("{input}: {value}"));
        assert!(
            !runner.bench.path("work/pwned").exists(),
            "{input}: {value}"
        );
    }
}

#[test]
fn without_room_for_its_files_everything_runs() {
    let runner = pull_request();
    fs_err::remove_dir_all(runner.bench.path("temp")).ok();
    fs_err::write(runner.bench.path("temp"), "no folder").unwrap();
    assert_everything(&select(&runner, &[]), "no folder for temporary files");
}

#[test]
fn a_program_that_fails_in_any_way_runs_everything() {
    let runner = pull_request();
    for (what, script) in [
        ("dies", "case $1 in select) kill -KILL $$ ;; esac"),
        ("is silent", "exit 0"),
        ("fails", "case $1 in select) exit 1 ;; esac"),
        (
            "says nothing of the rest",
            "[ \"$1\" != select ] || echo 'skip=[\"op-abs\"]' >\"$GITHUB_OUTPUT\"",
        ),
        (
            "means everything",
            "[ \"$1\" != select ] || printf 'everything-must-run=true\\nskip=[\"op-abs\"]\\n' >\"$GITHUB_OUTPUT\"",
        ),
        (
            "changes its mind",
            "[ \"$1\" != select ] || { printf 'everything-must-run=false\\nskip=[\"op-abs\"]\\n' >\"$GITHUB_OUTPUT\"; exit 6; }",
        ),
    ] {
        runner.program("kernrec", script);
        assert_everything(&select(&runner, &[]), what);
    }
    fs_err::remove_file(runner.bench.path("bin/kernrec")).unwrap();
    let ended = select(&runner, &[]);
    assert_everything(&ended, "no program");
    assert!(
        ended.summary.contains("kernrec is not on the PATH"),
        "{ended:?}"
    );
}

/// Keys of others may hold anything; what looks like ours within one is not ours.
#[test]
fn only_whole_keys_are_skipped() {
    let runner = pull_request();
    for (skip, skipped) in [
        (r#"["op-abs"]"#, &["op-abs"][..]),
        (r#"["x,\"op-abs\",y"]"#, &[]),
        (r#"["[\"op-abs\"]"]"#, &[]),
        (r#"["op-abs-2","xop-abs"]"#, &[]),
        (
            r#"["a","op-abs","torch-linalg"]"#,
            &["op-abs", "torch-linalg"],
        ),
        ("[]", &[]),
        ("", &[]),
    ] {
        let said = format!("everything-must-run=false\nskip={skip}\n");
        fs_err::write(runner.bench.path("said"), said).unwrap();
        let said = runner.bench.path("said").display().to_string();
        runner.program(
            "kernrec",
            &format!("[ \"$1\" != select ] || cat '{said}' >\"$GITHUB_OUTPUT\""),
        );
        let ended = select(&runner, &[]);
        assert_eq!(list(&ended, "skipped"), skipped, "{skip}: {ended:?}");
        let run = list(&ended, "keys");
        assert_eq!(run.len() + skipped.len(), 6, "{skip}: {ended:?}");
    }
}

#[test]
fn keys_that_are_none_fail_the_job_that_asks() {
    let runner = pull_request();
    for keys in [
        "",
        " \n",
        "[\"op-abs\"]",
        "a,b",
        "$(touch pwned)",
        "a *",
        "a -b",
        "a\"b",
        "é",
    ] {
        let ended = select(&runner, &[("all-keys", keys)]);
        assert_eq!(ended.status, 1, "{keys}: {ended:?}");
        assert!(
            ended
                .log
                .contains("::error title=kernrec::the input all-keys"),
            "{ended:?}"
        );
        assert_eq!(ended.outputs["run-everything"], "true");
        assert_eq!(
            (
                ended.outputs["keys"].as_str(),
                ended.outputs["skipped"].as_str()
            ),
            ("", "")
        );
        assert!(!runner.bench.path("work/pwned").exists());
    }
}

#[test]
fn a_signature_that_is_asked_for_is_needed() {
    let runner = pull_request();
    done(
        &runner,
        "openssl",
        &["genpkey", "-algorithm", "ed25519", "-out", "key.pem"],
    );
    done(
        &runner,
        "openssl",
        &["pkey", "-in", "key.pem", "-pubout", "-out", "key.pub.pem"],
    );
    let data = [("data", "kept")];
    assert_eq!(select(&runner, &data).outputs["run-everything"], "false");
    let required = [("data", "kept"), ("require-key", "\nkey.pub.pem\n")];
    assert_only_adds(&select(&runner, &required), "unsigned");
}
