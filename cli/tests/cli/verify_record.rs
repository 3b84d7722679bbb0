//! `kernrec verify record` and `kernrec verify installed`.

use crate::context::{COMMIT, Context, ggml};

fn with_bundles() -> Context {
    let context = Context::new();
    let (recordings, map) = (ggml("recordings"), ggml("kernel_symbol_map.json.gz"));
    let mut command = context.command();
    command.args([
        "publish", "--store", "store", "--commit", COMMIT, "--build", "1001",
    ]);
    let ran = context.run(command.args(["--recordings", &recordings, "--symbol-map", &map]));
    assert_eq!(ran.status, 0, "{ran}");
    context
}

#[test]
fn a_record_folds_again_to_the_same_bytes_and_damage_is_found() {
    let context = with_bundles();
    let ran = context.kernrec(["verify", "record", "--store", "store"]);
    insta::assert_snapshot!("verify_record", ran);
    let ran = context.kernrec(["verify", "record", "--store", "store", "--commit", "c0de"]);
    assert_eq!(ran.status, 3, "{ran}");

    let bundle = first_file(&context.path("store/bundles"));
    let mut bytes = fs_err::read(&bundle).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs_err::write(&bundle, bytes).unwrap();
    let ran = context.kernrec(["verify", "record", "--store", "store"]);
    assert_eq!((ran.status, ran.stdout.as_str()), (1, ""), "{ran}");
    assert!(ran.stderr.contains("bundles/b3/"), "{ran}");
}

#[test]
fn a_record_without_bundles_cannot_be_told() {
    let context = Context::published();
    let ran = context.kernrec(["verify", "record", "--store", "store"]);
    assert_eq!(ran.status, 1, "{ran}");
    assert!(ran.stderr.contains("no bundles"), "{ran}");
}

#[test]
fn nothing_published_and_no_store() {
    let context = Context::published();
    let ran = context.kernrec(["verify", "record", "--store", "store", "--backend", "rocm"]);
    insta::assert_snapshot!("verify_record_not_published", ran);
    let ran = context.kernrec(["verify", "record", "--store", "absent"]);
    insta::assert_snapshot!("verify_record_no_store", ran);
}

#[test]
fn installed_files_are_checked_byte_for_byte() {
    let context = Context::fetched();
    insta::assert_snapshot!("verify_installed", context.kernrec(["verify", "installed"]));
    let path = context.path("coverage-data/cuda/kernel_symbol_map.json.zst");
    let mut bytes = fs_err::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs_err::write(&path, bytes).unwrap();
    let ran = context.kernrec(["verify", "installed"]);
    assert_eq!(ran.status, 3, "{ran}");
    assert!(ran.stdout.contains("installed-damaged"), "{ran}");
    // And the next fetch heals it.
    let ran = context.kernrec(["fetch", "--url", "store", "--backend", "cuda"]);
    assert!(ran.stdout.starts_with("cuda: healed\n"), "{ran}");
    assert_eq!(context.kernrec(["verify", "installed"]).status, 0);
}

#[test]
fn nothing_installed() {
    let context = Context::new();
    let ran = context.kernrec(["verify", "installed", "--data", "absent"]);
    insta::assert_snapshot!("verify_nothing_installed", ran);
}

fn first_file(folder: &std::path::Path) -> std::path::PathBuf {
    let mut entries: Vec<_> = fs_err::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    entries.sort();
    let first = entries.remove(0);
    if first.is_dir() {
        first_file(&first)
    } else {
        first
    }
}
