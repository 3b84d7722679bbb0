//! The record manifest.

use kernrec_schemas::manifest::{
    BundleRef, Counts, FileRef, MEDIA_JSON, ManifestParts, Producer, ROLE_JOBS, ROLE_TABLE,
    RecordManifest, symbol_map_role, variant_of_role,
};
use kernrec_schemas::{Backend, BuildNumber, Commit, Digest, Pipeline, Timestamp, Variant};
use std::collections::BTreeMap;

fn file(text: &str) -> FileRef {
    FileRef {
        digest: Digest::of(text.as_bytes()),
        size: text.len() as u64,
        media_type: MEDIA_JSON.to_owned(),
    }
}

fn bundle(text: &str) -> BundleRef {
    BundleRef {
        digest: Digest::of(text.as_bytes()),
        size: text.len() as u64,
    }
}

fn manifest(files: BTreeMap<String, FileRef>, bundles: Vec<BundleRef>) -> RecordManifest {
    RecordManifest::new(ManifestParts {
        pipeline: Pipeline::new("ci").unwrap(),
        backend: Backend::Cuda,
        commit: Commit::new("c0de").unwrap(),
        build: BuildNumber(12),
        recorded_at: "2030-01-01T00:00:00Z".parse::<Timestamp>().unwrap(),
        files,
        counts: Counts {
            rows: 2,
            usable_rows: 1,
            ..Counts::default()
        },
        bundles,
        producer: Producer {
            name: "kernrec".to_owned(),
            version: "0.1.0".to_owned(),
        },
    })
}

fn files() -> BTreeMap<String, FileRef> {
    let named = Variant::new("cu130").unwrap();
    BTreeMap::from([
        (ROLE_TABLE.to_owned(), file("table")),
        (symbol_map_role(&Variant::default()), file("map")),
        (symbol_map_role(&named), file("other map")),
    ])
}

fn refusal(bytes: &[u8]) -> (String, &'static str) {
    let error = RecordManifest::parse(bytes).unwrap_err();
    (error.to_string(), error.reason())
}

#[test]
fn it_reads_back_byte_for_byte() {
    let bytes = manifest(files(), vec![bundle("a")]).to_canonical();
    let read = RecordManifest::parse(&bytes).unwrap();
    assert_eq!(read.to_canonical(), bytes);
    assert_eq!(read.table(), Some(&file("table")));
    let variants: Vec<String> = read
        .symbol_maps()
        .map(|(variant, _)| variant.to_string())
        .collect();
    assert_eq!(variants, ["", "cu130"]);
}

#[test]
fn the_order_of_bundles_does_not_matter() {
    let (a, b) = (bundle("a"), bundle("b"));
    let one = manifest(files(), vec![a.clone(), b.clone(), a.clone()]).to_canonical();
    let other = manifest(files(), vec![b, a]).to_canonical();
    assert_eq!(one, other);
    let text = String::from_utf8(one.clone()).unwrap();
    let (from, to) = (
        text.find("\"bundles\":[").unwrap(),
        text.find("],\"producer\"").unwrap(),
    );
    let list = &text[from + "\"bundles\":[".len()..to];
    let (first, second) = list.split_once("},").unwrap();
    let swapped = text.replace(list, &format!("{second},{first}}}"));
    assert_ne!(swapped.as_bytes(), one);
    assert_eq!(
        RecordManifest::parse(swapped.as_bytes())
            .unwrap()
            .to_canonical(),
        one
    );
}

#[test]
fn both_halves_must_be_named_and_of_readable_size() {
    let without = |role: &str| {
        let mut files = files();
        files.retain(|name, _| !name.starts_with(role));
        refusal(&manifest(files, Vec::new()).to_canonical()).0
    };
    assert!(without(ROLE_TABLE).contains("files: no `table`"));
    assert!(without("symbol_map").contains("files: no `symbol_map`"));
    for role in [ROLE_TABLE, "symbol_map", "symbol_map.cu130"] {
        let mut files = files();
        files.get_mut(role).unwrap().size = 512 * 1024 * 1024 + 1;
        let (message, reason) = refusal(&manifest(files, Vec::new()).to_canonical());
        assert!(message.contains(&format!("files.{role}.size")), "{message}");
        assert_eq!(reason, "document-refused");
    }
}

