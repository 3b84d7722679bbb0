//! Every variable of the table is read by the command that names it.

use crate::context::Context;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

#[test]
fn a_variable_that_is_not_text_is_named() {
    let context = Context::new();
    let bad = OsStr::from_bytes(b"\xff");
    for variable in kernrec_cli::VARIABLES {
        if variable.name.starts_with("VLLM_CI_") {
            // A switch: what is not text is not exactly `1`.
            continue;
        }
        let command = reader(variable.name);
        let mut command_line = context.command();
        command_line.args(command);
        // Each is looked at only when those before it are in order.
        for (name, value) in [
            ("BUILDKITE_COMMIT", "c0de"),
            ("BUILDKITE_BUILD_NUMBER", "1"),
            ("GITHUB_REPOSITORY", "owner/name"),
            ("GITHUB_RUN_ID", "1"),
        ] {
            command_line.env(name, value);
        }
        match variable.name {
            "GITHUB_SHA" => command_line.env_remove("BUILDKITE_COMMIT"),
            "GITHUB_RUN_NUMBER" => command_line.env_remove("BUILDKITE_BUILD_NUMBER"),
            _ => &mut command_line,
        };
        let ran = context.run(command_line.env(variable.name, bad));
        assert_eq!(ran.status, 2, "{}: {ran}", variable.name);
        let named = format!("environment variable `{}` is not UTF-8", variable.name);
        assert!(ran.stderr.contains(&named), "{ran}");
    }
}

/// A command that reads the variable.
fn reader(variable: &str) -> Vec<&'static str> {
    match variable {
        "CI_SELECTOR_KERNEL_RECORD_URL" => vec!["fetch"],
        "CI"
        | "AWS_ENDPOINT_URL_S3"
        | "AWS_ENDPOINT_URL"
        | "KERNREC_CA_FILE"
        | "KERNREC_REQUIRE_KEY"
        | "KERNREC_TIMEOUT" => vec!["fetch", "--url", "store"],
        "GITHUB_STEP_SUMMARY" | "GITHUB_OUTPUT" => {
            vec!["select", "--changed-file", "a.cu", "--format", "github"]
        }
        "BUILDKITE" | "GITHUB_ACTIONS" => vec!["collect", "--backend", "cuda", "--store", "s"],
        "GITHUB_API_URL" | "GITHUB_REPOSITORY" | "GITHUB_RUN_ID" | "GITHUB_TOKEN" => {
            vec![
                "collect",
                "--backend",
                "cuda",
                "--store",
                "s",
                "--ci",
                "github",
            ]
        }
        "GITHUB_SHA" | "GITHUB_RUN_NUMBER" => {
            vec![
                "collect",
                "--backend",
                "cuda",
                "--store",
                "s",
                "--ci",
                "buildkite",
            ]
        }
        "KERNREC_SIGN_KEY" => vec!["publish", "--store", "s", "--symbol-map", "m"],
        _ => vec![
            "publish",
            "--store",
            "s",
            "--symbol-map",
            "m",
            "--only-branch",
            "main",
        ],
    }
}
