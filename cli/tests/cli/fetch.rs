//! `kernrec fetch`.

use crate::context::Context;

#[test]
fn the_newest_record_is_installed_and_then_unchanged() {
    let context = Context::published();
    insta::assert_snapshot!(
        "fetch_installed",
        context.kernrec(["fetch", "--url", "store"])
    );
    let ran = context.kernrec(["fetch", "--url", "store"]);
    assert_eq!(ran.status, 0, "{ran}");
    assert!(ran.stdout.starts_with("cuda: unchanged\n"), "{ran}");
}

#[test]
fn the_store_comes_from_the_environment_unless_given() {
    let context = Context::published();
    let ran = context.kernrec(["fetch"]);
    assert_eq!(ran.status, 2, "{ran}");
    insta::assert_snapshot!("fetch_without_url", ran.stderr);
    let variable = "CI_SELECTOR_KERNEL_RECORD_URL";
    let ran = context.run(context.command().arg("fetch").env(variable, "store"));
    assert_eq!(ran.status, 0, "{ran}");
    let ran = context.run(
        context
            .command()
            .args(["fetch", "--url", "store"])
            .env(variable, "absent"),
    );
    assert_eq!(ran.status, 0, "{ran}");
}

#[test]
fn nothing_published_says_what_to_check() {
    let context = Context::published();
    let ran = context.kernrec(["fetch", "--url", "store", "--pipeline", "nightly"]);
    insta::assert_snapshot!("fetch_not_published", ran);
}

#[test]
fn a_store_that_is_gone_leaves_what_is_installed() {
    let context = Context::fetched();
    fs_err::remove_dir_all(context.path("store")).unwrap();
    let before = context.files();
    let ran = context.kernrec(["fetch", "--url", "store", "--backend", "cuda"]);
    assert_eq!(ran.status, 1, "{ran}");
    assert!(ran.stderr.contains("still in place"), "{ran}");
    let ran = context.kernrec(["fetch", "--url", "store", "--backend", "cuda", "--json"]);
    let report: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(
        report["backends"][0]["failure"]["reason"], "no-store",
        "{ran}"
    );
    assert!(
        report["backends"][0]["pair"]["age_seconds"].is_u64(),
        "{ran}"
    );
    assert_eq!(context.files(), before);
}

#[test]
fn offline_uses_what_is_installed() {
    let context = Context::fetched();
    let ran = context.kernrec(["fetch", "--offline", "--backend", "cuda"]);
    assert_eq!(ran.status, 0, "{ran}");
    let ran = context.kernrec([
        "fetch",
        "--offline",
        "--backend",
        "cuda",
        "--out",
        "elsewhere",
    ]);
    assert_eq!(ran.status, 1, "{ran}");
}

#[test]
fn usage_errors() {
    let context = Context::new();
    for (name, args) in [
        ("bad_backend", vec!["--url", "s", "--backend", "metal"]),
        ("bad_age", vec!["--url", "s", "--max-age", "14"]),
        (
            "ancestor_without_repo",
            vec!["--url", "s", "--ancestor-of", "main"],
        ),
        (
            "commit_and_ancestor",
            vec![
                "--url",
                "s",
                "--commit",
                "c",
                "--ancestor-of",
                "m",
                "--repo",
                ".",
            ],
        ),
        ("repo_without_ancestor", vec!["--url", "s", "--repo", "."]),
        ("bad_scheme", vec!["--url", "ftp://x/y"]),
    ] {
        let ran = context.run(context.command().arg("fetch").args(args));
        assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{ran}");
        insta::assert_snapshot!(format!("fetch_usage_{name}"), ran.stderr);
    }
    assert!(context.files().is_empty());
}

#[test]
fn the_program_of_its_own_is_the_same_command() {
    let context = Context::published();
    let mut command = assert_cmd::Command::new(env!("CARGO_BIN_EXE_ci-fetch-kernel-record"));
    command
        .current_dir(context.path("."))
        .args(["--url", "store", "--upstream-names"]);
    let ran = context.run(&mut command);
    assert_eq!(ran.status, 0, "{ran}");
    assert!(context.path("coverage-data/kernel_table.json.gz").exists());
    let ran = context.kernrec(["verify", "installed"]);
    assert_eq!(ran.status, 0, "{ran}");
}

#[test]
fn a_flipped_byte_that_kept_size_and_time_is_healed_once_a_reader_met_it() {
    let context = Context::fetched();
    let table = context.path("coverage-data/cuda/kernel_table.json.zst");
    let before = fs_err::read(&table).unwrap();
    let modified = fs_err::metadata(&table).unwrap().modified().unwrap();
    let mut damaged = before.clone();
    let middle = damaged.len() / 2;
    damaged[middle] ^= 1;
    fs_err::write(&table, &damaged).unwrap();
    let file = fs_err::File::options().write(true).open(&table).unwrap();
    file.set_modified(modified).unwrap();
    drop(file);

    let ran = context.kernrec(["select", "--changed-file", "src/ggml-cuda/rope.cu"]);
    assert_eq!(ran.status, 6, "{ran}");
    let ran = context.kernrec(["fetch", "--url", "store", "--backend", "cuda"]);
    assert!(ran.stdout.starts_with("cuda: healed\n"), "{ran}");
    assert_eq!(fs_err::read(&table).unwrap(), before);
}

#[test]
fn a_fifo_in_the_way_holds_nobody() {
    let context = Context::fetched();
    let put_fifo = |path: &str| {
        let path = context.path(path);
        fs_err::remove_file(&path).unwrap();
        let mut mkfifo = std::process::Command::new("mkfifo");
        assert!(mkfifo.arg(path).status().unwrap().success());
    };
    put_fifo("coverage-data/cuda/.hold");
    let ran = context.kernrec(["select", "--changed-file", "src/ggml-cuda/rope.cu"]);
    assert_eq!(ran.status, 0, "{ran}");
    put_fifo("store/pointers/ci/cuda.json");
    let ran = context.kernrec(["fetch", "--url", "store", "--backend", "cuda"]);
    assert_eq!(ran.status, 1, "{ran}");
    assert!(ran.stderr.contains("not a regular file"), "{ran}");
}
