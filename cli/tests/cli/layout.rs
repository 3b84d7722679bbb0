//! The existing system's layout, from publish to fetch.

use crate::context::Context;

#[test]
fn what_is_published_in_the_upstream_layout_is_fetched_from_bucket_and_folder() {
    let context = Context::new();
    let ran = context.publish(["--layout", "upstream"]);
    assert_eq!(ran.status, 0, "{ran}");
    assert!(context.path("store/ci/kernrec/latest.json").is_file());
    assert!(!context.path("store/pointers").exists());
    let ran = context.publish(["--layout", "upstream"]);
    assert!(ran.stdout.starts_with("cuda: unchanged\n"), "{ran}");

    let fetch = |url: &str, layout: &str| {
        let ran = context.kernrec([
            "fetch",
            "--url",
            url,
            "--backend",
            "cuda",
            "--layout",
            layout,
        ]);
        (ran.status, ran.stdout.lines().next().map(str::to_owned))
    };
    let first = |word: &str| (0, Some(format!("cuda: {word}")));
    assert_eq!(fetch("store/ci/kernrec", "upstream"), first("installed"));
    assert_eq!(fetch("store/ci/kernrec", "auto"), first("unchanged"));
    assert_eq!(fetch("store", "auto"), first("unchanged"));
    let absent = (3, Some("cuda: not-published".to_owned()));
    assert_eq!(fetch("store", "native"), absent);

    let ran = context.kernrec([
        "select",
        "--data",
        "coverage-data",
        "--backend",
        "cuda",
        "--changed-file",
        "src/ggml-cuda/rope.cu",
        "--format",
        "keys",
    ]);
    assert_eq!(ran.status, 0, "{ran}");
    let expected = r#"["op-flash-attn-ext","op-rope","op-rope-back","torch-killed"]"#;
    assert_eq!(ran.stdout.trim_end(), expected, "{ran}");
}

#[test]
fn there_is_nothing_to_replace_in_our_own_layout() {
    let context = Context::new();
    let ran = context.publish(["--replace-unnamed"]);
    assert_eq!(ran.status, 2, "{ran}");
    assert!(ran.stderr.contains("--layout upstream"), "{ran}");
    let ran = context.publish(["--replace-unnamed", "--layout", "upstream"]);
    assert_eq!(ran.status, 0, "{ran}");
}
