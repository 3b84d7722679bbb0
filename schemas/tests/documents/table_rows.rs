//! Rows: the rule of a usable one, and what happens to a bad one.

use super::table::{v2, v3};
use kernrec_schemas::recording::{ProcessCounts, ProcessState};
use kernrec_schemas::table::{KernelTable, Row, RowReason};
use serde_json::{Value, json};

const STEP: &str = "demo-kernels";

fn table_with(edit: impl FnOnce(&mut Value)) -> KernelTable {
    let mut value = v3();
    edit(&mut value["rows"][STEP]);
    KernelTable::parse(value.to_string().as_bytes()).unwrap()
}

fn row_with(field: &str, to: Value) -> Row {
    table_with(|row| row[field] = to).rows.remove(STEP).unwrap()
}

#[test]
fn every_single_sign_makes_a_row_unusable_and_is_named() {
    let cases = [
        ("passed", json!(false), RowReason::NotPassed),
        ("complete", json!(false), RowReason::ShardsIncomplete),
        (
            "shards",
            json!({"expected":3,"seen":2}),
            RowReason::ShardsIncomplete,
        ),
        ("dropped", json!(1), RowReason::Dropped),
        ("backend", json!("unknown"), RowReason::BackendUnknown),
        ("trace_complete", json!(false), RowReason::TraceIncomplete),
        ("processes", json!(0), RowReason::NoRecording),
        ("jobs", json!(0), RowReason::NoRecording),
        ("reasons", json!(["job-missing"]), RowReason::JobMissing),
        (
            "reasons",
            json!(["of-tomorrow"]),
            RowReason::Other("of-tomorrow".into()),
        ),
        (
            "health",
            json!({"clean":2,"no_footer":1}),
            RowReason::NoFooter,
        ),
    ];
    for (field, value, reason) in cases {
        let row = row_with(field, value.clone());
        assert!(!row.is_usable(), "{field}: {value}");
        assert!(
            row.unusable_reasons().contains(&reason),
            "{field}: {value}: {:?}",
            row.unusable_reasons()
        );
        assert_eq!(row.kernels, [0, 1], "its kernels still select");
    }
}

#[test]
fn what_does_not_make_a_row_unusable() {
    let cases = [
        ("recording_available", json!(false)),
        ("shards", json!({"expected":null,"seen":0})),
        ("shards", json!({"expected":2,"seen":3})),
        ("health", json!({"clean":2,"idle":1})),
        ("variants", json!(["cu130"])),
        ("reasons", json!([])),
        ("kernels", json!([])),
        ("unknown", json!({"a":1})),
    ];
    for (field, value) in cases {
        let row = row_with(field, value.clone());
        assert!(
            row.is_usable(),
            "{field}: {value}: {:?}",
            row.unusable_reasons()
        );
        assert!(row.unusable_reasons().is_empty());
    }
}

#[test]
fn a_bad_row_is_set_aside_and_its_kernels_still_select() {
    let cases = [
        ("passed", json!(1)),
        ("passed", json!("true")),
        ("complete", Value::Null),
        ("trace_complete", json!("yes")),
        ("dropped", json!(-1)),
        ("dropped", json!(0.0)),
        ("dropped", json!(false)),
        ("jobs", json!(true)),
        ("processes", json!("3")),
        ("backend", json!("xpu")),
        ("backend", json!(1)),
        ("backend", Value::Null),
        ("reasons", json!("x")),
        ("health", json!({"clean":-1})),
        ("variants", json!(["a/b"])),
        ("shards", json!([1, 2])),
    ];
    for (field, value) in cases {
        let table = table_with(|row| row[field] = value.clone());
        let row = &table.rows[STEP];
        assert!(!row.is_usable(), "{field}: {value}");
        assert_eq!(row.kernels, [0, 1], "{field}: {value}");
        assert_eq!(row.backend.known(), None, "it vetoes in every backend");
        assert!(row.unusable_reasons().contains(&RowReason::MalformedRow));
        assert_eq!(table.faults.len(), 1, "{field}: {value}");
        assert_eq!(table.faults[0].key, STEP);
    }
}

