//! The sidecar: lenient about absence, strict about meaning.

use kernrec_schemas::Backend;
use kernrec_schemas::sidecar::{Provenance, Sidecar, SidecarDocument};
use serde_json::json;

fn parse(value: &serde_json::Value) -> Sidecar {
    Sidecar::parse(value.to_string().as_bytes()).unwrap()
}

#[test]
fn the_documented_example_reads() {
    let text = r#"{"step_key":"demo-kernels","label":"Demo","job_id":"j-1","build":"12","commit":"c0de",
        "parallel_job":"0","parallel_job_count":"2","exit_status":0,"host":"n1","backend":"cuda",
        "recorder":"cupti","collection_available":true,"collection_error":null,
        "provenance":{"ci_infra_branch":"main","versions":{"torch":"2.0"},"expected_rocprofiler_sdk":null,"environment":{}}}"#;
    let sidecar = Sidecar::parse(text.as_bytes()).unwrap();
    assert_eq!(sidecar.step_key.unwrap().as_str(), "demo-kernels");
    assert_eq!(sidecar.job_id.unwrap().as_str(), "j-1");
    assert_eq!(sidecar.commit.unwrap().as_str(), "c0de");
    assert_eq!((sidecar.shard, sidecar.shard_count), (Some(0), Some(2)));
    assert_eq!(sidecar.exit_status, Some(0));
    assert_eq!(sidecar.backend, Some(Backend::Cuda));
    assert_eq!(sidecar.collection_available, Some(true));
    assert_eq!(sidecar.collection_error, None);
    assert_eq!(sidecar.faults, Vec::<String>::new());
}

#[test]
fn absent_null_and_empty_are_alike() {
    let nothing = Sidecar::default();
    assert_eq!(parse(&json!({})), nothing);
    let null = json!({"step_key": null, "exit_status": null, "collection_available": null, "variant": null,
        "parallel_job": null, "unrecorded_processes": null, "backend": null});
    assert_eq!(parse(&null), nothing);
    let empty = json!({"step_key": "", "commit": "", "parallel_job": "", "parallel_job_count": "", "variant": "",
        "retry_count": "", "backend": ""});
    assert_eq!(parse(&empty), nothing);
}

#[test]
fn numbers_are_read_from_text_and_text_from_numbers() {
    let sidecar = parse(
        &json!({"build": 12, "parallel_job": 1, "parallel_job_count": "4", "exit_status": "-11",
        "retry_count": "2", "unrecorded_processes": "3", "variant": "cu130"}),
    );
    assert_eq!(sidecar.build.as_deref(), Some("12"));
    assert_eq!((sidecar.shard, sidecar.shard_count), (Some(1), Some(4)));
    assert_eq!(sidecar.exit_status, Some(-11));
    assert_eq!(sidecar.retry_count, Some(2));
    assert_eq!(sidecar.unrecorded_processes, 3);
    assert_eq!(sidecar.variant.as_str(), "cu130");
    assert_eq!(sidecar.faults, Vec::<String>::new());
}

#[test]
fn labels_may_hold_anything() {
    let label = "a \"quoted\"\nlabel\t\u{1f600}";
    assert_eq!(
        parse(&json!({"label": label})).label.as_deref(),
        Some(label)
    );
}

#[test]
fn a_field_of_the_wrong_kind_is_named_and_not_believed() {
    let cases = [
        ("step_key", json!("a\nb")),
        ("step_key", json!(["a"])),
        ("job_id", json!("../../etc")),
        ("commit", json!("not a commit")),
        ("commit", json!({})),
        ("parallel_job", json!("-1")),
        ("parallel_job", json!("one")),
        ("parallel_job_count", json!(1.5)),
        ("exit_status", json!(true)),
        ("exit_status", json!("ok")),
        ("exit_status", json!(1e30)),
        ("backend", json!("xpu")),
        ("collection_available", json!("true")),
        ("collection_available", json!(1)),
        ("collection_error", json!(false)),
        ("retry_count", json!("first")),
        ("variant", json!("a/b")),
        ("unrecorded_processes", json!("some")),
        ("unrecorded_processes", json!(-1)),
    ];
    for (field, value) in cases {
        let sidecar = parse(&json!({field: value, "host": "n1"}));
        assert_eq!(sidecar.faults.len(), 1, "{field}: {value}");
        assert!(
            sidecar.faults[0].starts_with(&format!("{field}: ")),
            "{:?}",
            sidecar.faults
        );
        assert_eq!(
            sidecar.host.as_deref(),
            Some("n1"),
            "the rest is still read"
        );
        let believed = Sidecar {
            faults: Vec::new(),
            host: None,
            ..sidecar
        };
        assert_eq!(believed, Sidecar::default(), "{field}: {value}");
    }
}

#[test]
fn what_is_no_json_object_says_nothing() {
    for text in [
        "",
        "null",
        "[]",
        "\"x\"",
        "12",
        "{",
        "{} x",
        "{\"a\":1,\"a\":2}",
        "{\"a\":{\"b\":1,\"b\":1}}",
    ] {
        assert!(Sidecar::parse(text.as_bytes()).is_err(), "{text}");
    }
    assert!(Sidecar::parse(b"{\"label\":\"\xff\"}").is_err());
    assert_eq!(
        Sidecar::parse(&vec![b' '; 5 << 20]).unwrap_err().reason(),
        "document-too-large"
    );
}

#[test]
fn what_is_written_reads_back() {
    let document = SidecarDocument {
        step_key: "demo".to_owned(),
        label: "Demo \"1\"".to_owned(),
        job_id: "j-1".to_owned(),
        build: "12".to_owned(),
        commit: "c0de".to_owned(),
        parallel_job: "1".to_owned(),
        parallel_job_count: "2".to_owned(),
        exit_status: Some(124),
        host: "n1".to_owned(),
        backend: Some(Backend::Rocm),
        recorder: Some("rocprofiler-sdk".to_owned()),
        collection_available: Some(false),
        collection_error: Some("setup incomplete".to_owned()),
        retry_count: "1".to_owned(),
        variant: "gfx942".to_owned(),
        unrecorded_processes: 2,
        provenance: Provenance::default(),
    };
    let sidecar = Sidecar::parse(&document.to_bytes().unwrap()).unwrap();
    assert_eq!(sidecar.exit_status, Some(124));
    assert_eq!((sidecar.shard, sidecar.shard_count), (Some(1), Some(2)));
    assert_eq!(sidecar.retry_count, Some(1));
    assert_eq!(sidecar.unrecorded_processes, 2);
    assert_eq!(
        sidecar.collection_error.as_deref(),
        Some("setup incomplete")
    );
    assert_eq!(sidecar.variant.as_str(), "gfx942");
    assert_eq!(sidecar.backend, Some(Backend::Rocm));
}

#[test]
fn a_sidecar_no_reader_would_believe_is_not_written() {
    let document = SidecarDocument {
        parallel_job: "second".to_owned(),
        ..SidecarDocument::default()
    };
    let error = document.to_bytes().unwrap_err().to_string();
    assert!(error.contains("parallel_job"), "{error}");
}
