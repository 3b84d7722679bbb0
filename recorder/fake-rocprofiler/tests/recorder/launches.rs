//! What is dispatched is what is recorded.

use std::process::Command;

use kernrec_schemas::recording::ProcessState;

use crate::bench::{Bench, Left, assert_success};

/// What the acts leave, which must be a complete recording.
fn clean(knobs: &'static str, acts: &[&str]) -> Left {
    let bench = Bench::with(knobs);
    assert_success(&bench.run(acts));
    let left = bench.one();
    assert_eq!(left.state, ProcessState::Clean, "{}", left.text);
    left
}

#[test]
fn kernels_are_recorded_once_each_and_in_order() {
    let left = clean("", &["launch=_Z1bv*500", "launch=_Z1av", "launch=_Z1bv"]);
    assert_eq!(left.names, ["_Z1bv", "_Z1av"]);
    assert_eq!(left.records, Some(502));
    let lines: Vec<&str> = left.text.lines().collect();
    assert!(lines[0].starts_with("# kernrec v1 backend=rocm recorder=rocprofiler-sdk pid="));
    assert_eq!(
        lines[1..],
        [
            "# sdk_version=10302 build_sdk_version=10302",
            "# gpu_active",
            "_Z1bv",
            "_Z1av",
            "# end records=502 unique=2 dropped=0 errors=0 unresolved=0"
        ]
    );
}

#[test]
fn ten_thousand_dispatches_of_a_graph() {
    let left = clean("", &["graph=100,10000"]);
    assert_eq!((left.names.len(), left.records), (100, Some(10_000)));
    assert_eq!(left.names[7], "_Z4nodeILi7EEvv");
}

/// Kernels of several queues complete in any order, and the proof of completeness holds all the same.
#[test]
fn dispatches_that_complete_out_of_order() {
    let left = clean("reorder=7", &["graph=100,10500"]);
    assert_eq!((left.names.len(), left.records), (100, Some(10_500)));
}

#[test]
fn more_records_than_the_buffer_holds() {
    let left = clean("", &["launch=_Z1av*30000"]);
    assert_eq!(left.records, Some(30_000));
}

#[test]
fn sixty_four_threads_lose_nothing() {
    let left = clean("", &["threads=64,500"]);
    assert_eq!((left.names.len(), left.records), (640, Some(32_000)));
}

/// A flush can leave a half of the buffer behind and report success.
#[test]
fn records_a_flush_left_behind() {
    let left = clean("skip-half=1", &["launch=_Z1av*5"]);
    assert_eq!(left.records, Some(5));
}

#[test]
fn a_busy_buffer_is_tried_again() {
    let left = clean("busy=3", &["launch=_Z1av*5"]);
    assert_eq!(left.records, Some(5));
}

#[test]
fn kernels_that_run_when_the_process_ends() {
    let left = clean("late=3", &["launch=_Z1av*2", "launch=_Z1bv*3"]);
    assert_eq!(left.names.len(), 2);
    assert_eq!(left.records, Some(5));
}

#[test]
fn records_of_the_newer_and_longer_layout() {
    let left = clean("record-bytes=192", &["launch=_Z1av*12000", "launch=_Z1bv"]);
    assert_eq!(left.names, ["_Z1av", "_Z1bv"]);
    assert_eq!(left.records, Some(12_001));
}

#[test]
fn one_suffix_is_taken_off_if_something_is_left() {
    let symbols = ["_Z1av.kd", "_Z1bv", "_Z1cv.kd.kd", ".kd", "triton_add.kd"];
    let acts = symbols.map(|symbol| format!("launch-as-is={symbol}"));
    let left = clean("", &acts.each_ref().map(String::as_str));
    let names = ["_Z1av", "_Z1bv", "_Z1cv.kd", ".kd", "triton_add"];
    assert_eq!(left.names, names);
}

/// One per device: other numbers, the same name.
#[test]
fn a_kernel_loaded_twice() {
    let acts = [
        "register=1,_Z1av.kd",
        "register=2,_Z1av.kd",
        "dispatch=1*2",
        "dispatch=2*3",
    ];
    let left = clean("", &acts);
    assert_eq!((left.names.len(), left.records), (1, Some(5)));
}

#[test]
fn kernels_that_are_loaded_and_not_run_are_not_written() {
    let left = clean("", &["register=1,_Z6unusedv.kd", "launch=_Z1av"]);
    assert_eq!(left.names, ["_Z1av"]);
}

/// Records can come after the code is gone.
#[test]
fn names_outlive_their_code() {
    let acts = [
        "register=1,_Z1av.kd",
        "dispatch=1*2",
        "unregister=1",
        "dispatch=1",
    ];
    let left = clean("", &acts);
    assert_eq!(
        (left.names, left.records),
        (vec!["_Z1av".to_owned()], Some(3))
    );
}

/// A record before the symbol: it is counted, and named when the name comes.
#[test]
fn names_that_come_late() {
    let mut bench = Bench::new();
    bench.flush_ms = "1";
    let acts = [
        "dispatch=5*3",
        "dispatch=6",
        // The first records have come: nothing else has said so before.
        "await=# gpu_active",
        "register=5,_Z1av.kd",
        "await=_Z1av",
        "register=6,_Z1bv.kd",
        "dispatch=5",
    ];
    assert_success(&bench.run(&acts));
    let left = bench.one();
    assert_eq!(left.state, ProcessState::Clean, "{}", left.text);
    assert_eq!(left.names, ["_Z1av", "_Z1bv"]);
    assert_eq!(left.records, Some(5));
}

