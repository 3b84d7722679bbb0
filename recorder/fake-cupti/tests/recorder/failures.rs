//! Whatever fails, the workload goes on and the recording says so.

use kernrec_schemas::recording::ProcessState;

use crate::bench::{Bench, assert_success, library};

fn with_knob(acts: &[&str]) -> crate::bench::Left {
    let bench = Bench::new();
    let cupti = bench.cupti();
    let mut all = vec![cupti.as_str()];
    all.extend(acts);
    assert_success(&bench.run_acts(&all));
    bench.one()
}

#[test]
fn lost_records_are_counted() {
    let left = with_knob(&["init", "launch=_Z1av", "knob=4,5"]);
    assert_eq!(left.state, ProcessState::Dropped, "{}", left.text);
    assert_eq!(left.dropped, 5);
    assert_eq!(left.names, ["_Z1av"]);
}

#[test]
fn a_record_that_cannot_be_read_is_an_error() {
    let left = with_knob(&["init", "launch=_Z1av*3", "knob=3,3"]);
    assert!(left.has_error("read-buffer"), "{}", left.text);
    assert_eq!(left.names, ["_Z1av"]);
}

#[test]
fn callbacks_refused() {
    let left = with_knob(&["knob=0,39", "init", "launch=_Z1av"]);
    assert!(left.has_error("register-callbacks"), "{}", left.text);
    assert!(left.text.contains("# status register-callbacks=39\n"));
}

#[test]
fn kernel_records_refused() {
    let left = with_knob(&["knob=1,35", "init", "launch=_Z1av"]);
    assert!(left.has_error("enable-kernel-activity"), "{}", left.text);
}

#[test]
fn a_failing_flush() {
    let left = with_knob(&["init", "launch=_Z1av", "knob=2,999"]);
    assert!(left.has_error("final-flush"), "{}", left.text);
    assert!(left.has_error("outstanding-buffers"));
}

/// The process ends all the same.
#[test]
fn a_flush_that_does_not_come_back() {
    let mut bench = Bench::new();
    bench.flush_ms = "1";
    assert_success(&bench.run(&["knob=12", "launch=_Z1av", "await=_Z1av", "launch=_Z1bv"]));
    let left = bench.one();
    assert!(left.has_error("flush-thread"), "{}", left.text);
    assert_eq!(left.names, ["_Z1av"]);
}

#[test]
fn a_failing_periodic_flush() {
    let mut bench = Bench::new();
    bench.flush_ms = "1";
    let acts = [
        "launch=_Z1av",
        "await=_Z1av",
        "knob=2,999",
        "await=# error=periodic-flush",
    ];
    assert_success(&bench.run(&acts));
    let left = bench.one();
    assert!(
        left.text.contains("# status periodic-flush=999\n"),
        "{}",
        left.text
    );
    assert_eq!(left.names, ["_Z1av"]);
}

#[test]
fn a_count_of_lost_records_that_cannot_be_read() {
    let left = with_knob(&["init", "launch=_Z1av", "knob=9,7"]);
    assert!(left.has_error("read-drop-count"), "{}", left.text);
    assert!(left.text.contains("# status read-drop-count=7\n"));
    assert_eq!(left.names, ["_Z1av"]);
}

/// The proof at the end needs a kind of its own: neither enabled nor disabled again without a status.
#[test]
fn a_proof_that_cannot_be_made() {
    for knob in ["knob=1,35", "knob=10,35"] {
        let left = with_knob(&["init", "launch=_Z1av", knob]);
        assert!(left.has_error("ownership-probe"), "{knob}: {}", left.text);
        assert_eq!(left.names, ["_Z1av"]);
    }
}

/// From 13.2 on CUPTI can be asked what is enabled.
#[test]
fn enabled_kinds_that_cannot_be_read() {
    let left = with_knob(&["knob=6,130202", "init", "launch=_Z1av"]);
    assert_eq!(left.state, ProcessState::Clean, "{}", left.text);
    let left = with_knob(&["knob=6,130202", "init", "launch=_Z1av", "knob=11,7"]);
    assert!(left.has_error("read-enabled-kinds"), "{}", left.text);
}

