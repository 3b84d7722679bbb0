//! Signing through the programs: flags, variables, and what someone with the bucket and without the key can do.

use crate::context::{Context, Ran, repository};
use serde_json::Value;
use std::path::PathBuf;

/// A key of the tests, with a file mode that is not complained of.
fn key(context: &Context, name: &str) -> String {
    use std::os::unix::fs::PermissionsExt;
    let file = repository().join("testdata/signing-keys").join(name);
    let path = context.write(name, fs_err::read(file).unwrap());
    fs_err::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
    name.to_owned()
}

fn world() -> Context {
    let context = Context::new();
    for name in ["one.pem", "one.pub.pem", "two.pem", "two.pub.pem"] {
        key(&context, name);
    }
    context
}

fn fetch(context: &Context, more: &[&str], variables: &[(&str, &str)]) -> Ran {
    let mut command = context.command();
    command
        .args(["fetch", "--backend", "cuda", "--json"])
        .args(more);
    if !more.contains(&"--offline") {
        command.args(["--url", "store"]);
    }
    context.run(command.envs(variables.iter().copied()))
}

/// The reason of the one backend's failure.
fn reason(ran: &Ran) -> String {
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    let reason = &report["backends"][0]["failure"]["reason"];
    reason.as_str().unwrap_or("none").to_owned()
}

fn pointer(context: &Context) -> PathBuf {
    context.path("store/pointers/ci/cuda.json")
}

#[test]
fn someone_with_the_bucket_and_without_the_key_cannot_make_a_fetcher_take_anything() {
    let context = world();
    let ran = context.publish(["--sign-key", "one.pem"]);
    assert_eq!(ran.status, 0, "{ran}");
    assert!(ran.stdout.contains("signed by"), "{ran}");
    assert!(!ran.stderr.contains("warning"), "{ran}");
    let require = ["--require-key", "one.pub.pem"];
    assert_eq!(fetch(&context, &require, &[]).status, 0);
    let signed = fs_err::read_to_string(pointer(&context)).unwrap();
    let document: Value = serde_json::from_str(&signed).unwrap();
    let own = document["signature"]["value"].as_str().unwrap();
    let mut stripped = document.clone();
    stripped.as_object_mut().unwrap().remove("signature");
    let built = signed.replace("\"build\": 1001", "\"build\": 1002");
    assert_ne!(built, signed);
    for (attack, word) in [
        (stripped.to_string(), "signature-missing"),
        (built, "signature-invalid"),
        (signed.replace(own, &"0".repeat(128)), "signature-invalid"),
        (
            signed.replacen('{', "{\"generation\": 1,", 1),
            "document-malformed",
        ),
    ] {
        fs_err::write(pointer(&context), attack).unwrap();
        let ran = fetch(&context, &require, &[]);
        assert_ne!(ran.status, 0, "{ran}");
        assert_eq!(reason(&ran), word, "{ran}");
    }
    // The attacker's own publish: with their own key, over the stripped pointer.
    fs_err::write(pointer(&context), stripped.to_string()).unwrap();
    let ran = context.publish(["--sign-key", "two.pem", "--adopt-unsigned"]);
    assert_eq!(ran.status, 0, "{ran}");
    let ran = fetch(&context, &require, &[]);
    assert_eq!(
        (ran.status, reason(&ran).as_str()),
        (3, "signature-unknown-key"),
        "{ran}"
    );
    // The collector goes on with nothing of it, and what was installed is still there.
    let ran = context.publish(["--sign-key", "one.pem", "--json"]);
    assert_eq!(ran.status, 3, "{ran}");
    assert!(ran.stdout.contains("signature-unknown-key"), "{ran}");
    assert_eq!(
        fetch(
            &context,
            &["--offline", "--require-key", "one.pub.pem"],
            &[]
        )
        .status,
        0
    );
}

