//! Whether table, maps and manifest are one record.

use kernrec_schemas::agreement::check;
use kernrec_schemas::manifest::{Counts, FileRef, RecordManifest};
use kernrec_schemas::symbol_map::SymbolMap;
use kernrec_schemas::table::KernelTable;
use kernrec_schemas::{Digest, KernelName, Variant};
use serde_json::{Value, json};

/// A table whose rows are these, beside one healthy row `good` that launched `k`.
fn table(more: &[(&str, Value)]) -> KernelTable {
    let mut document = json!({
        "version": 3,
        "source": {"org": "acme", "pipeline": "ci", "build": 12, "commit": "c0de",
            "recorded_at": "2030-01-01T00:00:00Z"},
        "names": ["k", "other"],
        "rows": {"good": row()},
    });
    for (step, row) in more {
        document["rows"][*step] = row.clone();
    }
    KernelTable::parse(document.to_string().as_bytes()).unwrap()
}

fn row() -> Value {
    json!({"jobs": 1, "passed": true, "complete": true, "processes": 1, "dropped": 0, "kernels": [0],
        "backend": "cuda", "trace_complete": true, "recording_available": true})
}

fn row_with(field: &str, value: Value) -> Value {
    let mut row = row();
    row[field] = value;
    row
}

fn map(variant: &str) -> SymbolMap {
    let document = json!({
        "version": 2, "backend": "cuda", "commit": "c0de", "variant": variant,
        "objects": [{"source": "a.cu", "symbols": ["k"]}],
    });
    SymbolMap::parse(document.to_string().as_bytes()).unwrap()
}

fn manifest(counts: Counts) -> RecordManifest {
    let file = FileRef {
        digest: Digest::of(b""),
        size: 0,
        media_type: "application/json".to_owned(),
    };
    let document = json!({
        "schema": "kernrec.record/1", "pipeline": "ci", "backend": "cuda", "commit": "c0de", "build": 12,
        "recorded_at": "2030-01-01T00:00:00Z", "files": {"table": file, "symbol_map": file},
        "counts": counts, "bundles": [], "producer": {"name": "kernrec", "version": "0"},
    });
    RecordManifest::parse(document.to_string().as_bytes()).unwrap()
}

/// The reason word of the disagreement of these documents under a manifest that counts them rightly.
fn reason(table: &KernelTable, maps: &[(&str, SymbolMap)]) -> Option<&'static str> {
    let manifest = manifest(Counts::of(table, maps.iter().map(|(_, map)| map)));
    let maps: Vec<(Variant, &SymbolMap)> = maps
        .iter()
        .map(|(variant, map)| (variant.parse().unwrap(), map))
        .collect();
    check(&manifest, table, &maps)
        .err()
        .map(|disagreement| disagreement.reason())
}

#[test]
fn a_whole_record_agrees() {
    assert_eq!(reason(&table(&[]), &[("", map(""))]), None);
}

#[test]
fn a_row_that_was_set_aside_does_not_cost_the_record() {
    let table = table(&[
        ("index", row_with("kernels", json!([1, 99]))),
        ("kind", row_with("passed", json!(1))),
        ("\u{1}", row()),
    ]);
    assert_eq!(table.faults.len(), 3);
    assert_eq!(table.usable_rows(), 1);
    assert_eq!(reason(&table, &[("", map(""))]), None);
}

#[test]
fn commits_and_backends_are_one() {
    let mut stranger = map("");
    stranger.commit = None;
    assert_eq!(
        reason(&table(&[]), &[("", stranger.clone())]),
        Some("commit-mismatch")
    );
    stranger = map("");
    stranger.backend = kernrec_schemas::Backend::Rocm;
    assert_eq!(
        reason(&table(&[]), &[("", stranger)]),
        Some("wrong-backend")
    );
    let rocm = table(&[("r", row_with("backend", json!("rocm")))]);
    assert_eq!(reason(&rocm, &[("", map(""))]), Some("wrong-backend"));
    let unknown = table(&[("u", row_with("backend", json!("unknown")))]);
    assert_eq!(reason(&unknown, &[("", map(""))]), None);
}

#[test]
fn a_usable_row_has_a_map_for_each_of_its_variants() {
    let named = table(&[("named", row_with("variants", json!(["cu12"])))]);
    let missing = Some("variant-without-map");
    assert_eq!(reason(&named, &[("", map(""))]), missing);
    assert_eq!(
        reason(&named, &[("", map("")), ("cu12", map("cu12"))]),
        None
    );
    // `good` names no variant, so its jobs ran in the default one.
    assert_eq!(reason(&named, &[("cu12", map("cu12"))]), missing);
    assert_eq!(
        reason(&table(&[]), &[("", map("cu12"))]),
        Some("variant-mismatch")
    );
}

#[test]
fn something_must_be_usable_and_join() {
    let mut table = table(&[]);
    let mut elsewhere = map("");
    elsewhere.objects[0].symbols = vec![KernelName::new("other").unwrap()];
    assert_eq!(
        reason(&table, &[("", elsewhere)]),
        Some("names-do-not-join")
    );
    for row in table.rows.values_mut() {
        row.passed = false;
    }
    assert_eq!(reason(&table, &[("", map(""))]), Some("no-usable-row"));
}

#[test]
fn every_count_of_the_manifest_is_held_against_the_documents() {
    let (table, map) = (table(&[]), map(""));
    let right = Counts::of(&table, [&map]);
    let one = |change: fn(&mut Counts)| {
        let mut counts = right;
        change(&mut counts);
        let maps = [(Variant::default(), &map)];
        check(&manifest(counts), &table, &maps)
            .unwrap_err()
            .reason()
    };
    let changes: [fn(&mut Counts); 6] = [
        |counts| counts.rows += 1,
        |counts| counts.usable_rows += 1,
        |counts| counts.kernels += 1,
        |counts| counts.objects += 1,
        |counts| counts.symbols += 1,
        |counts| counts.joined += 1,
    ];
    for change in changes {
        assert_eq!(one(change), "counts-mismatch");
    }
}
