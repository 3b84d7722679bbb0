//! Random small records: every kind of damage, few enough names that they meet.

use crate::common::{ago, ask_about, kernel, map, now, object, row, step, unavailable};
use kernrec_schemas::symbol_map::MapObject;
use kernrec_schemas::table::{KernelTable, Row, RowReason, TableSource};
use kernrec_schemas::{Backend, BuildNumber, Commit, RowBackend, StepKey};
use kernrec_select::{Change, Lineage, Pair, Policy, Record, Report};
use proptest::prelude::*;
use std::collections::BTreeMap;

pub(crate) const STEPS: usize = 5;
pub(crate) const KERNELS: usize = 5;
const FILES: [&str; 5] = ["a.cu", "b.cu", "c.cu", "shared.cuh", "outside.txt"];

/// Two kernels share a stable form, so that a join across commits can meet more than one symbol.
pub(crate) fn kernel_name(index: usize) -> String {
    match index {
        0 => "_ZN12_GLOBAL__N__a58b5648_4_a_cu_0f32c6d1_1kEv".to_owned(),
        1 => "_ZN12_GLOBAL__N__11111111_4_a_cu_22222222_1kEv".to_owned(),
        n => format!("k{n}"),
    }
}

pub(crate) fn step_key(index: usize) -> StepKey {
    step(&format!("step-{index}"))
}

/// A question: a record per backend, in the order given, and the changed files.
#[derive(Debug, Clone)]
pub(crate) struct World {
    pub(crate) records: Vec<Record>,
    pub(crate) files: Vec<String>,
}

impl World {
    pub(crate) fn ask(&self) -> Report {
        let change = Change::of_files(&self.files).unwrap();
        ask_about(&self.records, &change, Policy::at(now()))
    }

    pub(crate) fn pair(&self, at: usize) -> Option<&Pair> {
        match &self.records[at] {
            Record::Ready(pair) => Some(pair),
            Record::Unavailable(_) => None,
        }
    }

    pub(crate) fn pair_mut(&mut self, at: usize) -> Option<&mut Pair> {
        match &mut self.records[at] {
            Record::Ready(pair) => Some(pair),
            Record::Unavailable(_) => None,
        }
    }

    pub(crate) fn row_mut(&mut self, at: usize, key: &StepKey) -> Option<&mut Row> {
        self.pair_mut(at)?.table.rows.get_mut(key)
    }
}

/// Mostly true: most of what is drawn must be healthy, or nothing would ever be skipped.
fn mostly() -> impl Strategy<Value = bool> {
    prop::bool::weighted(0.97)
}

fn any_row(backend: Backend) -> impl Strategy<Value = Row> {
    let other = if backend == Backend::Cuda {
        Backend::Rocm
    } else {
        Backend::Cuda
    };
    let backends = prop_oneof![
        12 => Just(RowBackend::Known(backend)),
        1 => Just(RowBackend::Known(other)),
        1 => Just(RowBackend::Unknown),
    ];
    let kernels = prop::collection::btree_set(0..u32::try_from(KERNELS).unwrap(), 0..3);
    (backends, kernels, mostly(), mostly(), mostly(), mostly()).prop_map(
        |(backend, kernels, passed, complete, trace_complete, stated)| {
            let mut row = row(backend, kernels.into_iter().collect());
            row.passed = passed;
            row.complete = complete;
            row.trace_complete = trace_complete;
            if !stated {
                row.reasons.insert(RowReason::IdleOnly);
            }
            row
        },
    )
}

fn any_object() -> impl Strategy<Value = MapObject> {
    let symbols = prop_oneof![
        9 => prop::collection::btree_set(0..KERNELS, 1..4),
        1 => Just(std::collections::BTreeSet::new()),
    ];
    (
        0..3_usize,
        symbols,
        any::<bool>(),
        prop::bool::weighted(0.03),
    )
        .prop_map(|(source, symbols, shared, broken)| {
            let includes: &[&str] = if shared { &["shared.cuh"] } else { &[] };
            let mut object = object(FILES[source], &[], includes);
            object.symbols = symbols
                .into_iter()
                .map(|index| kernel(&kernel_name(index)))
                .collect();
            object.error = broken.then(|| "truncated".to_owned());
            object
        })
}

fn any_pair(backend: Backend) -> impl Strategy<Value = Pair> {
    let rows =
        prop::collection::btree_map((0..STEPS).prop_map(step_key), any_row(backend), 1..=STEPS);
    let objects = prop::collection::vec(any_object(), 3..7);
    let age = prop_oneof![20 => Just(Some(3600)), 1 => Just(Some(30 * 86_400)), 1 => Just(None)];
    (
        rows,
        objects,
        age,
        prop::bool::weighted(0.03),
        prop::bool::weighted(0.03),
        mostly(),
    )
        .prop_map(move |(rows, objects, age, revoked, incomplete, matched)| {
            let mut map = map(backend, objects);
            map.incomplete = incomplete;
            let commit = Commit::new(if matched { "c0de" } else { "0ther" }).unwrap();
            Pair {
                backend,
                table: table(rows, Some(commit)),
                maps: vec![map],
                published_at: age.and_then(ago),
                revoked,
                unverified: None,
                lineage: Lineage::default(),
            }
        })
}

fn table(rows: BTreeMap<StepKey, Row>, commit: Option<Commit>) -> KernelTable {
    KernelTable {
        version: 3,
        source: TableSource {
            org: "acme".to_owned(),
            pipeline: "ci".to_owned(),
            build: BuildNumber(12),
            commit,
            recorded_at: now(),
        },
        names: (0..KERNELS)
            .map(|index| kernel(&kernel_name(index)))
            .collect(),
        rows,
        faults: Vec::new(),
    }
}

fn any_record(backend: Backend) -> impl Strategy<Value = Option<Record>> {
    prop_oneof![
        20 => any_pair(backend).prop_map(|pair| Some(Record::Ready(Box::new(pair)))),
        1 => Just(Some(unavailable(backend))),
        6 => Just(None),
    ]
}

pub(crate) fn any_world() -> impl Strategy<Value = World> {
    let files = prop_oneof![
        12 => prop::sample::subsequence(FILES[..4].to_vec(), 1..=2),
        1 => prop::sample::subsequence(FILES.to_vec(), 1..=5),
    ];
    (any_record(Backend::Cuda), any_record(Backend::Rocm), files).prop_map(|(cuda, rocm, files)| {
        World {
            records: cuda.into_iter().chain(rocm).collect(),
            files: files.into_iter().map(str::to_owned).collect(),
        }
    })
}
