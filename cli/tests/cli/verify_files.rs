//! `kernrec verify files`.

use crate::context::Context;
use std::io::Write;

#[test]
fn equal_and_different_files() {
    let context = Context::new();
    context.write("a", "content");
    context.write("b", "content");
    context.write("c", "Content");
    insta::assert_snapshot!("files_same", context.kernrec(["verify", "files", "a", "b"]));
    insta::assert_snapshot!(
        "files_differ",
        context.kernrec(["verify", "files", "a", "c"])
    );
}

#[test]
fn compression_does_not_make_a_difference_and_damage_does() {
    let context = Context::new();
    context.write("plain", "content");
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(b"content").unwrap();
    let mut bytes = gzip.finish().unwrap();
    context.write("packed", &bytes);
    let ran = context.kernrec(["verify", "files", "plain", "packed"]);
    assert_eq!(ran.status, 0, "{ran}");
    assert!(ran.stdout.contains("same-content"), "{ran}");

    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    context.write("damaged", &bytes);
    let ran = context.kernrec(["verify", "files", "plain", "damaged"]);
    assert_eq!(ran.status, 1, "{ran}");
    assert!(ran.stderr.contains("`damaged`"), "{ran}");
}

#[test]
fn folders_are_compared_file_by_file() {
    let context = Context::new();
    for (name, content) in [("a/same", "1"), ("a/sub/other", "2"), ("a/only-a", "3")] {
        context.write(name, content);
    }
    for (name, content) in [("b/same", "1"), ("b/sub/other", "!"), ("b/only-b", "3")] {
        context.write(name, content);
    }
    insta::assert_snapshot!(context.kernrec(["verify", "files", "a", "b"]));
}

#[test]
fn a_file_and_a_folder_or_nothing_at_all() {
    let context = Context::new();
    context.write("a/file", "1");
    let ran = context.kernrec(["verify", "files", "a", "a/file"]);
    assert_eq!(ran.status, 2, "{ran}");
    let ran = context.kernrec(["verify", "files", "a/file", "absent"]);
    assert_eq!(ran.status, 1, "{ran}");
    assert!(ran.stderr.contains("open `absent`"), "{ran}");
}
