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
        let command = match variable.name {
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
        };
        let mut command_line = context.command();
        command_line.args(command);
        // Each is looked at only when those before it are in order.
        for (name, value) in [
            ("BUILDKITE_COMMIT", "c0de"),
            ("BUILDKITE_BUILD_NUMBER", "1"),
        ] {
            command_line.env(name, value);
        }
        let ran = context.run(command_line.env(variable.name, bad));
        assert_eq!(ran.status, 2, "{}: {ran}", variable.name);
        let named = format!("environment variable `{}` is not UTF-8", variable.name);
        assert!(ran.stderr.contains(&named), "{ran}");
    }
}
