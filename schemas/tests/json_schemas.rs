//! The checked-in JSON Schemas are those of the types, and documents validate.
//!
//! `KERNREC_UPDATE_SCHEMAS=1 cargo test -p kernrec-schemas --test json_schemas` rewrites the files.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use kernrec_schemas::bundle::BundleMeta;
use kernrec_schemas::function_table::FunctionTable;
use kernrec_schemas::json_schema::DocumentSchema;
use kernrec_schemas::pointer::{Pointer, RecordRef, UpstreamPointer};
use kernrec_schemas::sidecar::SidecarDocument;
use kernrec_schemas::symbol_map::SymbolMap;
use kernrec_schemas::table::KernelTable;
use kernrec_schemas::{Backend, BuildNumber, Commit, Digest, Nonce, Pipeline, Timestamp};
use serde_json::{Value, json};
use std::io::Read;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("json")
}

fn testdata() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/ggml-h200")
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "rewriting a checked-in file on request need be neither atomic nor durable"
)]
fn the_checked_in_schemas_are_current() {
    let update = std::env::var_os("KERNREC_UPDATE_SCHEMAS").is_some_and(|value| value == "1");
    let mut expected = Vec::new();
    for document in DocumentSchema::all() {
        let name = format!("{}.schema.json", document.name);
        let path = folder().join(&name);
        if update {
            std::fs::write(&path, document.to_bytes()).unwrap();
        }
        let stored = fs_err::read(&path).unwrap();
        assert!(
            stored == document.to_bytes(),
            "{name} is not the schema of its type; KERNREC_UPDATE_SCHEMAS=1 rewrites it"
        );
        expected.push(name);
    }
    let mut present: Vec<String> = fs_err::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    present.sort();
    // Of a type of `kernrec-select`, and compared with it there.
    present.retain(|name| name != "selection.schema.json");
    assert_eq!(present, expected, "one file per document, no other");
}

fn errors(name: &str, document: &Value) -> Vec<String> {
    let schema = fs_err::read(folder().join(format!("{name}.schema.json"))).unwrap();
    let schema: Value = serde_json::from_slice(&schema).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    validator
        .iter_errors(document)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect()
}

#[track_caller]
fn valid(name: &str, bytes: &[u8]) {
    let document = serde_json::from_slice(bytes).unwrap();
    assert_eq!(errors(name, &document), Vec::<String>::new(), "{name}");
}

#[track_caller]
fn invalid(name: &str, document: &Value) {
    assert_ne!(
        errors(name, document),
        Vec::<String>::new(),
        "{name}: {document}"
    );
}

#[test]
fn the_real_map_and_its_canonical_form_validate() {
    let packed = fs_err::File::open(testdata().join("kernel_symbol_map.json.gz")).unwrap();
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(packed)
        .read_to_end(&mut bytes)
        .unwrap();
    valid("symbol-map", &bytes);
    valid(
        "symbol-map",
        &SymbolMap::load(&bytes).unwrap().to_canonical(),
    );
}

#[test]
fn the_real_sidecars_validate() {
    let mut read = 0;
    for job in fs_err::read_dir(testdata().join("recordings")).unwrap() {
        let bytes = fs_err::read(job.unwrap().path().join("kernrec.json")).unwrap();
        valid("sidecar", &bytes);
        read += 1;
    }
    assert_eq!(read, 129);
}

#[test]
fn a_written_sidecar_validates() {
    valid("sidecar", &SidecarDocument::default().to_bytes().unwrap());
    let full = SidecarDocument {
        parallel_job: "1".to_owned(),
        parallel_job_count: "2".to_owned(),
        retry_count: "0".to_owned(),
        backend: Some(Backend::Rocm),
        exit_status: Some(-9),
        ..SidecarDocument::default()
    };
    valid("sidecar", &full.to_bytes().unwrap());
    invalid("sidecar", &json!({"exit_status": "0"}));
    invalid("sidecar", &json!({"exit_status": 0, "parallel_job": "one"}));
}

fn table() -> Value {
    json!({"version":3,
        "source":{"org":"acme","pipeline":"ci","build":12,"commit":"","recorded_at":"2030-01-01T00:00:00Z"},
        "names":["_Z9demoScalePfi"],
        "rows":{"demo":{"jobs":2,"passed":true,"complete":true,"processes":3,"dropped":0,
            "shards":{"expected":2,"seen":2},"kernels":[0],"backend":"cuda","trace_complete":true,
            "recording_available":true,"health":{"clean":3},"reasons":["job-missing"],"variants":["cu130"]}},
        "stats":{"steps":1,"unique_kernels":1,"processes":3,"rows_usable":0,"rows_incomplete":0,"rows_with_drops":0}})
}

#[test]
fn tables_validate() {
    valid("kernel-table", table().to_string().as_bytes());
    let read = KernelTable::parse(table().to_string().as_bytes()).unwrap();
    valid("kernel-table", &read.to_canonical());
    let wrong = [
        ("/version", json!(1)),
        ("/names/0", json!("#x")),
        ("/source/recorded_at", json!("yesterday")),
        ("/rows/demo/backend", json!("xpu")),
        ("/rows/demo/kernels/0", json!(-1)),
        ("/rows/demo/passed", json!(1)),
        ("/rows/demo/variants/0", json!("a/b")),
    ];
    for (place, value) in wrong {
        let mut table = table();
        *table.pointer_mut(place).unwrap() = value;
        invalid("kernel-table", &table);
    }
}