#[test]
fn a_jobs_list_beyond_its_bound_is_refused_before_it_is_read() {
    let with_jobs = |size| {
        let mut files = files();
        files.insert(ROLE_JOBS.to_owned(), FileRef { size, ..file("x") });
        manifest(files, Vec::new()).to_canonical()
    };
    assert!(RecordManifest::parse(&with_jobs(4 << 20)).is_ok());
    let (message, reason) = refusal(&with_jobs((4 << 20) + 1));
    assert!(message.contains("files.jobs.size"), "{message}");
    assert_eq!(reason, "document-refused");
}

#[test]
fn files_of_later_kinds_are_carried() {
    let mut files = files();
    files.insert(
        "function_record".to_owned(),
        FileRef {
            size: u64::MAX,
            ..file("x")
        },
    );
    let bytes = manifest(files, Vec::new()).to_canonical();
    let read = RecordManifest::parse(&bytes).unwrap();
    assert!(read.files.contains_key("function_record"));
    assert_eq!(read.symbol_maps().count(), 2);
}

#[test]
fn another_schema_is_a_version_not_a_malformed_document() {
    let text = String::from_utf8(manifest(files(), Vec::new()).to_canonical()).unwrap();
    let next = text.replace("kernrec.record/1", "kernrec.record/2");
    assert_eq!(refusal(next.as_bytes()).1, "document-version");
    let (message, reason) = refusal(br#"{"schema":"kernrec.record/9","all":"different"}"#);
    assert_eq!(reason, "document-version");
    assert!(
        message.contains("`kernrec.record/9`, expected kernrec.record/1"),
        "{message}"
    );
    assert_eq!(refusal(b"{}").1, "document-malformed");
    assert_eq!(
        refusal(br#"{"schema":"kernrec.record/1"}"#).1,
        "document-malformed"
    );
}

#[test]
fn roles_and_variants() {
    assert_eq!(variant_of_role("symbol_map"), Some(Variant::default()));
    assert_eq!(
        variant_of_role("symbol_map.cu130").unwrap().as_str(),
        "cu130"
    );
    for other in [
        "table",
        "symbol_map.",
        "symbol_mapx",
        "symbol_map.a/b",
        "symbol_map..",
        "",
    ] {
        assert_eq!(variant_of_role(other), None, "{other}");
    }
}

#[test]
fn a_record_of_python_has_a_function_table_and_nothing_of_kernels() {
    let of = |backend: &str, roles: &[&str]| {
        let mut value: serde_json::Value =
            serde_json::from_slice(&manifest(files(), Vec::new()).to_canonical()).unwrap();
        let file = value["files"]["table"].clone();
        value["backend"] = backend.into();
        value["files"] = roles
            .iter()
            .map(|&role| (role.to_owned(), file.clone()))
            .collect();
        RecordManifest::parse(value.to_string().as_bytes())
    };
    let record = of("python", &["function_table", "jobs"]).unwrap();
    assert!(record.function_table().is_some() && record.table().is_none());
    for (backend, roles) in [
        ("python", &["table", "symbol_map"][..]),
        ("python", &["function_table", "table"]),
        ("python", &["function_table", "symbol_map.cu130"]),
        ("python", &["jobs"]),
        ("cuda", &["function_table"]),
        ("cuda", &["table", "symbol_map", "function_table"]),
    ] {
        let error = of(backend, roles).unwrap_err();
        assert_eq!(error.reason(), "document-refused", "{backend} {roles:?}");
    }
}