#[test]
fn the_variables_stand_in_for_the_flags_and_never_for_less() {
    let context = world();
    let publish = |variables: &[(&str, &str)]| {
        let recordings = repository().join("testdata/ggml-h200/recordings");
        let map = repository().join("testdata/ggml-h200/kernel_symbol_map.json.gz");
        let mut command = context.command();
        command.args([
            "publish",
            "--store",
            "store",
            "--build",
            "1001",
            "--bundles",
            "none",
        ]);
        command.args(["--commit", crate::context::COMMIT, "--recordings"]);
        command.arg(recordings).arg("--symbol-map").arg(map);
        context.run(command.envs(variables.iter().copied()))
    };
    let require = |value| [("KERNREC_REQUIRE_KEY", value)];
    // Whoever requires signatures here would not believe what an unsigned publish leaves.
    assert_eq!(publish(&require("one.pub.pem")).status, 2);
    let ran = publish(&[("KERNREC_SIGN_KEY", "one.pem")]);
    assert_eq!(ran.status, 0, "{ran}");
    let ran = publish(&[]);
    assert_eq!(ran.status, 3, "{ran}");
    assert!(ran.stderr.contains("signing-key-missing"), "{ran}");
    let ran = publish(&[("KERNREC_SIGN_KEY", "one.pub.pem")]);
    assert_eq!(ran.status, 1, "{ran}");
    assert!(ran.stderr.contains("key-refused"), "{ran}");

    assert_eq!(
        fetch(&context, &[], &require("two.pub.pem:one.pub.pem")).status,
        0
    );
    let ran = fetch(&context, &[], &require("two.pub.pem"));
    assert_eq!(reason(&ran), "signature-unknown-key", "{ran}");
    let flag = ["--require-key", "one.pub.pem"];
    assert_eq!(fetch(&context, &flag, &require("two.pub.pem")).status, 0);
    for (list, status) in [
        (":", 2),
        ("one.pub.pem:", 2),
        ("gone.pem", 1),
        ("one.pem", 1),
    ] {
        let ran = fetch(&context, &[], &require(list));
        assert_eq!(ran.status, status, "{list}: {ran}");
    }
}

#[test]
fn a_rollback_signs_and_an_exposed_key_is_warned_of() {
    use std::os::unix::fs::PermissionsExt;
    let context = world();
    assert_eq!(context.publish(["--sign-key", "one.pem"]).status, 0);
    let ran = context.publish(["--sign-key", "one.pem", "--build", "1002"]);
    assert_eq!(ran.status, 2, "given twice: {ran}");
    let mode = PermissionsExt::from_mode(0o644);
    fs_err::set_permissions(context.path("one.pem"), mode).unwrap();
    let back = |more: &[&str]| {
        let mut command = context.command();
        command.args([
            "store",
            "rollback",
            "store",
            "--backend",
            "cuda",
            "--to",
            "1001",
        ]);
        context.run(command.args(more))
    };
    let ran = back(&[]);
    assert_eq!(ran.status, 3, "{ran}");
    assert!(ran.stderr.contains("signing-key-missing"), "{ran}");
    let ran = back(&["--sign-key", "one.pem"]);
    assert_eq!(ran.status, 0, "{ran}");
    assert!(
        ran.stderr
            .contains("warning: `one.pem` can be read by others"),
        "{ran}"
    );
    assert_eq!(back(&["--adopt-unsigned"]).status, 2);
    assert_eq!(back(&["--require-key", "one.pub.pem"]).status, 2);
    let ran = context.kernrec(["show", "store/pointers/ci/cuda.json"]);
    assert!(ran.stdout.contains("signing key"), "{ran}");
}

#[test]
fn who_looks_after_a_store_can_ask_for_signatures_too() {
    let context = world();
    let ran = context.publish(["--sign-key", "one.pem"]);
    assert_eq!(ran.status, 0, "{ran}");
    let look = |command: &[&str], key: &str| {
        let mut program = context.command();
        program.args(command).env("KERNREC_REQUIRE_KEY", key);
        context.run(&mut program)
    };
    let commands: [&[&str]; 4] = [
        &["store", "fsck", "store"],
        &["store", "log", "store"],
        &["store", "gc", "store", "--grace", "0s"],
        &["verify", "record", "--store", "store"],
    ];
    for command in commands {
        let believed = look(command, "two.pub.pem:one.pub.pem");
        // The record was published without bundles, so that it cannot be folded again.
        let expected = i32::from(command[0] == "verify");
        assert_eq!(believed.status, expected, "{believed}");
        let ran = look(command, "two.pub.pem");
        assert_eq!(ran.status, 3, "{ran}");
        let said = format!("{}{}", ran.stdout, ran.stderr);
        assert!(said.contains("signature-unknown-key"), "{ran}");
    }
    insta::assert_snapshot!("store_fsck_unsigned", look(commands[0], "two.pub.pem"));
    insta::assert_snapshot!("store_log_unsigned", look(commands[1], "two.pub.pem"));
}
