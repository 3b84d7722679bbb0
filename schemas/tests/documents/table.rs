//! The kernel table as a document; its rows are in `table_rows`.

use kernrec_schemas::table::KernelTable;
use kernrec_schemas::{BuildNumber, DocumentError, KernelName};
use serde_json::{Value, json};

pub(crate) fn v3() -> Value {
    json!({"version":3,"source":{"org":"acme","pipeline":"ci","build":12,"commit":"c0de","recorded_at":"2030-01-01T00:00:00Z"},
        "names":["_Z9demoScalePfi","demo_triton_add"],
        "rows":{"demo-kernels":{"jobs":2,"passed":true,"complete":true,"processes":3,"dropped":0,
            "shards":{"expected":2,"seen":2},"kernels":[0,1],"backend":"cuda","trace_complete":true,"recording_available":true}},
        "stats":{"steps":1,"unique_kernels":2,"processes":3,"rows_usable":1,"rows_incomplete":0,"rows_with_drops":0}})
}

pub(crate) fn v2() -> Value {
    let mut table = v3();
    table["version"] = json!(2);
    let row = table["rows"]["demo-kernels"].as_object_mut().unwrap();
    for field in ["backend", "trace_complete", "recording_available"] {
        row.remove(field);
    }
    table
}

fn parse(value: &Value) -> Result<KernelTable, DocumentError> {
    KernelTable::parse(value.to_string().as_bytes())
}

fn with(field: &str, to: Value) -> Value {
    let mut value = v3();
    value[field] = to;
    value
}

#[test]
fn the_documented_version_3_reads() {
    let table = parse(&v3()).unwrap();
    assert_eq!((table.version, table.source.build), (3, BuildNumber(12)));
    assert_eq!(table.source.commit.as_ref().unwrap().as_str(), "c0de");
    let row = &table.rows["demo-kernels"];
    assert!(row.is_usable());
    let kernels: Vec<&str> = table.kernels(row).map(KernelName::as_str).collect();
    assert_eq!(kernels, ["_Z9demoScalePfi", "demo_triton_add"]);
    assert_eq!(table.usable_rows(), 1);
    assert_eq!(table.faults, []);
}

#[test]
fn version_2_selects_and_never_drops() {
    let table = parse(&v2()).unwrap();
    let row = &table.rows["demo-kernels"];
    assert_eq!(table.version, 2);
    assert_eq!(row.backend.as_str(), "cuda");
    assert!(!row.trace_complete && !row.is_usable());
    assert_eq!(row.kernels, [0, 1]);
    let again = KernelTable::parse(&table.to_canonical()).unwrap();
    assert!(
        !again.rows["demo-kernels"].is_usable(),
        "written as version 3 it still never drops"
    );
}

#[test]
fn other_versions_are_refused() {
    for version in [
        json!(1),
        json!(0),
        json!(4),
        json!("3"),
        json!(3.0),
        Value::Null,
        json!(-3),
        json!([3]),
    ] {
        let error = parse(&with("version", version.clone())).unwrap_err();
        assert_eq!(error.reason(), "document-version", "{version}");
        assert!(error.to_string().contains("expected 2 or 3"), "{error}");
    }
    let mut none = v3();
    none.as_object_mut().unwrap().remove("version");
    assert_eq!(parse(&none).unwrap_err().reason(), "document-malformed");
}

#[test]
fn whole_table_refusals() {
    let cases = [
        with("names", json!("x")),
        with("names", json!([1])),
        with("names", json!([""])),
        with("names", json!(["a", "a"])),
        with("names", json!(["#a", "b"])),
        with("rows", json!([])),
        with("rows", json!({})),
        with("rows", Value::Null),
        with("source", Value::Null),
        with("source", json!({"build":12})),
        with(
            "source",
            json!({"build":"12","commit":"c","recorded_at":"2030-01-01T00:00:00Z"}),
        ),
        with(
            "source",
            json!({"build":12,"commit":"a b","recorded_at":"2030-01-01T00:00:00Z"}),
        ),
        with(
            "source",
            json!({"build":12,"commit":"c","recorded_at":"2030"}),
        ),
    ];
    for value in cases {
        assert!(parse(&value).is_err(), "{value}");
    }
    let twice = v3()
        .to_string()
        .replace("\"demo-kernels\":", "\"demo-kernels\":{},\"demo-kernels\":");
    assert!(KernelTable::parse(twice.as_bytes()).is_err());
    let within = v3()
        .to_string()
        .replace("\"jobs\":2", "\"jobs\":2,\"jobs\":2");
    let table = KernelTable::parse(within.as_bytes());
    assert!(!table.is_ok_and(|table| table.rows["demo-kernels"].is_usable()));
}

#[test]
fn defaults_of_the_source() {
    let source = json!({"build":12,"commit":"","recorded_at":"2030-01-01T00:00:00Z"});
    let table = parse(&with("source", source)).unwrap();
    assert_eq!(
        (table.source.org.as_str(), table.source.pipeline.as_str()),
        ("vllm", "ci")
    );
    assert_eq!(table.source.commit, None);
    let again = KernelTable::parse(&table.to_canonical()).unwrap();
    assert_eq!(again.source, table.source);
}

#[test]
fn canonical_sorts_names_and_drops_those_no_row_launched() {
    let mut value = with("names", json!(["z", "unused", "a"]));
    value["rows"]["demo-kernels"]["kernels"] = json!([2, 0, 2]);
    let bytes = parse(&value).unwrap().to_canonical();
    let written: Value = serde_json::from_slice(&bytes).unwrap();
    assert_eq!(written["names"], json!(["a", "z"]));
    assert_eq!(written["rows"]["demo-kernels"]["kernels"], json!([0, 1]));
    assert_eq!(written["stats"]["unique_kernels"], json!(2));
    assert_eq!(KernelTable::parse(&bytes).unwrap().to_canonical(), bytes);
}

#[test]
fn canonical_merges_a_name_that_a_fold_gave_twice() {
    let mut table = parse(&v3()).unwrap();
    table.names[1] = table.names[0].clone();
    let again = KernelTable::parse(&table.to_canonical()).unwrap();
    assert_eq!(again.names.len(), 1);
    assert_eq!(again.rows["demo-kernels"].kernels, [0]);
}

#[test]
fn canonical_counts_what_the_rows_say() {
    let mut value = v3();
    let row = value["rows"]["demo-kernels"].clone();
    value["rows"]["incomplete"] = row.clone();
    value["rows"]["incomplete"]["complete"] = json!(false);
    value["rows"]["dropped"] = row;
    value["rows"]["dropped"]["dropped"] = json!(7);
    let written: Value = serde_json::from_slice(&parse(&value).unwrap().to_canonical()).unwrap();
    let expected = json!({"steps":3,"unique_kernels":2,"processes":9,"rows_usable":1,"rows_incomplete":1,"rows_with_drops":1});
    assert_eq!(written["stats"], expected);
}
