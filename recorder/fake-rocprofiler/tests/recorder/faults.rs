//! What the C library refuses the recorder. The recorder is the one that ships; a preloaded library stands between it
//! and the C library, and lets everybody else's requests through.

use kernrec_schemas::recording::ProcessState;

use crate::bench::{Bench, Left, assert_success};

/// The recording of a process that went on and ended as it would have.
fn left_by(acts: &[&str]) -> Left {
    let bench = Bench::with_faults();
    assert_success(&bench.run(acts));
    bench.one()
}

#[test]
fn without_faults_nothing_is_different() {
    let left = left_by(&["launch=_Z1av"]);
    assert_eq!(left.state, ProcessState::Clean, "{}", left.text);
}

/// Nothing could be said of a file once its path is gone, so it is taken for none that was idle from the start.
#[test]
fn a_file_that_cannot_be_marked_is_never_idle() {
    for (end, state) in [
        ("end=kill", ProcessState::NoFooter),
        ("end=exit", ProcessState::Clean),
    ] {
        let bench = Bench::with_faults();
        let acts = ["recorder-marks-fail", "init", end];
        bench.command(&acts).output().unwrap();
        let left = bench.one();
        assert_eq!(left.state, state, "{}", left.text);
        assert!(left.text.contains("\n# note never idle: "), "{}", left.text);
    }
}

/// The set's first table takes 16 KiB.
#[test]
fn no_memory_for_the_set_of_names() {
    let acts = ["recorder-memory=16000", "launch=_Z4lostv*3"];
    let left = left_by(&acts);
    assert_eq!(left.state, ProcessState::Error);
    assert!(left.has_error("set-allocation"), "{}", left.text);
    assert_eq!(left.unresolved, Some(3));
}

#[test]
fn no_memory_for_a_name() {
    let acts = [
        "launch=_Z6beforev",
        "recorder-memory=40000",
        "launch-long=50000",
        "launch=_Z5afterv",
    ];
    let left = left_by(&acts);
    assert!(left.has_error("name-allocation"), "{}", left.text);
    assert_eq!(left.names, ["_Z6beforev", "_Z5afterv"]);
    assert_eq!(left.records, Some(3));
}

/// The words and the footer have room of their own, and the workload does not end for want of more.
#[test]
fn no_memory_at_all() {
    let acts = [
        "launch=_Z1av",
        "recorder-memory=0",
        "threads=4,10",
        "dispatch=99",
        "lose=1",
        "launch=_Z1bv",
    ];
    let left = left_by(&acts);
    for word in [
        "set-allocation",
        "name-allocation",
        "scattered_dispatch_ids",
    ] {
        assert!(left.has_error(word), "{word}: {}", left.text);
    }
    assert!(left.names.is_empty());
    assert!(left.text.contains("\n# end records=43 "), "{}", left.text);
    assert_eq!(left.unresolved, Some(43));
}
