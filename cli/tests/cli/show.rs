//! `kernrec show`.

use crate::context::{Context, ggml};
use crate::documents;

#[test]
fn every_kind_is_told_by_content_and_shown() {
    let context = Context::new();
    let kinds = [
        ("table", documents::TABLE),
        ("map", documents::MAP),
        ("recording", documents::RECORDING),
        ("sidecar", documents::SIDECAR),
        ("jobs", documents::JOBS),
        ("pointer", documents::POINTER),
        ("manifest", documents::MANIFEST),
        ("upstream-pointer", documents::UPSTREAM_POINTER),
    ];
    for (kind, content) in kinds {
        // A name that says nothing.
        context.write("document", content);
        insta::assert_snapshot!(
            format!("show_{kind}"),
            context.kernrec(["show", "document"])
        );
        let json = context.kernrec(["show", "document", "--json"]);
        assert_eq!(json.status, 0, "{json}");
        insta::assert_snapshot!(format!("show_{kind}_json"), json.stdout);
    }
}

#[test]
fn the_real_symbol_map() {
    let context = Context::new();
    let map = ggml("kernel_symbol_map.json.gz");
    insta::assert_snapshot!(context.kernrec(["show", &map, "--rows", "3"]));
}

#[test]
fn a_recording_without_its_header_is_still_shown_with_its_state() {
    let context = Context::new();
    context.write("kern.1.txt", "_Z1fv\n# end records=1 unique=1 dropped=0\n");
    let ran = context.kernrec(["show", "kern.1.txt"]);
    assert!(ran.stdout.contains("bad-header"), "{ran}");
    assert_eq!(ran.status, 0);
}

#[test]
fn hostile_text_does_not_reach_the_terminal() {
    let context = Context::new();
    context.write(
        "kern.1.txt",
        "# kernrec v1 pid=1 exe=/a\n_Z1f\u{1b}[31mred\n",
    );
    let ran = context.kernrec(["show", "kern.1.txt"]);
    assert!(!ran.stdout.contains('\u{1b}'), "{ran}");
}

#[test]
fn bad_files_are_refused_with_file_and_place() {
    let context = Context::new();
    context.write("text", "hello\n");
    context.write("empty", "");
    context.write(
        "v1",
        documents::TABLE.replace("\"version\":3", "\"version\":1"),
    );
    context.write(
        "v9",
        documents::MAP.replace("\"version\":2", "\"version\":9"),
    );
    context.write("cut", &documents::TABLE[..200]);
    context.write(
        "twice",
        documents::POINTER.replacen("\"generation\":2", "\"generation\":2,\"generation\":3", 1),
    );
    context.write(
        "index",
        documents::TABLE.replace("\"kernels\":[0,1]", "\"kernels\":[0,99]"),
    );
    context.write("cut.gz", [0x1f, 0x8b, 8, 0]);
    fs_err::create_dir(context.path("folder")).unwrap();
    let before = context.files();
    for name in [
        "text", "empty", "v1", "v9", "cut", "twice", "cut.gz", "folder", "absent",
    ] {
        let ran = context.kernrec(["show", name]);
        assert_eq!((ran.status, ran.stdout.as_str()), (1, ""), "{ran}");
        insta::assert_snapshot!(format!("show_bad_{name}"), ran.stderr);
    }
    // One bad row is set aside, not the table.
    let ran = context.kernrec(["show", "index"]);
    assert!(
        ran.stdout.contains("kernel index 99 is out of range"),
        "{ran}"
    );
    assert_eq!(context.files(), before);
}

#[test]
fn an_unreadable_file_names_itself() {
    let context = Context::new();
    // Opens for everybody and reads for nobody: address 0 of a process is not mapped.
    let ran = context.kernrec(["show", "/proc/self/mem"]);
    assert_eq!((ran.status, ran.stdout.as_str()), (1, ""), "{ran}");
    assert!(ran.stderr.contains("`/proc/self/mem`"), "{ran}");
}

#[test]
fn json_errors_are_documents() {
    let context = Context::new();
    let ran = context.kernrec(["show", "absent", "--json"]);
    insta::assert_snapshot!(ran);
}
