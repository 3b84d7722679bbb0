//! Symbol maps of both versions.

use kernrec_schemas::Backend;
use kernrec_schemas::symbol_map::{MapVersion, SymbolMap};
use serde_json::{Value, json};

fn v2() -> Value {
    json!({"version":2,"backend":"rocm","commit":"c0de","generated_at":"2030-01-01T00:00:00+00:00",
        "incomplete":false,"errors":[],"build_dirs":["build"],"tools":{},"hipify_manifests":[],
        "objects":[{"source":"csrc/demo.cu","compiled_source":"build/demo.hip","target":"_C",
            "object":"CMakeFiles/_C.dir/demo.hip.o","device":true,"symbols":["_Z9demoScalePfi"],
            "deps":["csrc/demo.cu","csrc/demo.h"],"offload_targets":["hipv4-amdgcn-amd-amdhsa--gfx942"]}],
        "stats":{"objects":1,"device_objects":1,"symbols":1,"seconds":0.1},
        "offload_targets":["hipv4-amdgcn-amd-amdhsa--gfx942"]})
}

fn v1() -> Value {
    json!({"version":1,"commit":"c0de","cuda":"13.0","generated_at":"2030-01-01T00:00:00+00:00",
        "build_dirs":["build"],"incomplete":false,"errors":[],
        "objects":[{"source":"csrc/demo.cu","target":"_C","object":"demo.cu.o","device":true,
            "symbols":["b","a"],"deps":["csrc/demo.h","csrc/demo.cu"]}],
        "stats":{"objects":1,"device_objects":1,"objects_with_symbols":1,"symbols":2,"cuobjdump_errors":0,"seconds":61.7}})
}

fn parse(value: &Value) -> SymbolMap {
    SymbolMap::parse(value.to_string().as_bytes()).unwrap()
}

fn refusal(value: &Value) -> String {
    SymbolMap::load(value.to_string().as_bytes())
        .unwrap_err()
        .to_string()
}

fn with(mut value: Value, field: &str, to: Value) -> Value {
    value[field] = to;
    value
}

#[test]
fn the_documented_version_2_reads() {
    let map = SymbolMap::load(v2().to_string().as_bytes()).unwrap();
    assert_eq!(map.version, MapVersion::V2);
    assert_eq!(map.backend, Backend::Rocm);
    assert_eq!(map.commit.unwrap().as_str(), "c0de");
    assert_eq!(
        map.objects[0].compiled_source.as_deref(),
        Some("build/demo.hip")
    );
    let deps: Vec<&str> = map.objects[0].deps.iter().map(|dep| &**dep).collect();
    assert_eq!(deps, ["csrc/demo.cu", "csrc/demo.h"]);
    assert!(map.variant.is_default());
}

#[test]
fn version_1_is_cuda() {
    let map = SymbolMap::load(v1().to_string().as_bytes()).unwrap();
    assert_eq!((map.version, map.backend), (MapVersion::V1, Backend::Cuda));
    assert_eq!(map.cuda.as_deref(), Some("13.0"));
    assert_eq!(
        parse(&with(v1(), "backend", json!("cuda"))).backend,
        Backend::Cuda
    );
    assert!(refusal(&with(v1(), "backend", json!("rocm"))).contains("backend"));
}

#[test]
fn the_canonical_bytes_keep_the_version_and_everything_said() {
    for value in [v1(), v2()] {
        let bytes = parse(&value).to_canonical();
        let read: Value = serde_json::from_slice(&bytes).unwrap();
        assert_eq!(read["version"], value["version"]);
        assert_eq!(read["stats"], value["stats"]);
        assert_eq!(read["build_dirs"], value["build_dirs"]);
        assert_eq!(SymbolMap::parse(&bytes).unwrap().to_canonical(), bytes);
    }
}

#[test]
fn the_order_of_lists_does_not_matter() {
    let mut shuffled = v1();
    let mut second = shuffled["objects"][0].clone();
    second["source"] = json!("csrc/other.cu");
    let mut other = v1();
    shuffled["objects"] = json!([second, shuffled["objects"][0]]);
    other["objects"] = json!([other["objects"][0], second]);
    other["objects"][0]["symbols"] = json!(["a", "b", "b"]);
    other["objects"][0]["deps"] = json!(["csrc/demo.cu", "csrc/demo.h"]);
    for (value, errors) in [(&mut shuffled, ["x", "y"]), (&mut other, ["y", "x"])] {
        value["errors"] = errors
            .map(|error| json!({ "error": error }))
            .into_iter()
            .collect();
    }
    assert_eq!(
        parse(&shuffled).to_canonical(),
        parse(&other).to_canonical()
    );
}

