//! `latest.json` of the existing system, formats.md section 5.

use kernrec_schemas::pointer::UpstreamPointer;
use kernrec_schemas::{Backend, BuildNumber};

fn parse(text: &str) -> UpstreamPointer {
    UpstreamPointer::parse(text.as_bytes()).unwrap()
}

#[test]
fn the_documented_pointer_reads() {
    let text = r#"{"backend":"rocm","commit":"c0de","build":12,"pipeline":"ci","published_at":"2030-01-01T00:00:00Z",
        "files":["kernel_symbol_map.rocm.json.gz","kernel_table.rocm.json.gz"]}"#;
    let pointer = parse(text);
    assert_eq!(pointer.backend, Some(Backend::Rocm));
    assert_eq!(pointer.commit.as_str(), "c0de");
    assert_eq!(pointer.build, Some(BuildNumber(12)));
    assert_eq!(pointer.files.len(), 2);
}

#[test]
fn the_build_may_be_a_number_a_text_or_absent() {
    assert_eq!(
        parse(r#"{"commit":"c","build":12}"#).build,
        Some(BuildNumber(12))
    );
    assert_eq!(
        parse(r#"{"commit":"c","build":"12"}"#).build,
        Some(BuildNumber(12))
    );
    for none in [
        r#"{"commit":"c"}"#,
        r#"{"commit":"c","build":null}"#,
        r#"{"commit":"c","build":""}"#,
    ] {
        assert_eq!(parse(none).build, None, "{none}");
    }
    for bad in ["-1", "1.5", "true", "\"x\"", "\"-1\"", "[12]", "{\"a\":1}"] {
        let text = format!(r#"{{"commit":"c","build":{bad}}}"#);
        assert!(UpstreamPointer::parse(text.as_bytes()).is_err(), "{bad}");
    }
}

#[test]
fn a_commit_is_all_that_is_needed() {
    assert_eq!(
        parse(r#"{"commit":"c0de","unknown":{"a":[1]}}"#)
            .commit
            .as_str(),
        "c0de"
    );
    for bad in [
        r#"{"build":12}"#,
        r#"{"commit":""}"#,
        r#"{"commit":"../x"}"#,
        r#"{"commit":null}"#,
        r#"["cuda","c0de"]"#,
    ] {
        assert!(UpstreamPointer::parse(bad.as_bytes()).is_err(), "{bad}");
    }
}

#[test]
fn it_reads_back_byte_for_byte_with_our_fields() {
    let text = format!(
        r#"{{"backend":"cuda","commit":"c0de","build":12,"pipeline":"ci","published_at":"2030-01-01T00:00:00Z","files":["a"],"generation":3,"nonce":"{}","digests":{{"a":"b3:{}"}}}}"#,
        "0".repeat(32),
        "1".repeat(64),
    );
    assert_eq!(String::from_utf8(parse(&text).to_bytes()).unwrap(), text);
}
