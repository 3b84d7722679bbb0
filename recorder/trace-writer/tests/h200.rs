//! Recordings made on a GPU machine (`testdata/h200-torch`), read by the product's own reader.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use kernrec_schemas::recording::{ProcessState, Recording};

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/h200-torch")
}

/// State, names and records of each process of a workload.
fn processes(workload: &str) -> Vec<(ProcessState, usize, Option<u64>)> {
    let folder = data().join("recordings").join(workload);
    let mut processes: Vec<_> = fs_err::read_dir(folder)
        .expect("a workload's folder")
        .map(|entry| {
            let bytes = fs_err::read(entry.expect("an entry").path()).expect("a recording");
            let recording = Recording::read(&bytes);
            let records = recording.footer.map(|footer| footer.records);
            (recording.state, recording.names.len(), records)
        })
        .collect();
    processes.sort_by_key(|(_, _, records)| *records);
    processes
}

/// Distinct kernels and launches, as torch.profiler counted them.
fn facts(workload: &str) -> (usize, u64) {
    let path = data().join("facts").join(format!("{workload}.json"));
    let bytes = fs_err::read(path).expect("facts");
    let facts: BTreeMap<String, u64> = serde_json::from_slice(&bytes).expect("a map of counts");
    (facts.len(), facts.values().sum())
}

#[test]
fn a_recording_counts_what_the_profiler_counts() {
    for workload in [
        "train",
        "attention",
        "graphs",
        "triton_kernel",
        "many_threads",
    ] {
        let (kernels, launches) = facts(workload);
        assert_eq!(
            processes(workload),
            [(ProcessState::Clean, kernels, Some(launches))],
            "{workload}"
        );
    }
}

/// The compiler's helpers are processes with CUDA of their own, which launch nothing.
#[test]
fn a_compiled_program_is_recorded_beside_its_compilers_helpers() {
    let (kernels, launches) = facts("compiled");
    assert_eq!(
        processes("compiled"),
        [
            (ProcessState::Clean, 0, Some(0)),
            (ProcessState::Clean, kernels, Some(launches)),
        ]
    );
}

#[test]
fn every_child_has_a_recording_of_its_own() {
    let (kernels, launches) = facts("tiny");
    let clean = |times: u64| (ProcessState::Clean, kernels, Some(launches * times));
    assert_eq!(processes("children"), [clean(1); 4]);
    assert_eq!(processes("fork_worker"), [clean(1); 2]);
    assert_eq!(
        processes("spawn_pool"),
        [clean(1), clean(2), clean(2), clean(2)]
    );
}

#[test]
fn a_process_that_launches_nothing_is_clean() {
    assert_eq!(processes("idle"), [(ProcessState::Clean, 0, Some(0))]);
}

#[test]
fn a_killed_process_keeps_its_names_and_is_not_complete() {
    let (kernels, _) = facts("tiny");
    assert_eq!(
        processes("killed"),
        [(ProcessState::NoFooter, kernels, None)]
    );
}

#[test]
fn four_at_once_and_a_killed_worker() {
    let (kernels, launches) = facts("tiny");
    let clean = (ProcessState::Clean, kernels, Some(launches));
    assert_eq!(processes("concurrent"), [clean; 4]);
    assert_eq!(
        processes("killed_worker"),
        [(ProcessState::NoFooter, kernels, None), clean]
    );
}

#[test]
fn another_client_of_cupti_leaves_a_mark() {
    for workload in [
        "profiler",
        "profiler_under_load",
        "profiler-unwatched",
        "jax_profiler",
    ] {
        let states: Vec<_> = processes(workload).into_iter().map(|p| p.0).collect();
        assert_eq!(states, [ProcessState::Error], "{workload}");
    }
}
