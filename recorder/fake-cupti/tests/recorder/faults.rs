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

/// The set's first table takes 16 KiB.
#[test]
fn no_memory_for_the_set_of_names() {
    // The first launch brings the buffer for the others.
    let acts = [
        "launch-unnamed",
        "recorder-memory=16000",
        "launch=_Z4lostv*3",
    ];
    let left = left_by(&acts);
    assert!(left.has_error("set-allocation"), "{}", left.text);
    assert_eq!(left.state, ProcessState::Error);
    assert_eq!(left.records, Some(4));
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
        "knob=9,7",
    ];
    let left = left_by(&acts);
    for word in ["buffer-allocation", "set-allocation", "read-drop-count"] {
        assert!(left.has_error(word), "{word}: {}", left.text);
    }
    assert!(left.names.is_empty());
    assert!(left.text.contains("\n# end records=1 "), "{}", left.text);
}

/// The set has room for the name, the queue none for its line.
#[test]
fn no_memory_for_a_line() {
    let left = left_by(&[
        "launch-unnamed",
        "recorder-memory=50000",
        "launch-long=50000",
    ]);
    let footer = "# end records=2 unique=1 dropped=0 errors=1 unresolved=1
";
    assert!(left.text.ends_with(footer), "{}", left.text);
    assert!(left.names.is_empty());
}

#[test]
fn no_memory_for_a_buffer() {
    let left = left_by(&["recorder-memory=1000000", "launch=_Z1av*3"]);
    assert!(left.has_error("buffer-allocation"), "{}", left.text);
    assert_eq!(left.dropped, 3);
}

/// The standard library panics where the system's clock fails, here at the end of the process.
#[test]
fn a_panic_stays_inside() {
    let left = left_by(&["launch=_Z1av", "recorder-clock-fails"]);
    assert!(left.has_error("panic"), "{}", left.text);
    assert_eq!(left.state, ProcessState::Error);
}

/// And here on the recorder's own thread, while the process goes on.
#[test]
fn a_panic_of_the_recorders_thread_stays_inside() {
    let mut bench = Bench::with_faults();
    bench.flush_ms = "1";
    let acts = [
        "launch=_Z1av",
        "await=_Z1av",
        "recorder-clock-fails",
        "await=# error=panic",
        "end=exit",
    ];
    let output = bench.run(&acts);
    assert_eq!(output.status.code(), Some(7));
    assert!(output.stderr.is_empty());
    let left = bench.one();
    assert!(left.has_error("panic"), "{}", left.text);
    assert_eq!(left.names, ["_Z1av"]);
}

#[test]
fn no_room_for_an_exit_handler() {
    let bench = Bench::with_faults();
    let cupti = bench.cupti();
    let acts = ["recorder-exit-handlers-fail", "init", "launch=_Z1av"];
    let acts: Vec<&str> = [cupti.as_str()].into_iter().chain(acts).collect();
    assert_success(&bench.run_acts(&acts));
    let left = bench.one();
    assert!(left.has_error("register-atexit"), "{}", left.text);
}
