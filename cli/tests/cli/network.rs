//! What can be said about the network, and which of it is refused before a request is made.

use crate::context::{Context, Ran};

fn fetch<const N: usize>(context: &Context, url: &str, more: [&str; N]) -> Ran {
    let mut command = context.command();
    command.args(["fetch", "--url", url, "--retries", "0"]);
    context.run(command.args(more))
}

#[test]
fn plain_http_reaches_this_machine_only_unless_it_is_allowed() {
    let context = Context::new();
    let refused = fetch(&context, "http://store.example/records", []);
    assert_eq!(refused.status, 2, "{refused}");
    assert!(refused.stderr.contains("--allow-http"), "{refused}");
    // Nobody listens on port 1: that it was tried shows that it was allowed.
    let tried = fetch(&context, "http://127.0.0.1:1/records", []);
    assert_eq!(tried.status, 1, "{tried}");
    assert!(tried.stderr.contains("store-unavailable"), "{tried}");
}

#[test]
fn certificates_that_cannot_be_read_are_a_usage_error() {
    let context = Context::new();
    let url = "https://127.0.0.1:1/records";
    let missing = fetch(&context, url, ["--ca-file", "ca.pem"]);
    assert_eq!(missing.status, 2, "{missing}");
    assert!(missing.stderr.contains("`ca.pem`"), "{missing}");
    context.write("ca.pem", "no certificate");
    let empty = fetch(&context, url, ["--ca-file", "ca.pem"]);
    assert_eq!(empty.status, 2, "{empty}");
    let mut command = context.command();
    command
        .args(["fetch", "--url", url])
        .env("KERNREC_CA_FILE", "ca.pem");
    let from_variable = context.run(&mut command);
    assert_eq!(from_variable.stderr, empty.stderr);
}

#[test]
fn a_timeout_is_a_whole_number_above_zero_with_a_unit() {
    let context = Context::new();
    for bad in [
        "0s",
        "10",
        "s",
        "1.5s",
        "-1s",
        "99999999999999999999s",
        "1d",
    ] {
        let flag = format!("--timeout={bad}");
        let ran = fetch(&context, "http://127.0.0.1:1/", [&flag]);
        assert_eq!(ran.status, 2, "{bad}: {ran}");
        let mut command = context.command();
        command.args(["fetch", "--url", "store"]);
        let ran = context.run(command.env("KERNREC_TIMEOUT", bad));
        assert_eq!(ran.status, 2, "{bad}: {ran}");
        assert!(ran.stderr.contains("KERNREC_TIMEOUT"), "{ran}");
    }
    for good in ["1ms", "90s", "10m", "2h"] {
        let ran = fetch(&context, "http://127.0.0.1:1/", ["--timeout", good]);
        assert_eq!(ran.status, 1, "{good}: {ran}");
    }
}