#[test]
fn function_tables_validate() {
    let bytes = include_bytes!("corpus/function_table/table.json");
    valid("function-table", bytes);
    let read = FunctionTable::parse(bytes).unwrap();
    valid("function-table", &read.to_canonical());
    for (place, value) in [
        ("/schema", json!("kernrec.functions/2")),
        ("/files/0/path", json!("")),
        ("/files/0/functions/0", json!("")),
        ("/rows/demo/functions/0", json!(-1)),
        ("/rows/demo/commits/0", json!("a b")),
        ("/rows/demo/passed", json!(1)),
    ] {
        let mut table: Value = serde_json::from_slice(bytes).unwrap();
        *table.pointer_mut(place).unwrap() = value;
        invalid("function-table", &table);
    }
}

#[test]
fn pointers_validate() {
    let record = |name: &str| RecordRef {
        manifest: Digest::of(name.as_bytes()),
        commit: Commit::new("c0de").unwrap(),
        build: BuildNumber(1),
        published_at: Timestamp::from_unix(1_893_456_000).unwrap(),
    };
    let nonce = Nonce::new("0".repeat(32)).unwrap();
    let first = Pointer::first(
        Pipeline::new("ci").unwrap(),
        Backend::Cuda,
        record("a"),
        nonce.clone(),
    );
    let second = first.advanced(record("b"), nonce.clone()).unwrap();
    let back = second
        .rolled_back(
            &record("a").manifest,
            nonce,
            Timestamp::from_unix(1_900_000_000).unwrap(),
        )
        .unwrap();
    valid("pointer", &back.to_bytes());
    let written: Value = serde_json::from_slice(&back.to_bytes()).unwrap();
    for (place, value) in [
        ("/schema", json!("kernrec.pointer/2")),
        ("/generation", json!(0)),
        ("/nonce", json!("x")),
        ("/pipeline", json!("../ci")),
        ("/current/manifest", json!("b3:xyz")),
        ("/current/commit", json!("-x")),
    ] {
        let mut pointer = written.clone();
        *pointer.pointer_mut(place).unwrap() = value;
        invalid("pointer", &pointer);
    }
}

#[test]
fn upstream_pointers_and_jobs_lists_validate() {
    let pointer = json!({"backend":"rocm","commit":"c0de","build":12,"pipeline":"ci",
        "published_at":"2030-01-01T00:00:00Z","files":["kernel_table.rocm.json.gz"]});
    valid("upstream-pointer", pointer.to_string().as_bytes());
    let read = UpstreamPointer::parse(pointer.to_string().as_bytes()).unwrap();
    valid("upstream-pointer", &read.to_bytes());
    valid("upstream-pointer", br#"{"commit":"c0de","build":"12"}"#);
    invalid(
        "upstream-pointer",
        &json!({"commit":"c0de","build":"twelve"}),
    );
    invalid("upstream-pointer", &json!({"build":12}));
    valid("jobs-list", br#"[{"id":"a","state":"passed","step_key":"x"},{"id":"b","state":null,"step_key":null},{"id":"c","step_key":""}]"#);
    invalid("jobs-list", &json!([{"state":"passed"}]));
    invalid("jobs-list", &json!({}));
}

#[test]
fn bundle_descriptions_validate() {
    let meta =
        json!({"schema":"kernrec.bundle/1","job_id":"j-1","step_key":null,"layout":"step-job"});
    let bytes =
        br#"{"schema":"kernrec.bundle/1","job_id":"j-1","step_key":null,"layout":"step-job"}"#;
    valid("bundle", &BundleMeta::parse(bytes).unwrap().to_bytes());
    for (place, value) in [
        ("/schema", json!("kernrec.bundle/2")),
        ("/job_id", json!("a/b")),
        ("/layout", json!("flat")),
        ("/step_key", json!(1)),
    ] {
        let mut meta = meta.clone();
        *meta.pointer_mut(place).unwrap() = value;
        invalid("bundle", &meta);
    }
}

#[test]
fn manifests_validate() {
    let file =
        json!({"digest": Digest::of(b"").to_string(), "size": 0, "media_type": "application/json"});
    let manifest = json!({"schema":"kernrec.record/1","pipeline":"ci","backend":"cuda","commit":"c0de","build":12,
        "recorded_at":"2030-01-01T00:00:00Z","files":{"table":file,"symbol_map":file},
        "counts":{"rows":1,"usable_rows":1,"kernels":1,"objects":1,"symbols":1,"joined":1},
        "bundles":[{"digest": Digest::of(b"").to_string(), "size": 0}],
        "producer":{"name":"kernrec","version":"0.1.0"}});
    let read =
        kernrec_schemas::manifest::RecordManifest::parse(manifest.to_string().as_bytes()).unwrap();
    valid("record-manifest", &read.to_canonical());
    for (place, value) in [
        ("/schema", json!("x")),
        ("/files/table/digest", json!("b3:")),
        ("/build", json!("12")),
    ] {
        let mut manifest = manifest.clone();
        *manifest.pointer_mut(place).unwrap() = value;
        invalid("record-manifest", &manifest);
    }
}
