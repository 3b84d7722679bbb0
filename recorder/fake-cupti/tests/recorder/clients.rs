//! Other clients of CUPTI: they keep working, and the recording does not look complete.

use kernrec_schemas::recording::ProcessState;

use crate::bench::{Bench, assert_success, names};

#[test]
fn a_linked_client_takes_the_callbacks() {
    let bench = Bench::new();
    let output = bench.run(&[
        "launch=_Z6beforev",
        "client=register",
        "launch=_Z6duringv",
        "client=disable",
        "launch=_Z5afterv",
    ]);
    assert_success(&output);
    let left = bench.one();
    assert!(
        left.has_error("another-client-took-callbacks"),
        "{}",
        left.text
    );
    assert!(left.has_error("another-client-disabled-kernels"));
    assert_eq!(left.names, ["_Z6beforev"]);
}

/// The buffer that CUPTI holds at that moment must come back to us first: the other client does not know
/// it, and would lose its own records in it.
#[test]
fn a_linked_client_gets_no_buffer_of_ours() {
    let bench = Bench::new();
    let acts = [
        "launch=_Z6beforev",
        "client=register",
        "launch=_Z6duringv*293",
    ];
    let output = bench.run(&acts);
    assert_success(&output);
    // One full buffer of its own, and nothing else.
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "other client got 65408 of 65536 bytes\n"
    );
}

/// A client that asks CUPTI's own handle passes the forwarders by; the proof at the end finds it out.
#[test]
fn a_client_nobody_sees_is_found_at_the_end() {
    let bench = Bench::new();
    // Nothing outstanding, nothing dropped, no error: only the probe can tell.
    let output = bench.run(&["handle-client=register"]);
    assert_success(&output);
    let left = bench.one();
    assert!(left.has_error("callbacks-lost"), "{}", left.text);
}

/// Records of driver calls that another client asked for earlier prove nothing.
#[test]
fn a_client_that_records_driver_calls_itself_is_found_too() {
    let mut bench = Bench::new();
    bench.flush_ms = "1";
    let acts = [
        "knob=7,4",
        "launch=_Z12a_driver_callv",
        "knob=7,0",
        "launch=_Z1av",
        "await=_Z1av",
        "handle-client=register",
    ];
    assert_success(&bench.run(&acts));
    let left = bench.one();
    assert!(left.has_error("callbacks-lost"), "{}", left.text);
}

#[test]
fn without_forwarders_the_header_says_so_and_the_proof_still_holds() {
    let mut bench = Bench::new();
    bench.forwarders = false;
    assert_success(&bench.run(&["launch=_Z1av"]));
    let left = bench.one();
    assert!(left.text.contains(" forwarders=no "), "{}", left.text);
    assert_eq!(left.state, ProcessState::Clean);

    let mut bench = Bench::new();
    bench.forwarders = false;
    assert_success(&bench.run(&["launch=_Z1av", "client=register", "launch=_Z1bv"]));
    assert!(bench.one().has_error("callbacks-lost"));
}

/// Without the forwarders nobody would tell when a profiler starts, and it would lose records to our buffers.
#[test]
fn without_forwarders_a_linked_client_is_left_alone() {
    let mut bench = Bench::new();
    bench.forwarders = false;
    let cupti = bench.cupti();
    let profiler = format!("load={}", bench.profiler().display());
    let acts = [
        cupti.as_str(),
        &profiler,
        "init",
        "client=register",
        "client=enable",
        // One full buffer.
        "launch=_Z1av*293",
    ];
    let output = bench.run_acts(&acts);
    assert_success(&output);
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "other client got 65408 of 65536 bytes\n"
    );
    let left = bench.one();
    assert!(left.has_error("unwatched-cupti-client"), "{}", left.text);
    assert!(left.names.is_empty());
}

/// With them it is recorded until it starts.
#[test]
fn with_forwarders_a_linked_client_spoils_nothing_until_it_calls() {
    let bench = Bench::new();
    let cupti = bench.cupti();
    let profiler = format!("load={}", bench.profiler().display());
    assert_success(&bench.run_acts(&[&cupti, &profiler, "init", "launch=_Z1av"]));
    let left = bench.one();
    assert_eq!(left.state, ProcessState::Clean, "{}", left.text);
    assert_eq!(left.names, ["_Z1av"]);
}

#[test]
fn a_client_that_was_first_keeps_the_callbacks() {
    let bench = Bench::new();
    let cupti = bench.cupti();
    let output = bench.run_acts(&[&cupti, "client=register", "init", "launch=_Z1av"]);
    assert_success(&output);
    let left = bench.one();
    assert!(
        left.has_error("another-client-took-callbacks"),
        "{}",
        left.text
    );
    assert!(left.names.is_empty());
}

