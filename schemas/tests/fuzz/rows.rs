//! The rule of a usable row, over rows of every shape.

use kernrec_schemas::recording::{ProcessCounts, ProcessState};
use kernrec_schemas::table::{Row, RowReason, Shards};
use kernrec_schemas::{Backend, RowBackend};
use proptest::prelude::*;
use proptest::sample::select;
use std::collections::BTreeSet;

/// Rows of which about half of the signs are good.
fn row() -> impl Strategy<Value = Row> {
    let mostly = || prop_oneof![4 => Just(true), 1 => Just(false)];
    let count = || prop_oneof![1 => Just(0_u64), 4 => 1..5_u64];
    let dropped = prop_oneof![4 => Just(0_u64), 1 => 1..9_u64];
    let flags = (mostly(), mostly(), mostly());
    (
        flags,
        (count(), count(), dropped),
        backend(),
        health(),
        reasons(),
    )
        .prop_map(
            |(
                (passed, complete, trace_complete),
                (jobs, processes, dropped),
                backend,
                health,
                reasons,
            )| Row {
                jobs,
                passed,
                complete,
                processes,
                dropped,
                shards: Shards::default(),
                kernels: vec![0],
                backend,
                trace_complete,
                recording_available: true,
                health,
                reasons,
                variants: BTreeSet::new(),
            },
        )
}

fn backend() -> impl Strategy<Value = RowBackend> {
    let known = select(Backend::KERNELS.to_vec()).prop_map(RowBackend::Known);
    prop_oneof![3 => known, 1 => Just(RowBackend::Unknown)]
}

fn health() -> impl Strategy<Value = Option<ProcessCounts>> {
    let states = select(vec![
        ProcessState::Clean,
        ProcessState::Idle,
        ProcessState::NoFooter,
    ]);
    proptest::collection::vec(states, 0..3).prop_map(|states| {
        let mut counts = ProcessCounts::default();
        for &state in &states {
            counts.add(state);
        }
        (!states.is_empty()).then_some(counts)
    })
}

fn reasons() -> impl Strategy<Value = BTreeSet<RowReason>> {
    let one = select(RowReason::KNOWN.to_vec()).prop_map(|reason| BTreeSet::from([reason]));
    prop_oneof![4 => Just(BTreeSet::new()), 1 => one]
}

/// Every way to make a row worse.
fn signs() -> Vec<fn(&mut Row)> {
    vec![
        |row| row.passed = false,
        |row| row.complete = false,
        |row| row.trace_complete = false,
        |row| row.dropped = row.dropped.saturating_add(1),
        |row| row.backend = RowBackend::Unknown,
        |row| row.jobs = 0,
        |row| row.processes = 0,
        |row| {
            row.shards = Shards {
                expected: Some(2),
                seen: 1,
            }
        },
        |row| row.health.get_or_insert_default().add(ProcessState::Error),
        |row| {
            row.reasons.insert(RowReason::JobMissing);
        },
    ]
}

proptest! {
    #[test]
    fn usable_means_that_there_is_no_reason_against(row in row()) {
        prop_assert_eq!(row.is_usable(), row.unusable_reasons().is_empty());
    }

    #[test]
    fn an_unhealthy_sign_never_makes_a_row_usable(row in row(), sign in select(signs())) {
        let mut worse = row;
        sign(&mut worse);
        prop_assert!(!worse.is_usable());
        prop_assert!(!worse.unusable_reasons().is_empty());
    }
}
