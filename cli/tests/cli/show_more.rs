//! `kernrec show` on what other commands made.

use crate::context::{Context, ggml};

#[test]
fn a_bundle() {
    let context = Context::new();
    let killed = ggml("recordings/1955c300-b9c4-5bf3-a72d-32c04fe40966");
    context.kernrec(["pack", &killed, "--out", "bundles"]);
    let bundle = fs_err::read_dir(context.path("bundles"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    // Told by content: the name says nothing.
    fs_err::copy(&bundle, context.path("thing")).unwrap();
    insta::assert_snapshot!("show_bundle", context.kernrec(["show", "thing"]));

    let mut bytes = fs_err::read(&bundle).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    context.write("damaged", bytes);
    let ran = context.kernrec(["show", "damaged"]);
    assert_eq!((ran.status, ran.stdout.as_str()), (1, ""), "{ran}");
    assert!(ran.stderr.contains("`damaged`"), "{ran}");
}

#[test]
fn what_is_installed_and_what_is_stored() {
    let context = Context::fetched();
    insta::assert_snapshot!(
        "show_installed",
        context.kernrec(["show", "coverage-data/cuda/record.json"])
    );
    for file in [
        "coverage-data/cuda/kernel_table.json.zst",
        "store/pointers/ci/cuda.json",
    ] {
        let ran = context.kernrec(["show", file]);
        assert_eq!((ran.status, ran.stderr.as_str()), (0, ""), "{ran}");
    }
}
