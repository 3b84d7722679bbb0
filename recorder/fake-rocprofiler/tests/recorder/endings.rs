//! How a process ends, and what its recording is worth then.

use std::os::unix::process::ExitStatusExt as _;

use kernrec_schemas::recording::ProcessState;

use crate::bench::{Bench, assert_success};

/// Linux's numbers, the same on every architecture.
const SIGKILL: i32 = 9;
const SIGTERM: i32 = 15;

/// Every way that skips the SDK's exit handler, with what the parent then sees.
const ABRUPT: [(&str, Option<i32>, Option<i32>); 4] = [
    ("end=kill", None, Some(SIGKILL)),
    ("end=terminate", None, Some(SIGTERM)),
    ("end=at-once", Some(7), None),
    ("end=in-handler", Some(7), None),
];

#[test]
fn by_returning_from_main() {
    let bench = Bench::new();
    assert_success(&bench.run(&["launch=_Z1av"]));
    assert_eq!(bench.one().state, ProcessState::Clean);
}

#[test]
fn by_exit() {
    let bench = Bench::new();
    let output = bench.run(&["launch=_Z1av", "end=exit"]);
    assert_eq!(output.status.code(), Some(7));
    assert_eq!(bench.one().state, ProcessState::Clean);
}

/// What a process leaves that ends so after these acts.
fn states(acts: &[&str], flush_ms: &'static str) -> Vec<(ProcessState, Vec<String>)> {
    ABRUPT
        .into_iter()
        .map(|(end, code, signal)| {
            let mut bench = Bench::new();
            bench.flush_ms = flush_ms;
            let all: Vec<&str> = acts.iter().chain([&end]).copied().collect();
            let status = bench.run(&all).status;
            assert_eq!((status.code(), status.signal()), (code, signal), "{end}");
            let left = bench.one();
            (left.state, left.names)
        })
        .collect()
}

#[test]
fn abruptly_before_any_gpu_work() {
    for left in states(&[], "1000") {
        assert_eq!(left, (ProcessState::Idle, Vec::new()));
    }
}

/// The word is in the file before the call back that loads code returns.
#[test]
fn abruptly_after_the_first_code_was_loaded() {
    for left in states(&["load-code"], "1000") {
        assert_eq!(left, (ProcessState::NoFooter, Vec::new()));
    }
}

#[test]
fn abruptly_with_records_in_the_buffer() {
    for left in states(&["launch=_Z1av"], "0") {
        assert_eq!(left, (ProcessState::NoFooter, Vec::new()));
    }
}

#[test]
fn abruptly_after_a_flush() {
    for left in states(&["launch=_Z1av", "await=_Z1av"], "1") {
        assert_eq!(left, (ProcessState::NoFooter, vec!["_Z1av".to_owned()]));
    }
}

/// Killed at any moment, from outside: never idle once the workload has got its code loaded.
#[test]
fn killed_at_any_moment() {
    for millis in 0..15 {
        let bench = Bench::new();
        let mut child = bench
            .command(&["init", "threads=8,1000000"])
            .spawn()
            .unwrap();
        std::thread::sleep(std::time::Duration::from_millis(millis));
        child.kill().unwrap();
        child.wait().unwrap();
        for left in bench.left() {
            let active = left.text.contains("# gpu_active\n");
            assert_ne!(left.state, ProcessState::Clean, "{}", left.text);
            assert!(active || left.names.is_empty(), "{}", left.text);
        }
    }
}

/// A process whose GPU was never used and that ends regularly is complete, and empty.
#[test]
fn regularly_without_gpu_work() {
    let bench = Bench::new();
    assert_success(&bench.run(&[]));
    let left = bench.one();
    assert_eq!(left.state, ProcessState::Clean, "{}", left.text);
    assert_eq!(left.records, Some(0));
    assert!(!left.text.contains("gpu_active"));
}

/// The process ends regularly, but not for the SDK.
#[test]
fn unnoticed_by_the_sdk() {
    let bench = Bench::with("no-finalize=1");
    assert_success(&bench.run(&["launch=_Z1av"]));
    assert_eq!(bench.one().state, ProcessState::NoFooter);
}