#[test]
fn a_client_switches_to_graph_level() {
    let bench = Bench::new();
    assert_success(&bench.run(&["launch=_Z1av", "client=graph-level", "launch=_Z1bv"]));
    let left = bench.one();
    assert!(
        left.has_error("another-client-enabled-graph-level"),
        "{}",
        left.text
    );
    assert_eq!(left.names, ["_Z1av", "_Z1bv"]);
}

#[test]
fn a_client_disables_kernels() {
    let bench = Bench::new();
    assert_success(&bench.run(&["launch=_Z1av", "client=disable", "launch=_Z1bv"]));
    let left = bench.one();
    assert!(
        left.has_error("another-client-disabled-kernels"),
        "{}",
        left.text
    );
    assert_eq!(left.names, ["_Z1av"]);
}

#[test]
fn a_client_nobody_sees_disables_kernels_where_cupti_can_be_asked() {
    let bench = Bench::new();
    let cupti = bench.cupti();
    let acts = [
        cupti.as_str(),
        "knob=6,130202",
        "init",
        "launch=_Z1av",
        "handle-client=disable",
        "launch=_Z1bv",
    ];
    assert_success(&bench.run_acts(&acts));
    let left = bench.one();
    assert!(left.has_error("kernel-activity-disabled"), "{}", left.text);
    assert_eq!(left.names, ["_Z1av"]);
}

#[test]
fn a_client_changes_how_records_are_made() {
    let bench = Bench::new();
    assert_success(&bench.run(&["launch=_Z1av", "client=graph-attribute"]));
    let left = bench.one();
    let word = "another-client-changed-mode";
    assert!(left.has_error(word), "{}", left.text);
    assert_eq!(left.names, ["_Z1av"]);
}

#[test]
fn a_client_takes_the_count_of_lost_records() {
    let bench = Bench::new();
    assert_success(&bench.run(&["launch=_Z1av", "knob=4,5", "client=read-drops"]));
    let left = bench.one();
    let word = "another-client-read-drop-count";
    assert!(left.has_error(word), "{}", left.text);
    assert_eq!(left.dropped, 0);
}

/// A client that was there before, unseen: CUPTI has a buffer of its for us.
#[test]
fn a_buffer_that_is_not_ours_is_left_alone() {
    let bench = Bench::new();
    let cupti = bench.cupti();
    let acts = [
        cupti.as_str(),
        "handle-client=register",
        "handle-client=enable",
        "launch=_Z5theirv",
        "init",
        "launch=_Z5theirv",
    ];
    assert_success(&bench.run_acts(&acts));
    let left = bench.one();
    assert!(left.has_error("unknown-buffer"), "{}", left.text);
    assert_eq!(left.names, ["_Z5theirv"]);
}

#[test]
fn records_that_cannot_be_taken_before_another_client_does() {
    let bench = Bench::new();
    assert_success(&bench.run(&["launch=_Z1av", "knob=2,999", "client=register"]));
    let left = bench.one();
    assert!(left.has_error("handover-flush"), "{}", left.text);
    assert!(left.text.contains("# status handover-flush=999\n"));
}

#[test]
fn a_client_finalizes() {
    let bench = Bench::new();
    assert_success(&bench.run(&["launch=_Z1av", "client=finalize", "launch=_Z1bv"]));
    let left = bench.one();
    assert!(left.has_error("another-client-finalized"), "{}", left.text);
    assert_eq!(left.names, ["_Z1av"]);
}

#[test]
fn harmless_calls_do_not_spoil_a_recording() {
    let bench = Bench::new();
    let acts = ["client=subscribe", "client=disable-memcpy", "launch=_Z1av"];
    assert_success(&bench.run(&acts));
    let left = bench.one();
    assert_eq!(left.state, ProcessState::Clean, "{}", left.text);
    assert!(left.text.contains("# note another client subscribed"));
}

#[test]
fn forwarders_without_cupti_answer_as_cupti_would_without_a_driver() {
    let bench = Bench::new();
    let other = format!("load={}", bench.path("libcuda.so.1").display());
    let output = bench.run_acts(&[&other, "client=subscribe"]);
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "fake-driver: `client=subscribe`: status 15\n"
    );
}

#[test]
fn names_seen_before_and_after_a_failed_takeover() {
    let bench = Bench::new();
    let output = bench.run(&[
        "launch=_Z1av",
        "knob=0,39",
        "client=register",
        "launch=_Z1bv",
    ]);
    // The other client is refused, as the knob says, and reports it.
    assert!(!output.status.success());
    let left = bench.one();
    assert_eq!(names(&["_Z1av"]), left.names.into_iter().collect());
    assert_eq!(left.state, ProcessState::Clean, "{}", left.text);
}