/// An exit handler that was there before CUDA's start runs after the recorder's end.
#[test]
fn a_launch_after_the_footer() {
    let left = with_knob(&["launch-at-exit", "init", "launch=_Z1av"]);
    assert!(left.has_error("activity-after-end"), "{}", left.text);
    assert_eq!(left.state, ProcessState::Error);
    assert_eq!(left.names, ["_Z1av"]);
}

/// Without its thread the recorder still takes everything at the end, and does not claim to be complete.
#[test]
fn no_thread_for_the_flush() {
    let bench = Bench::new();
    let cupti = bench.cupti();
    // Mapped before there is no room for it.
    let recorder = format!("load={}", library("libkernrec_cupti.so").display());
    // Less than a stack, more than everything else that starting takes.
    let acts = [
        cupti.as_str(),
        &recorder,
        "address-space-left=1024",
        "init",
        "address-space-left",
        "launch=_Z1av",
    ];
    assert_success(&bench.run_acts(&acts));
    let left = bench.one();
    assert!(left.has_error("flush-thread"), "{}", left.text);
    assert_eq!(left.names, ["_Z1av"]);
}

#[test]
fn graph_level_records() {
    let left = with_knob(&["init", "knob=7,51", "launch=_Z1av"]);
    assert!(left.has_error("graph-level-record"), "{}", left.text);
}

#[test]
fn no_cupti_anywhere() {
    let bench = Bench::new();
    let output = bench
        .command(&["init"])
        .env("LD_LIBRARY_PATH", "/nonexistent")
        .output()
        .unwrap();
    assert_success(&output);
    assert!(bench.one().has_error("cupti-unavailable"));
}

#[test]
fn both_majors_mapped() {
    let bench = Bench::new();
    let second = format!("load={}", bench.path("libcupti.so.12").display());
    assert_success(&bench.run(&["launch=_Z1av", &second]));
    let left = bench.one();
    assert!(left.has_error("several-cupti-copies"), "{}", left.text);
    assert_eq!(left.names, ["_Z1av"]);
}

#[test]
fn no_memory_for_buffers() {
    // More launching threads at once than buffers are ever lent to.
    let left = with_knob(&["init", "threads=1100,1"]);
    assert!(left.has_error("buffer-allocation"), "{}", left.text);
    assert!(left.dropped > 0);
}

/// The limit leaves room for the header and nothing else; the default action of the signal that comes
/// with it would kill the workload.
#[test]
fn disk_full_after_the_header() {
    let bench = Bench::new();
    let long = format!("launch=_Z{}v", "x".repeat(3_000));
    assert_success(&bench.run(&["file-size-limit=400", &long, "launch=_Z1av"]));
    let left = bench.one();
    assert_ne!(left.state, ProcessState::Clean);
    assert!(left.has_error("write-failed"), "{}", left.text);
    assert!(left.names.is_empty(), "no part of a name: {:?}", left.names);
}

#[test]
fn a_full_disk_never_leaves_a_rocm_recording_that_reads_as_idle() {
    let bench = Bench::new();
    fs_err::create_dir(bench.recordings_folder()).unwrap();
    assert_success(&bench.run_acts(&["rocm-trace"]));
    let left = bench.one();
    assert_eq!(left.state, ProcessState::Empty, "{}", left.text);
}

#[test]
fn an_unwritable_folder() {
    let bench = Bench::new();
    // A file in its place: even root cannot write into that.
    fs_err::write(bench.recordings_folder(), "").unwrap();
    assert_success(&bench.run(&["launch=_Z1av"]));
}

#[test]
fn a_workload_that_closes_every_descriptor_is_recorded_and_its_files_left_alone() {
    let bench = Bench::new();
    assert_success(&bench.run(&["launch=_Z1av", "close-descriptors", "launch=_Z1bv"]));
    let left = bench.one();
    assert_eq!(left.state, ProcessState::Clean, "{}", left.text);
    assert_eq!(left.names, ["_Z1av", "_Z1bv"]);
}
