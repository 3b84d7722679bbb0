//! `kernrec store`.

use crate::context::{COMMIT, Context, Ran, ggml};

/// A store with these builds of the real recordings, oldest first.
fn published(builds: &[&str]) -> Context {
    let context = Context::new();
    for build in builds {
        let ran = publish(&context, build);
        assert_eq!(ran.status, 0, "{ran}");
    }
    context
}

fn publish(context: &Context, build: &str) -> Ran {
    let (recordings, map) = (ggml("recordings"), ggml("kernel_symbol_map.json.gz"));
    let mut command = context.command();
    command.args(["publish", "--store", "store", "--commit", COMMIT]);
    command.args(["--build", build, "--bundles", "none"]);
    context.run(command.args(["--recordings", &recordings, "--symbol-map", &map]))
}

fn first_line(ran: &Ran) -> &str {
    ran.stdout.lines().next().unwrap_or_default()
}

/// The manifest of a build, as `store log` shows it.
fn manifest(context: &Context, build: u64) -> String {
    let ran = context.kernrec(["store", "log", "store", "--backend", "cuda", "--json"]);
    let log: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let records = log[0]["history"].as_array().unwrap();
    let record = records.iter().find(|record| record["build"] == build);
    record.unwrap()["manifest"].as_str().unwrap().to_owned()
}

#[test]
fn a_local_store_keeps_every_promise_and_is_left_as_it_was() {
    let context = published(&["1001"]);
    let before = context.files().len();
    let ran = context.kernrec(["store", "check", "store"]);
    insta::assert_snapshot!("store_check", ran);
    // One file more: the lock of whoever replaces a value.
    assert_eq!(context.files().len(), before + 1);
    let ran = context.kernrec(["store", "check", "absent"]);
    assert_eq!(ran.status, 1, "{ran}");
    assert!(!context.path("absent").exists());
}

#[test]
fn a_rollback_from_the_log_to_the_next_fetch() {
    let context = published(&["1001", "1002", "1003"]);
    let fetch = || context.kernrec(["fetch", "--url", "store", "--backend", "cuda"]);
    let select = || {
        context.kernrec([
            "select",
            "--changed-file",
            "src/ggml-cuda/rope.cu",
            "--format",
            "json",
        ])
    };
    assert_eq!(fetch().status, 0);
    insta::assert_snapshot!("store_log", context.kernrec(["store", "log", "store"]));

    let rollback = [
        "store",
        "rollback",
        "store",
        "--backend",
        "cuda",
        "--to",
        "1001",
        "--reason",
        "build 1002 lost\nhalf of its rows",
    ];
    let mut dry = context.command();
    let ran = context.run(dry.args(rollback).arg("--dry-run"));
    assert_eq!(first_line(&ran), "cuda: would be rolled back", "{ran}");
    insta::assert_snapshot!("store_rollback", context.kernrec(rollback));
    insta::assert_snapshot!(
        "store_log_rolled_back",
        context.kernrec(["store", "log", "store"])
    );
    let ran = context.kernrec(rollback);
    assert_eq!((ran.status, first_line(&ran)), (0, "cuda: already current"));

    let ran = publish(&context, "1003");
    assert_eq!(ran.status, 3, "{ran}");
    assert!(ran.stderr.contains("revoked"), "{ran}");

    let ran = fetch();
    assert!(ran.stdout.contains("build           1001"), "{ran}");
    assert_eq!(publish(&context, "1004").status, 0);
    assert!(fetch().stdout.contains("build           1004"));
    assert_eq!(select().status, 0);
}

#[test]
fn an_installed_record_that_was_rolled_back_only_adds_steps() {
    let context = published(&["1001", "1002"]);
    let fetch = |more: &[&str]| {
        let mut command = context.command();
        command.args(["fetch", "--url", "store", "--backend", "cuda"]);
        context.run(command.args(more))
    };
    assert_eq!(fetch(&[]).status, 0);
    let installed = manifest(&context, 1002);
    let ran = context.kernrec([
        "store",
        "rollback",
        "store",
        "--backend",
        "cuda",
        "--to",
        "1001",
    ]);
    assert_eq!(ran.status, 0, "{ran}");
    // The first record is gone from the store, so the fetch fails and keeps what is installed, marked.
    let lost = manifest(&context, 1001);
    let (fan, rest) = lost["b3:".len()..].split_at(2);
    fs_err::remove_file(context.path(&format!("store/objects/b3/{fan}/{rest}.zst"))).unwrap();
    let ran = fetch(&[]);
    assert_eq!(ran.status, 1, "{ran}");
    let folder = format!("coverage-data/.records/{}", &installed["b3:".len()..][..16]);
    assert!(context.path(&folder).exists(), "what was installed stays");
    let ran = context.kernrec(["select", "--changed-file", "src/ggml-cuda/rope.cu"]);
    assert_eq!(ran.status, 6, "everything must run: {ran}");
    assert!(ran.stderr.contains("record-revoked"), "{ran}");
    assert!(
        ran.stderr.contains("2 selected"),
        "its launches still select: {ran}"
    );
}