#[test]
fn names_that_never_come() {
    for (acts, unresolved) in [
        (["launch=_Z1av", "dispatch=9*3"], 3),
        // What the SDK says of code that was loaded unseen.
        (["launch=_Z1av", "dispatch=0*2"], 2),
    ] {
        let bench = Bench::new();
        assert_success(&bench.run(&acts));
        let left = bench.one();
        assert_eq!(left.state, ProcessState::Error, "{}", left.text);
        assert_eq!(left.unresolved, Some(unresolved), "{}", left.text);
        assert_eq!(left.records, Some(unresolved + 1));
        assert_eq!(left.names, ["_Z1av"]);
    }
}

#[test]
fn a_name_of_60_kib_is_kept_and_one_over_the_limit_refused() {
    let left = clean("", &["launch-long=65536"]);
    assert_eq!(left.names[0].len(), 65_536);

    let bench = Bench::new();
    assert_success(&bench.run(&["launch-long=65537", "launch-long=70000"]));
    let left = bench.one();
    assert!(left.has_error("invalid_kernel_name"));
    assert_eq!(left.unresolved, Some(2));
    assert!(left.names.is_empty());
}

#[test]
fn names_are_written_while_the_process_runs() {
    let mut bench = Bench::new();
    bench.flush_ms = "1";
    assert_success(&bench.run(&["launch=_Z5firstv", "await=_Z5firstv", "launch=_Z4lastv"]));
    let left = bench.one();
    assert_eq!(left.state, ProcessState::Clean, "{}", left.text);
    assert_eq!(left.names, ["_Z5firstv", "_Z4lastv"]);
}

/// A wrong period is the default one, not none.
#[test]
fn a_period_that_is_none_counts_as_not_set() {
    let mut bench = Bench::new();
    let children: Vec<_> = ["soon", "-1", "3600001"]
        .into_iter()
        .map(|period| {
            bench.flush_ms = period;
            let (launch, named) = (format!("launch=_Z{period}"), format!("await=_Z{period}"));
            let mut command = bench.command(&["init", &launch, &named]);
            command.spawn().unwrap()
        })
        .collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(bench.left().len(), 3);
}

/// What the watermark hands over is written without any flush.
#[test]
fn without_a_period_a_full_half_is_still_written() {
    let bench = Bench::new();
    let acts = ["launch=_Z1av*3000", "await=_Z1av", "end=kill"];
    bench.run(&acts);
    assert_eq!(bench.one().names, ["_Z1av"]);
}

#[test]
fn nothing_is_recorded_unless_asked_for() {
    let bench = Bench::new();
    let output = bench
        .command(&["init", "launch=_Z1av"])
        .env_remove("KERNREC_DIR")
        .current_dir(bench.path("."))
        .output()
        .unwrap();
    assert_success(&output);
    assert!(bench.left().is_empty());
    assert!(!bench.path(".kernrec").exists());
}

#[test]
fn a_relative_folder_stays_where_it_was() {
    let bench = Bench::new();
    let output = bench
        .command(&["init", "chdir=/", "launch=_Z1av"])
        .env("KERNREC_DIR", "recordings")
        .current_dir(bench.path("."))
        .output()
        .unwrap();
    assert_success(&output);
    assert_eq!(bench.one().names, ["_Z1av"]);
}

/// The workload's signal handlers run on the workload's threads only.
#[test]
fn the_recorders_threads_take_no_signals() {
    let mut bench = Bench::new();
    // Both threads are there once a name was flushed and written.
    bench.flush_ms = "1";
    let output = bench.run(&["launch=_Z1av", "await=_Z1av", "blocked-signals"]);
    assert_success(&output);
    let text = String::from_utf8(output.stdout).unwrap();
    let ours: Vec<(&str, u64)> = text
        .lines()
        .map(|line| line.rsplit_once(' ').unwrap())
        .filter(|(name, _)| name.starts_with("kernrec-"))
        .map(|(name, mask)| (name, u64::from_str_radix(mask, 16).unwrap()))
        .collect();
    assert_eq!(ours.len(), 2, "{text}");
    for (name, mask) in ours {
        // SIGKILL and SIGSTOP cannot be held back.
        let blocked = |signal: u32| mask & (1 << (signal - 1)) != 0;
        let all = (1..=31).filter(|n| !matches!(n, 9 | 19)).all(blocked);
        assert!(all, "{name} {mask:x}");
    }
}

/// The copy that calls is the one to bind: a wheel brings its own beside the system's.
#[test]
fn of_two_copies_of_the_sdk_the_one_that_calls_is_used() {
    let bench = Bench::new();
    let second = bench.path("librocprofiler-sdk.so.1");
    fs_err::copy(bench.path("librocprofiler-sdk.so"), &second).unwrap();
    let load = format!("sdk={}", second.display());
    // The preloaded copy stays unused.
    assert_success(
        &bench
            .command(&[&load, "init", "launch=_Z1av"])
            .output()
            .unwrap(),
    );
    let left = bench.one();
    assert_eq!(left.state, ProcessState::Clean, "{}", left.text);
    assert_eq!(left.names, ["_Z1av"]);
}

#[test]
fn a_program_without_the_sdk_runs_unrecorded() {
    let bench = Bench::new();
    let mut command: Command = bench.command(&["init", "launch=_Z1av", "print=done"]);
    for name in ["LD_PRELOAD", "ROCP_TOOL_LIBRARIES"] {
        command.env_remove(name);
    }
    let output = command.output().unwrap();
    assert_success(&output);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "done\n");
    assert!(bench.left().is_empty());
}