#[test]
fn equal_paths_are_kept_once() {
    let map = parse(&with(
        v2(),
        "objects",
        json!([
            {"source":"a.cu","deps":["a.cu","common.h"]}, {"source":"b.cu","deps":["b.cu","common\u{2e}h"]}
        ]),
    ));
    assert!(std::sync::Arc::ptr_eq(
        &map.objects[0].deps[1],
        &map.objects[1].deps[1]
    ));
}

#[test]
fn a_map_that_may_not_be_used_is_read_but_not_loaded() {
    let cases = [
        (
            with(v2(), "reason", json!("unreadable object")),
            "reason: its producer declared it unusable",
        ),
        (with(v2(), "reason", json!("")), "reason"),
        (with(v2(), "objects", json!([])), "objects: no object"),
        (
            with(v2(), "objects", json!([{"source":"a"},{"source":""}])),
            "objects[1].source: empty",
        ),
    ];
    for (value, message) in cases {
        parse(&value);
        assert!(refusal(&value).contains(message), "{}", refusal(&value));
    }
}

#[test]
fn versions_and_backends_that_are_refused() {
    let version = |version: Value| {
        SymbolMap::parse(with(v2(), "version", version).to_string().as_bytes()).unwrap_err()
    };
    for bad in [
        json!(0),
        json!(3),
        json!("2"),
        json!(2.0),
        json!(null),
        json!(true),
        json!(-1),
    ] {
        assert_eq!(version(bad.clone()).reason(), "document-version", "{bad}");
    }
    let mut none = v2();
    none.as_object_mut().unwrap().remove("version");
    assert_eq!(
        SymbolMap::parse(none.to_string().as_bytes())
            .unwrap_err()
            .reason(),
        "document-malformed"
    );
    for backend in [Value::Null, json!("xpu"), json!("unknown"), json!("")] {
        assert!(
            SymbolMap::parse(
                with(v2(), "backend", backend.clone())
                    .to_string()
                    .as_bytes()
            )
            .is_err(),
            "{backend}"
        );
    }
    let mut none = v2();
    none.as_object_mut().unwrap().remove("backend");
    assert!(refusal(&none).contains("backend: missing in version 2"));
    assert_eq!(
        parse(&with(v2(), "backend", json!("cuda"))).backend,
        Backend::Cuda
    );
}

#[test]
fn fields_of_the_wrong_kind_are_refused() {
    let cases = [
        ("objects", json!({})),
        ("objects", json!([{}])),
        ("objects", json!([["a.cu"]])),
        ("objects", json!([{"source":"a","symbols":[""]}])),
        ("objects", json!([{"source":"a","symbols":["#x"]}])),
        ("objects", json!([{"source":"a","symbols":[1]}])),
        ("objects", json!([{"source":"a","deps":"b"}])),
        ("objects", json!([{"source":"a","device":1}])),
        ("incomplete", json!("no")),
        ("commit", json!("../x")),
        ("commit", json!(7)),
        ("generated_at", json!("yesterday")),
        ("variant", json!("a/b")),
        ("tools", json!([])),
    ];
    for (field, value) in cases {
        let map = with(v2(), field, value.clone());
        assert!(
            SymbolMap::parse(map.to_string().as_bytes()).is_err(),
            "{field}: {value}"
        );
    }
}

#[test]
fn an_empty_commit_is_none_and_a_variant_is_kept() {
    let map = parse(&with(
        with(v2(), "commit", json!("")),
        "variant",
        json!("gfx942"),
    ));
    assert_eq!(map.commit, None);
    assert_eq!(map.variant.as_str(), "gfx942");
    let again = SymbolMap::parse(&map.to_canonical()).unwrap();
    assert_eq!((again.commit, again.variant.as_str()), (None, "gfx942"));
}

#[test]
fn incomplete_and_errors_survive() {
    let mut value = v1();
    value["incomplete"] = json!(true);
    value["errors"] = json!([{"object":"a.o","source":"a.cu","error":"unreadable"}]);
    value["objects"][0]["error"] = json!("unreadable");
    let map = SymbolMap::parse(&parse(&value).to_canonical()).unwrap();
    assert!(map.incomplete);
    assert_eq!(map.errors[0].object.as_deref(), Some("a.o"));
    assert_eq!(map.objects[0].error.as_deref(), Some("unreadable"));
}

#[test]
fn symbols_of_several_objects_count_once() {
    let value = with(
        v2(),
        "objects",
        json!([{"source":"a","symbols":["x","y"]},{"source":"b","symbols":["y","z"]}]),
    );
    assert_eq!(parse(&value).distinct_symbols(), 3);
}

#[test]
fn a_number_survives_to_its_last_digit() {
    let text = v1().to_string().replace("61.7", "61.74512934684753");
    let bytes = SymbolMap::parse(text.as_bytes()).unwrap().to_canonical();
    assert!(
        String::from_utf8(bytes)
            .unwrap()
            .contains("61.74512934684753")
    );
}