#[test]
fn a_row_without_a_field_is_set_aside() {
    for field in [
        "jobs",
        "passed",
        "complete",
        "processes",
        "dropped",
        "kernels",
        "backend",
        "trace_complete",
    ] {
        let table = table_with(|row| {
            row.as_object_mut().unwrap().remove(field);
        });
        assert!(!table.rows[STEP].is_usable(), "{field}");
        assert!(
            table.faults[0].problem.contains(field),
            "{:?}",
            table.faults
        );
    }
}

#[test]
fn kernel_indexes_out_of_range_are_set_aside_and_the_others_kept() {
    for bad in [
        json!(2),
        json!(4_294_967_296_u64),
        json!(-1),
        json!(true),
        json!(1.0),
        json!("1"),
        Value::Null,
        json!([0]),
    ] {
        let table = table_with(|row| row["kernels"] = json!([1, bad.clone(), 0, 1]));
        assert!(!table.rows[STEP].is_usable(), "{bad}");
        assert_eq!(table.rows[STEP].kernels, [0, 1], "{bad}");
        assert_eq!(table.faults.len(), 1, "{bad}");
    }
}

#[test]
fn what_is_no_row_at_all_is_set_aside_without_kernels() {
    for bad in [
        Value::Null,
        json!([1, true]),
        json!("x"),
        json!({}),
        json!({"kernels": {}}),
    ] {
        let table = table_with(|row| *row = bad.clone());
        assert!(!table.rows[STEP].is_usable(), "{bad}");
        assert_eq!(table.rows[STEP].kernels, Vec::<u32>::new());
    }
}

#[test]
fn one_bad_row_costs_no_other() {
    let mut value = v3();
    value["rows"]["bad"] = json!({"kernels":[1],"passed":"maybe"});
    value["rows"]["bad\nkey"] = value["rows"][STEP].clone();
    let table = KernelTable::parse(value.to_string().as_bytes()).unwrap();
    assert!(table.rows[STEP].is_usable());
    assert_eq!(table.rows.len(), 2);
    let keys: Vec<&str> = table
        .faults
        .iter()
        .map(|fault| fault.key.as_str())
        .collect();
    assert_eq!(keys, ["bad", "bad\nkey"]);
    let again = KernelTable::parse(&table.to_canonical()).unwrap();
    assert!(!again.rows["bad"].is_usable());
    assert_eq!(again.kernels(&again.rows["bad"]).count(), 1);
}

#[test]
fn a_version_2_row_may_be_bad_too() {
    let mut value = v2();
    value["rows"][STEP]["passed"] = json!("maybe");
    let table = KernelTable::parse(value.to_string().as_bytes()).unwrap();
    assert_eq!(table.rows[STEP].kernels, [0, 1]);
    assert_eq!(table.faults.len(), 1);
}

#[test]
fn reasons_keep_words_of_newer_writers() {
    let row = row_with("reasons", json!(["of-tomorrow", "not-passed"]));
    let words: Vec<&str> = row.reasons.iter().map(RowReason::word).collect();
    assert_eq!(words, ["not-passed", "of-tomorrow"]);
}

#[test]
fn the_words_of_reasons_are_stable_distinct_and_known() {
    let words: std::collections::BTreeSet<&str> =
        RowReason::KNOWN.iter().map(RowReason::word).collect();
    assert_eq!(words.len(), RowReason::KNOWN.len());
    for reason in RowReason::KNOWN {
        assert_eq!(&RowReason::from(reason.word().to_owned()), reason);
        assert!(
            reason
                .word()
                .bytes()
                .all(|b| b.is_ascii_lowercase() || b == b'-'),
            "{reason}"
        );
    }
}

#[test]
fn every_unhealthy_state_is_a_reason_and_a_count() {
    let mut counts = ProcessCounts::default();
    for state in ProcessState::ALL {
        assert_eq!(
            RowReason::of_process(state).is_none(),
            state.is_healthy(),
            "{state:?}"
        );
        if let Some(reason) = RowReason::of_process(state) {
            assert_eq!(reason.word(), state.word());
        }
        counts.add(state);
        counts.add(state);
        assert_eq!(counts.count(state), 2);
    }
    assert_eq!(counts.unhealthy(), 18);
    assert_eq!(
        counts.iter().map(|(state, _)| state).collect::<Vec<_>>(),
        ProcessState::ALL
    );
}
