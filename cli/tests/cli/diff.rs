//! `kernrec diff`.

use crate::context::Context;
use crate::documents;

#[test]
fn what_changed_is_said_in_stable_names() {
    let context = Context::new();
    context.write("a", documents::TABLE);
    context.write("b", documents::LATER_TABLE);
    insta::assert_snapshot!(context.kernrec(["diff", "a", "b"]));
    let json = context.kernrec(["diff", "a", "b", "--json"]);
    assert_eq!(json.status, 3, "{json}");
    insta::assert_snapshot!(json.stdout);
}

#[test]
fn other_content_hashes_are_no_change() {
    let context = Context::new();
    context.write("a", documents::LATER_TABLE);
    let rebuilt = documents::LATER_TABLE
        .replace("a58b5648", "01234567")
        .replace("0f32c6d1", "89abcdef");
    assert_ne!(rebuilt, documents::LATER_TABLE);
    context.write("b", rebuilt);
    let ran = context.kernrec(["diff", "a", "b"]);
    assert_eq!(ran.status, 0, "{ran}");
    assert!(ran.stdout.starts_with("the tables say the same\n"), "{ran}");
}

#[test]
fn a_document_of_another_kind_is_refused() {
    let context = Context::new();
    context.write("a", documents::TABLE);
    context.write("map", documents::MAP);
    for args in [
        ["diff", "a", "map"],
        ["diff", "map", "a"],
        ["diff", "a", "absent"],
    ] {
        let ran = context.kernrec(args);
        assert_eq!((ran.status, ran.stdout.as_str()), (1, ""), "{ran}");
        let named = if args.contains(&"map") {
            "`map`"
        } else {
            "`absent`"
        };
        assert!(ran.stderr.contains(named), "{ran}");
    }
}
