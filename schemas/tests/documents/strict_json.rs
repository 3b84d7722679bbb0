//! What every loader refuses, tried on documents of several kinds.

use kernrec_schemas::DocumentError;
use kernrec_schemas::jobs::JobsList;
use kernrec_schemas::json::{canonical, pretty, read};
use kernrec_schemas::symbol_map::SymbolMap;
use kernrec_schemas::table::KernelTable;
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Debug, PartialEq, Deserialize)]
struct Outer {
    inner: Inner,
    #[serde(default)]
    list: Vec<Inner>,
    map: Option<BTreeMap<String, Inner>>,
    kind: Option<Kind>,
}

#[derive(Debug, PartialEq, Deserialize)]
struct Inner {
    a: u32,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Cuda,
}

fn outer(text: &str) -> Result<Outer, DocumentError> {
    read("test document", text.as_bytes(), 1000)
}

#[track_caller]
fn refused(text: &str, why: &str) {
    let message = outer(text).unwrap_err().to_string();
    assert!(message.contains(why), "{text}: {message}");
    assert!(message.contains("test document"), "{message}");
}

#[test]
fn a_good_document_reads() {
    let text = r#"{"inner":{"a":1,"unknown":{"b":[{},{"c":null}]}},"list":[{"a":2}],"map":{"x":{"a":3}},"kind":"cuda"}"#;
    let read = outer(text).unwrap();
    assert_eq!(read.inner, Inner { a: 1 });
    assert_eq!(read.list, [Inner { a: 2 }]);
    assert_eq!(read.map.unwrap()["x"], Inner { a: 3 });
    assert_eq!(read.kind, Some(Kind::Cuda));
    assert_eq!(
        outer(r#"{"inner":{"\u0061":1}}"#).unwrap().inner,
        Inner { a: 1 },
        "escapes are no difference"
    );
}

#[test]
fn duplicate_keys_are_refused_wherever_they_stand() {
    refused(
        r#"{"inner":{"a":1},"inner":{"a":1}}"#,
        "duplicate key `inner` at line 1",
    );
    refused(r#"{"inner":{"a":1,"a":2}}"#, "duplicate key `a`");
    refused(r#"{"inner":{"a":1,"\u0061":2}}"#, "duplicate key `a`");
    refused(
        r#"{"inner":{"a":1},"list":[{"a":1},{"a":1,"a":1}]}"#,
        "duplicate key `a`",
    );
    refused(
        r#"{"inner":{"a":1},"map":{"x":{"a":1},"x":{"a":1}}}"#,
        "duplicate key `x`",
    );
    refused(
        r#"{"inner":{"a":1},"unknown":1,"unknown":2}"#,
        "duplicate key `unknown`",
    );
    refused(
        r#"{"inner":{"a":1},"unknown":[{"deep":{"x":1,"x":1}}]}"#,
        "duplicate key `x`",
    );
    let many: Vec<String> = (0..40).map(|n| format!("\"k{n}\":0")).collect();
    let many = many.join(",");
    refused(
        &format!(r#"{{"inner":{{"a":1}},"u":{{{many},"k7":0}}}}"#),
        "duplicate key `k7`",
    );
    refused(
        &format!(r#"{{"inner":{{"a":1}},"u":{{{many},"k39":0}}}}"#),
        "duplicate key `k39`",
    );
}

#[test]
fn an_array_is_not_an_object() {
    refused(r#"[{"a":1},[],null,null]"#, "expected struct Outer");
    refused(r#"{"inner":[1]}"#, "expected struct Inner");
    refused(r#"{"inner":{"a":1},"list":[[1]]}"#, "expected struct Inner");
    refused(r#"{"inner":{"a":1},"kind":{"cuda":null}}"#, "invalid type");
}

#[test]
fn the_whole_input_is_the_document_and_it_is_bounded() {
    refused(
        r#"{"inner":{"a":1}} {}"#,
        "trailing characters at line 1 column 19",
    );
    refused("", "EOF");
    refused(r#"{"inner":{"a":1}"#, "EOF");
    refused("\u{feff}{\"inner\":{\"a\":1}}", "line 1 column 1");
    refused(
        &format!("{}{{\"inner\":{{\"a\":1}}}}", " ".repeat(1000)),
        "more than 1000 bytes",
    );
    refused(&"[".repeat(500), "expected struct Outer");
    refused(
        &format!(r#"{{"inner":{{"a":1}},"u":{}"#, "[".repeat(500)),
        "recursion limit",
    );
    let not_utf8 = b"{\"inner\":{\"a\":1},\"u\":\"\xff\"}";
    let message = read::<Outer>("test document", not_utf8, 1000)
        .unwrap_err()
        .to_string();
    assert!(message.contains("not UTF-8 after byte 22"), "{message}");
}

#[test]
fn numbers_out_of_range_are_refused() {
    for bad in [
        "4294967296",
        "-1",
        "1.0",
        "1e3",
        "true",
        "\"1\"",
        "null",
        "01",
        "+1",
        "NaN",
    ] {
        assert!(
            outer(&format!(r#"{{"inner":{{"a":{bad}}}}}"#)).is_err(),
            "{bad}"
        );
    }
}

#[test]
fn each_kind_of_error_has_a_stable_word() {
    let reason = |text: &str| outer(text).unwrap_err().reason();
    assert_eq!(reason("{"), "document-malformed");
    assert_eq!(reason(&" ".repeat(1001)), "document-too-large");
    assert_eq!(
        KernelTable::parse(br#"{"version":1}"#)
            .unwrap_err()
            .reason(),
        "document-version"
    );
    assert_eq!(
        SymbolMap::parse(br#"{"version":3}"#).unwrap_err().reason(),
        "document-version"
    );
    let twice = br#"[{"id":"a"},{"id":"a"}]"#;
    assert_eq!(
        JobsList::parse(twice).unwrap_err().reason(),
        "document-refused"
    );
}

#[test]
fn canonical_is_compact_and_pretty_ends_its_line() {
    let value = BTreeMap::from([("b", 1), ("a", 2)]);
    assert_eq!(canonical(&value), br#"{"a":2,"b":1}"#);
    assert_eq!(pretty(&value), b"{\n  \"a\": 2,\n  \"b\": 1\n}\n");
}