#[test]
fn what_cannot_be_rolled_back_to_says_why() {
    let context = published(&["1001", "1002"]);
    let back = |to: &str| {
        context.kernrec([
            "store",
            "rollback",
            "store",
            "--backend",
            "cuda",
            "--to",
            to,
        ])
    };
    insta::assert_snapshot!("store_rollback_not_in_history", back("77"));
    let ran = back(COMMIT);
    assert_eq!(ran.status, 3, "{ran}");
    assert!(ran.stderr.contains("ambiguous-target"), "{ran}");
    let lost = manifest(&context, 1001);
    let (fan, rest) = lost["b3:".len()..].split_at(2);
    fs_err::write(
        context.path(&format!("store/objects/b3/{fan}/{rest}.zst")),
        "x",
    )
    .unwrap();
    let ran = back("1001");
    assert_eq!(ran.status, 3, "{ran}");
    assert!(ran.stderr.contains("object-damaged"), "{ran}");
    let ran = context.kernrec(["store", "log", "store", "--limit", "1"]);
    assert!(
        ran.stdout.contains("1002") && !ran.stdout.contains("1001"),
        "{ran}"
    );
    let ran = context.kernrec(["store", "log", "store", "--pipeline", "other"]);
    insta::assert_snapshot!("store_log_not_published", ran);
}

#[test]
fn fsck_names_what_is_broken_and_changes_nothing() {
    let context = published(&["1001", "1002"]);
    insta::assert_snapshot!("store_fsck", context.kernrec(["store", "fsck", "store"]));
    let current = manifest(&context, 1002);
    let (fan, rest) = current["b3:".len()..].split_at(2);
    fs_err::remove_file(context.path(&format!("store/objects/b3/{fan}/{rest}.zst"))).unwrap();
    let before = context.files();
    let ran = context.kernrec(["store", "fsck", "store", "--quick"]);
    insta::assert_snapshot!("store_fsck_broken", ran);
    let ran = context.kernrec(["store", "fsck", "store", "--json"]);
    let found: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(found["whole"], false);
    assert_eq!(found["findings"][0]["reason"], "not-found");
    assert_eq!(context.files(), before);
}

#[test]
fn gc_says_what_it_would_remove_before_it_removes_it() {
    let context = published(&["1001"]);
    let file = context.write("orphan.json", "{\"nobody\": \"names this\"}\n");
    let ran = context.kernrec(["store", "put", "store", file.to_str().unwrap()]);
    insta::assert_snapshot!("store_put", ran);
    let before = context.files();
    let ran = context.kernrec(["store", "gc", "store"]);
    assert_eq!((ran.status, first_line(&ran)), (0, "what would be removed"));
    let ran = context.kernrec(["store", "gc", "store", "--grace", "0s"]);
    insta::assert_snapshot!("store_gc_dry_run", ran);
    let ran = context.kernrec(["store", "gc", "store", "--grace", "0s", "--delete"]);
    insta::assert_snapshot!("store_gc_short_grace", ran);
    assert_eq!(context.files(), before);
    let ran = context.kernrec([
        "store",
        "gc",
        "store",
        "--grace",
        "0s",
        "--delete",
        "--quiescent",
    ]);
    assert_eq!((ran.status, first_line(&ran)), (0, "removed"), "{ran}");
    assert!(ran.stdout.contains("objects        1\n"), "{ran}");
    assert_eq!(context.kernrec(["store", "fsck", "store"]).status, 0);
    fs_err::write(context.path("store/pointers/ci/rocm.json"), "{").unwrap();
    let ran = context.kernrec(["store", "gc", "store"]);
    insta::assert_snapshot!("store_gc_unknown_closure", ran);
}

#[test]
fn a_document_goes_in_and_comes_out() {
    let context = published(&["1001"]);
    let text = "{\"any\": \"document\"}\n";
    let file = context.write("a.json", text);
    let put = context.kernrec(["store", "put", "store", file.to_str().unwrap(), "--json"]);
    let put: serde_json::Value = serde_json::from_str(&put.stdout).unwrap();
    let digest = put["digest"].as_str().unwrap();
    let ran = context.kernrec(["store", "get", "store", digest]);
    assert_eq!((ran.status, ran.stdout.as_str()), (0, text));
    let ran = context.kernrec(["store", "get", "store", digest, "--out", "b.json.gz"]);
    assert_eq!(ran.status, 0, "{ran}");
    let ran = context.kernrec(["verify", "files", "a.json", "b.json.gz"]);
    assert_eq!(ran.status, 0, "{ran}");
    let absent = format!("b3:{}", "0".repeat(64));
    let ran = context.kernrec(["store", "get", "store", &absent, "--out", "c.json"]);
    insta::assert_snapshot!("store_get_absent", ran);
    assert!(!context.path("c.json").exists());
    for wrong in [&digest[..20], "b3", &digest[3..]] {
        let ran = context.kernrec(["store", "get", "store", wrong]);
        assert_eq!(ran.status, 2, "{ran}");
    }
    let ran = context.kernrec(["store", "get", "store", digest, "--json"]);
    assert_eq!(ran.status, 2, "{ran}");
}

#[test]
fn fsck_of_a_store_that_does_not_answer_calls_nothing_broken() {
    let context = Context::new();
    // Nothing listens on port 1.
    let ran = context.kernrec(["store", "fsck", "http://127.0.0.1:1/store", "--retries=0"]);
    assert_eq!(ran.status, 1, "{ran}");
    assert!(ran.stdout.starts_with("it could not be told"), "{ran}");
    assert!(!ran.stderr.contains("publishing a record again"), "{ran}");
}
