//! `record.json`: read only exactly as it was written.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use kernrec_schemas::installed::{
    InstalledFile, InstalledParts, InstalledRecord, Origin, Stamp, StoreLayout, Verification,
    file_name,
};
use kernrec_schemas::manifest::Counts;
use kernrec_schemas::{
    Backend, BuildNumber, Commit, Digest, DocumentError, Generation, Pipeline, Timestamp, Variant,
};
use std::collections::{BTreeMap, BTreeSet};

fn parts() -> InstalledParts {
    let file = InstalledFile {
        digest: Digest::of(b"table"),
        size: 5,
        stored: Stamp {
            size: 18,
            modified_ns: 1_893_456_000_123_456_789,
        },
    };
    let time = Timestamp::from_unix(1_893_456_000).unwrap();
    InstalledParts {
        pipeline: Pipeline::new("ci").unwrap(),
        backend: Backend::Rocm,
        commit: Commit::new("abc123").unwrap(),
        build: BuildNumber(7),
        recorded_at: time,
        manifest: Digest::of(b"manifest"),
        counts: Counts::default(),
        files: BTreeMap::from([
            ("table".to_owned(), file.clone()),
            ("symbol_map".to_owned(), file.clone()),
            ("symbol_map.gfx942".to_owned(), file),
        ]),
        twins: BTreeMap::new(),
        origin: Origin {
            layout: StoreLayout::Native,
            url: "/store".to_owned(),
            version: "v".to_owned(),
            generation: Generation(3),
            current: true,
            signed_by: None,
            published_at: Some(time),
            fetched_at: time,
        },
        verified: BTreeSet::from([Verification::Digests, Verification::Agreement]),
    }
}

fn bytes() -> Vec<u8> {
    InstalledRecord::new(parts()).to_bytes()
}

#[test]
fn it_reads_as_it_was_written() {
    let record = InstalledRecord::parse(&bytes()).unwrap();
    assert_eq!(record.to_bytes(), bytes());
    assert_eq!(record.commit.as_str(), "abc123");
    let variants = record.variants();
    assert_eq!(
        variants,
        [Variant::default(), Variant::new("gfx942").unwrap()]
    );
}

#[test]
fn it_validates_against_its_schema() {
    let schema = include_bytes!("../json/installed-record.schema.json");
    let schema = serde_json::from_slice(schema).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let document = serde_json::from_slice(&bytes()).unwrap();
    validator.validate(&document).unwrap();
}

#[test]
fn any_changed_byte_is_noticed() {
    let good = bytes();
    for at in 0..good.len() {
        for change in [1, 2, 4, 8, 0x20, 0xff] {
            let mut bad = good.clone();
            bad[at] ^= change;
            assert!(
                InstalledRecord::parse(&bad).is_err(),
                "byte {at} ^ {change}"
            );
        }
        assert!(InstalledRecord::parse(&good[..at]).is_err(), "cut at {at}");
    }
    assert!(InstalledRecord::parse(&[good.as_slice(), b"\n"].concat()).is_err());
}

#[test]
fn a_changed_field_with_the_old_seal_is_noticed() {
    let mut record = InstalledRecord::parse(&bytes()).unwrap();
    record.revoked = Some(record.recorded_at);
    let marked = String::from_utf8(record.to_bytes()).unwrap();
    let seal = |text: &str| {
        text.lines()
            .find(|line| line.contains("\"seal\""))
            .unwrap()
            .to_owned()
    };
    let good = String::from_utf8(bytes()).unwrap();
    assert_ne!(seal(&marked), seal(&good));
    let forged = marked.replace(&seal(&marked), &seal(&good));
    assert!(InstalledRecord::parse(forged.as_bytes()).is_err());
}

#[test]
fn another_version_is_named() {
    let text = String::from_utf8(bytes())
        .unwrap()
        .replace("installed/1", "installed/9");
    let error = InstalledRecord::parse(text.as_bytes()).unwrap_err();
    assert!(matches!(error, DocumentError::Version { .. }), "{error}");
    assert!(error.to_string().contains("kernrec.installed/9"), "{error}");
}

#[test]
fn files_are_a_table_and_a_map_and_nothing_else() {
    for (remove, insert) in [(Some("table"), None), (None, Some("other"))] {
        let mut parts = parts();
        let file = parts.files["table"].clone();
        if let Some(role) = remove {
            parts.files.remove(role);
        }
        if let Some(role) = insert {
            parts.files.insert(role.to_owned(), file);
        }
        let bytes = InstalledRecord::new(parts).to_bytes();
        let error = InstalledRecord::parse(&bytes).unwrap_err();
        assert_eq!(error.reason(), "document-refused");
    }
}

#[test]
fn names_follow_from_roles() {
    assert_eq!(file_name("table").unwrap(), "kernel_table.json.zst");
    assert_eq!(
        file_name("symbol_map").unwrap(),
        "kernel_symbol_map.json.zst"
    );
    let named = file_name("symbol_map.cuda12").unwrap();
    assert_eq!(named, "kernel_symbol_map.cuda12.json.zst");
    for role in [
        "",
        "tables",
        "symbol_map.",
        "symbol_map./x",
        "symbol_map...",
        "symbol_maps",
    ] {
        assert_eq!(file_name(role), None, "{role}");
    }
}
