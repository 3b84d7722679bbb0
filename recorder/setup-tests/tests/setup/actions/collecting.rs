//! `actions/collect`: what it asks `kernrec collect` for, and what it makes of the answer.

use super::runner::{Ended, Runner};
use std::os::unix::fs::PermissionsExt as _;

/// A program in the place of kernrec that writes down what it was given, the key's file and the token among it, and ends with
/// a status and a result.
fn stand_in(runner: &Runner, status: u8, result: &str) {
    let said = runner.bench.path("said").display().to_string();
    runner.program(
        "kernrec",
        &format!(
            "[ \"$1\" = collect ] || exit 0\n\
             printf '%s\\n' \"$@\" >'{said}'; printf '%s' \"$GITHUB_TOKEN\" >'{said}.token'\n\
             env | grep '^INPUT_SIGN_KEY' >'{said}.leak'\n\
             for argument; do case $argument in\n\
             --sign-key=*) cp -p \"${{argument#*=}}\" '{said}.key' ;;\n\
             --out=*) mkdir -p \"${{argument#*=}}\"; echo '{result}' >\"${{argument#*=}}/result.json\" ;;\n\
             esac; done\n\
             exit {status}"
        ),
    );
}

fn collect(runner: &Runner, more: &[(&str, &str)]) -> Ended {
    let mut with = vec![("store", "store"), ("backend", "cuda"), ("token", "t0ken")];
    with.retain(|(name, _)| !more.iter().any(|(other, _)| other == name));
    with.extend(more);
    runner.uses("collect", &with)
}

/// What the program was given.
fn given(runner: &Runner) -> Vec<String> {
    let said = fs_err::read_to_string(runner.bench.path("said")).unwrap_or_default();
    said.lines().map(str::to_owned).collect()
}

const PUBLISHED: &str = "{\n  \"outcome\": \"published\"\n}";

#[test]
fn inputs_become_arguments_that_the_program_understands() {
    let runner = Runner::new();
    stand_in(&runner, 0, PUBLISHED);
    let ended = collect(&runner, &[]);
    assert_eq!(
        (ended.status, ended.outputs["outcome"].as_str()),
        (0, "published"),
        "{ended:?}"
    );
    let least = given(&runner);
    assert!(least.contains(&"--ci=github".to_owned()), "{least:?}");
    let ended = collect(
        &runner,
        &[
            ("steps", "attention=2\n  rope\n"),
            ("deadline", "5m"),
            ("only-branch", "main"),
            ("repository-path", "."),
            ("source-build", "77"),
            ("allow-shrink", "true"),
            ("dry-run", "true"),
            ("bundles", "none"),
            ("sign-key", "-----BEGIN PRIVATE KEY-----\nabc"),
            ("out", "out dir"),
        ],
    );
    assert_eq!(ended.outputs["folder"], "out dir");
    let most = given(&runner);
    for argument in [
        "--step=attention=2",
        "--step=rope",
        "--only-branch=main",
        "--out=out dir",
        "--dry-run",
    ] {
        assert!(most.contains(&argument.to_owned()), "{argument}: {most:?}");
    }
    let [kernrec, ..] = kernrec_cli::command_lines();
    for arguments in [least, most] {
        let arguments = std::iter::once("kernrec".to_owned()).chain(arguments);
        kernrec.clone().try_get_matches_from(arguments).unwrap();
    }
}

#[test]
fn the_key_and_the_token_reach_the_program_and_nobody_else() {
    let runner = Runner::new();
    stand_in(&runner, 0, PUBLISHED);
    let ended = collect(&runner, &[("sign-key", "-----BEGIN\nabc")]);
    assert_eq!(ended.status, 0, "{ended:?}");
    let key = runner.bench.path("said.key");
    assert_eq!(fs_err::read_to_string(&key).unwrap(), "-----BEGIN\nabc\n");
    assert_eq!(
        fs_err::metadata(&key).unwrap().permissions().mode() & 0o777,
        0o600
    );
    assert_eq!(
        fs_err::read_to_string(runner.bench.path("said.token")).unwrap(),
        "t0ken"
    );
    assert_eq!(
        fs_err::read_to_string(runner.bench.path("said.leak")).unwrap(),
        ""
    );
    let left = fs_err::read_dir(runner.bench.path("temp")).unwrap();
    let names = left.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert_eq!(names.collect::<Vec<_>>(), ["kernrec-collect"]);
    assert!(
        !ended.log.contains("abc") && !ended.log.contains("t0ken"),
        "{ended:?}"
    );
}

#[test]
fn the_step_ends_as_the_program_did_but_for_a_newer_record() {
    let runner = Runner::new();
    for (status, result, outcome, ends) in [
        (0, PUBLISHED, "published", 0),
        (0, "{\n  \"outcome\": \"skipped\"\n}", "skipped", 0),
        (0, "", "failed", 1),
        (1, "", "failed", 1),
        (2, "", "failed", 2),
        (3, "", "refused", 3),
        (4, "", "superseded", 0),
        (5, "", "unknown", 5),
    ] {
        stand_in(&runner, status, result);
        let ended = collect(&runner, &[]);
        let found = (ended.status, ended.outputs["outcome"].as_str());
        assert_eq!(found, (ends, outcome), "{status}: {ended:?}");
    }
}

#[test]
fn without_the_program_nothing_is_collected_and_the_job_says_so() {
    let runner = Runner::new();
    fs_err::remove_file(runner.bench.path("bin/kernrec")).unwrap();
    let ended = collect(&runner, &[("sign-key", "abc")]);
    assert_eq!(
        (ended.status, ended.outputs["outcome"].as_str()),
        (1, "failed"),
        "{ended:?}"
    );
    assert!(
        ended
            .log
            .contains("::error title=kernrec::nothing was collected"),
        "{ended:?}"
    );
    assert!(ended.summary.contains("nothing was collected"), "{ended:?}");
    assert_eq!(
        fs_err::read_dir(runner.bench.path("temp")).unwrap().count(),
        0
    );
}

#[test]
fn hostile_inputs_are_arguments_and_nothing_else() {
    let runner = Runner::new();
    for value in [
        "$(touch pwned)",
        "\"; touch pwned; \"",
        "`touch pwned`",
        "-x",
        "* ?",
    ] {
        for input in [
            "store",
            "backend",
            "steps",
            "deadline",
            "only-branch",
            "pipeline",
            "min-delivered",
            "bundles",
            "repository-path",
            "source-build",
        ] {
            stand_in(&runner, 0, PUBLISHED);
            let ended = collect(&runner, &[(input, value)]);
            assert_eq!(ended.status, 0, "{input} {value}: {ended:?}");
            let given = given(&runner);
            assert!(
                given
                    .iter()
                    .all(|one| one == "collect" || one.starts_with("--")),
                "{given:?}"
            );
            assert!(!runner.bench.path("work/pwned").exists(), "{input} {value}");
        }
        for input in ["allow-shrink", "dry-run"] {
            let ended = collect(&runner, &[(input, value)]);
            assert_eq!(ended.status, 1, "{input} {value}: {ended:?}");
            assert!(ended.log.contains("is neither true nor false"), "{ended:?}");
        }
    }
}
