//! Small records by hand, for tests of rules.

pub(crate) mod functions;
pub(crate) mod ggml;
pub(crate) mod git;

use kernrec_schemas::symbol_map::{MapObject, MapVersion, SymbolMap};
use kernrec_schemas::table::{KernelTable, Row, Shards, TableSource};
use kernrec_schemas::{
    Backend, BuildNumber, Commit, KernelName, RowBackend, StepKey, Timestamp, Variant,
};
use kernrec_select::{
    Change, KeptStep, Lineage, Pair, Policy, Question, Reason, Record, Report, Unavailable, select,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub(crate) const DAY: i64 = 86_400;

pub(crate) fn now() -> Timestamp {
    "2030-01-15T00:00:00Z".parse().unwrap()
}

pub(crate) fn ago(seconds: i64) -> Option<Timestamp> {
    Timestamp::from_unix(now().unix() - seconds)
}

pub(crate) fn policy() -> Policy {
    Policy::at(now())
}

pub(crate) fn step(key: &str) -> StepKey {
    StepKey::new(key).unwrap()
}

pub(crate) fn kernel(name: &str) -> KernelName {
    KernelName::new(name).unwrap()
}

pub(crate) fn commit(text: &str) -> Commit {
    Commit::new(text).unwrap()
}

pub(crate) fn object(source: &str, symbols: &[&str], includes: &[&str]) -> MapObject {
    let mut deps: Vec<Arc<str>> = includes
        .iter()
        .chain([&source])
        .map(|&path| path.into())
        .collect();
    deps.sort();
    MapObject {
        source: source.to_owned(),
        compiled_source: None,
        target: String::new(),
        object: format!("{source}.o"),
        device: true,
        symbols: symbols.iter().map(|name| kernel(name)).collect(),
        deps,
        offload_targets: Vec::new(),
        error: None,
    }
}

pub(crate) fn map(backend: Backend, objects: Vec<MapObject>) -> SymbolMap {
    SymbolMap {
        version: MapVersion::V2,
        backend,
        commit: Some(commit("c0de")),
        variant: Variant::default(),
        cuda: None,
        generated_at: None,
        incomplete: false,
        errors: Vec::new(),
        build_dirs: Vec::new(),
        objects,
        reason: None,
        stats: None,
        tools: BTreeMap::new(),
        hipify_manifests: Vec::new(),
        offload_targets: Vec::new(),
    }
}

pub(crate) fn row(backend: RowBackend, kernels: Vec<u32>) -> Row {
    Row {
        jobs: 1,
        passed: true,
        complete: true,
        processes: 1,
        dropped: 0,
        shards: Shards::default(),
        kernels,
        backend,
        trace_complete: true,
        recording_available: true,
        health: None,
        reasons: BTreeSet::new(),
        variants: BTreeSet::new(),
    }
}

/// A table whose rows name the kernels they launched.
pub(crate) fn table(backend: Backend, rows: &[(&str, &[&str])]) -> KernelTable {
    let names: BTreeSet<&str> = rows
        .iter()
        .flat_map(|(_, launched)| launched.iter().copied())
        .collect();
    let names: Vec<&str> = names.into_iter().collect();
    let index = |name: &str| u32::try_from(names.binary_search(&name).unwrap()).unwrap();
    let rows = rows.iter().map(|(key, launched)| {
        let mut kernels: Vec<u32> = launched.iter().map(|name| index(name)).collect();
        kernels.sort_unstable();
        (step(key), row(RowBackend::Known(backend), kernels))
    });
    KernelTable {
        version: 3,
        source: TableSource {
            org: "acme".to_owned(),
            pipeline: "ci".to_owned(),
            build: BuildNumber(12),
            commit: Some(commit("c0de")),
            recorded_at: "2030-01-01T00:00:00Z".parse().unwrap(),
        },
        rows: rows.collect(),
        names: names.into_iter().map(kernel).collect(),
        faults: Vec::new(),
    }
}

/// Two sources, `a.cu` and `b.cu`, with one kernel each, and three healthy steps: one that launched each kernel and
/// `idle`, which launched nothing. A change to `a.cu` selects `runs-a` and lets the others go.
pub(crate) fn pair(backend: Backend) -> Pair {
    Pair {
        backend,
        table: table(
            backend,
            &[("runs-a", &["ka"]), ("runs-b", &["kb"]), ("idle", &[])],
        ),
        maps: vec![map(
            backend,
            vec![
                object("a.cu", &["ka"], &["a.cuh"]),
                object("b.cu", &["kb"], &["b.cuh"]),
            ],
        )],
        published_at: ago(DAY),
        revoked: false,
        unverified: None,
        lineage: Lineage::default(),
    }
}

pub(crate) fn cuda() -> Pair {
    pair(Backend::Cuda)
}

pub(crate) fn row_of<'a>(pair: &'a mut Pair, key: &str) -> &'a mut Row {
    pair.table.rows.get_mut(key).unwrap()
}

pub(crate) fn ready(pair: Pair) -> Record {
    Record::Ready(Box::new(pair))
}

pub(crate) fn unavailable(backend: Backend) -> Record {
    Record::Unavailable(Unavailable {
        backend,
        reason: "not-installed".to_owned(),
        problem: "nothing is installed".to_owned(),
    })
}

pub(crate) fn ask(records: &[Record], files: &[&str]) -> Report {
    ask_about(records, &Change::of_files(files).unwrap(), policy())
}

/// The answer about a change, without a step file.
pub(crate) fn ask_about(records: &[Record], change: &Change, policy: Policy) -> Report {
    let question = Question {
        change,
        steps: None,
        policy,
        placing: kernrec_select::Placing::File,
        libraries: None,
    };
    select(records, &question).unwrap()
}

/// The answer for one pair.
pub(crate) fn ask_one(pair: Pair, files: &[&str]) -> Report {
    ask(&[ready(pair)], files)
}

/// The deciding reason of a step; panics when the report does not mention it.
pub(crate) fn reason(report: &Report, key: &str) -> Reason {
    let selected = report.selected.iter().map(|step| (&step.step, step.reason));
    let kept = report.kept.iter().map(|step| (&step.step, step.reason));
    let skipped = report.skipped.iter().map(|step| (&step.step, step.reason));
    let found: Vec<Reason> = selected
        .chain(kept)
        .chain(skipped)
        .filter(|(step, _)| step.as_str() == key)
        .map(|(_, reason)| reason)
        .collect();
    assert_eq!(found.len(), 1, "step `{key}` must have exactly one fate");
    found[0]
}

pub(crate) fn kept<'a>(report: &'a Report, key: &str) -> &'a KeptStep {
    report
        .kept
        .iter()
        .find(|step| step.step.as_str() == key)
        .unwrap()
}

pub(crate) fn skipped(report: &Report) -> BTreeSet<StepKey> {
    report
        .skipped
        .iter()
        .map(|step| step.step.clone())
        .collect()
}

pub(crate) fn to_run(report: &Report) -> BTreeSet<StepKey> {
    report.steps_to_run().into_iter().cloned().collect()
}
