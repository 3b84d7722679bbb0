//! Random small records: every kind of damage, few enough names that they meet.

use crate::common::{ago, kernel, map, now, object, row, step, unavailable};
use kernrec_schemas::symbol_map::MapObject;
use kernrec_schemas::table::{KernelTable, Row, RowReason, TableSource};
use kernrec_schemas::{Backend, BuildNumber, Commit, RowBackend, StepKey};
use kernrec_select::{
    Change, Lineage, Moved, Pair, Policy, Question, Record, Report, Steps, select,
};
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

/// A question: a record per backend, in the order given, the changed files, and perhaps a step file.
#[derive(Debug, Clone)]
pub(crate) struct World {
    pub(crate) records: Vec<Record>,
    pub(crate) files: Vec<String>,
    pub(crate) step_file: Option<StepFile>,
}

/// A step file.
#[derive(Debug, Clone)]
pub(crate) struct StepFile {
    pub(crate) steps: Vec<FileStep>,
    pub(crate) run_all: Option<&'static str>,
}

/// A step of a step file.
#[derive(Debug, Clone)]
pub(crate) struct FileStep {
    /// `None`: it has no key.
    pub(crate) key: Option<usize>,
    /// `None`: it names no files.
    pub(crate) paths: Option<Vec<&'static str>>,
    pub(crate) needs: Vec<usize>,
}

impl StepFile {
    fn text(&self) -> String {
        let steps = self.steps.iter().map(|step| {
            let mut fields = serde_json::Map::new();
            match step.key {
                Some(key) => fields.insert("key".to_owned(), step_key(key).as_str().into()),
                // Without a name it would be called by its place.
                None => fields.insert("label".to_owned(), "no key".into()),
            };
            if let Some(paths) = &step.paths {
                fields.insert("paths".to_owned(), paths.clone().into());
            }
            let needs: Vec<String> = step
                .needs
                .iter()
                .map(|&key| step_key(key).to_string())
                .collect();
            fields.insert("depends_on".to_owned(), needs.into());
            fields
        });
        let steps: Vec<_> = steps.collect();
        let run_all: Vec<&str> = self.run_all.into_iter().collect();
        serde_json::json!({ "steps": steps, "run_all_patterns": run_all }).to_string()
    }
}

impl World {
    pub(crate) fn ask(&self) -> Report {
        let change = Change::of_files(&self.files).unwrap();
        let steps = self.step_file.as_ref();
        let steps = steps.map(|file| Steps::parse("steps", &file.text()).unwrap());
        let question = Question {
            change: &change,
            steps: steps.as_ref(),
            policy: Policy::at(now()),
            placing: kernrec_select::Placing::File,
            libraries: None,
        };
        select(&self.records, &question).unwrap()
    }

    pub(crate) fn pair(&self, at: usize) -> Option<&Pair> {
        match &self.records[at] {
            Record::Ready(pair) => Some(pair),
            Record::Functions(_) | Record::Unavailable(_) => None,
        }
    }

    pub(crate) fn pair_mut(&mut self, at: usize) -> Option<&mut Pair> {
        match &mut self.records[at] {
            Record::Ready(pair) => Some(pair),
            Record::Functions(_) | Record::Unavailable(_) => None,
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
        any_lineage(),
    )
        .prop_map(
            move |(rows, objects, age, revoked, incomplete, matched, lineage)| {
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
                    lineage,
                }
            },
        )
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

fn any_lineage() -> impl Strategy<Value = Lineage> {
    prop_oneof![
        12 => Just(Lineage::Unchecked),
        6 => prop::sample::subsequence(FILES.to_vec(), 0..=1)
            .prop_map(|files| Lineage::Ancestor(Moved::of_files(files))),
        1 => Just(broken_lineage()),
    ]
}

pub(crate) fn broken_lineage() -> Lineage {
    Lineage::Broken {
        reason: "record-not-an-ancestor".to_owned(),
        problem: "it is none".to_owned(),
    }
}

fn any_step_file() -> impl Strategy<Value = StepFile> {
    // One more than the records know.
    let key = prop_oneof![30 => (0..=STEPS).prop_map(Some), 1 => Just(None)];
    let paths = prop_oneof![
        3 => prop::sample::subsequence(FILES.to_vec(), 1..=2).prop_map(Some),
        1 => Just(None),
    ];
    let needs = prop_oneof![5 => Just(Vec::new()), 1 => prop::collection::vec(0..=STEPS, 1)];
    let step = (key, paths, needs).prop_map(|(key, paths, needs)| FileStep { key, paths, needs });
    let run_all = prop_oneof![12 => Just(None), 1 => Just(Some("c.cu"))];
    (prop::collection::vec(step, 1..=STEPS + 1), run_all)
        .prop_map(|(steps, run_all)| StepFile { steps, run_all })
}

pub(crate) fn any_world() -> impl Strategy<Value = World> {
    let files = prop_oneof![
        12 => prop::sample::subsequence(FILES[..4].to_vec(), 1..=2),
        1 => prop::sample::subsequence(FILES.to_vec(), 1..=5),
    ];
    let step_file = prop::option::of(any_step_file());
    let records = (any_record(Backend::Cuda), any_record(Backend::Rocm));
    (records, files, step_file).prop_map(|((cuda, rocm), files, step_file)| World {
        records: cuda.into_iter().chain(rocm).collect(),
        files: files.into_iter().map(str::to_owned).collect(),
        step_file,
    })
}
