//! Whatever fails, the workload goes on and the recording says so.

use kernrec_schemas::recording::ProcessState;

use crate::bench::{Bench, Left, assert_success, recorder};

fn with_knobs(knobs: &'static str, acts: &[&str]) -> Left {
    let bench = Bench::with(knobs);
    assert_success(&bench.run(acts));
    bench.one()
}

/// What the acts leave, with this error word.
fn failed(knobs: &'static str, acts: &[&str], word: &str) -> Left {
    let left = with_knobs(knobs, acts);
    assert_eq!(left.state, ProcessState::Error, "{knobs}: {}", left.text);
    assert!(left.has_error(word), "{knobs}: {}", left.text);
    left
}

#[test]
fn only_validated_versions_are_recorded() {
    for knobs in [
        "version=10000",
        "version=10301",
        "version=10303",
        "version=10400",
        "version=0",
    ] {
        let left = failed(knobs, &["launch=_Z1av*3"], "unsupported_sdk_version");
        assert!(!left.text.contains("# sdk_version="), "{}", left.text);
        assert!(left.names.is_empty());
    }
}

/// The SDK ignores that a tool could not initialise itself; the recorder has stopped its own context.
#[test]
fn a_start_that_fails() {
    for (knobs, word) in [
        ("create-context=1", "create_context_failed"),
        ("symbol-service=15", "symbol_tracing_failed"),
        ("create-buffer=29", "create_buffer_failed"),
        ("create-thread=1", "callback_thread_failed"),
        ("assign-thread=6", "callback_thread_failed"),
        ("dispatch-service=17", "dispatch_tracing_failed"),
        ("start-context=12", "start_context_failed"),
        ("inactive=1", "start_context_failed"),
    ] {
        let left = failed(knobs, &["launch=_Z1av*3"], word);
        assert!(!left.text.contains("# sdk_version="), "{}", left.text);
        assert!(left.text.contains(&format!("# status {word}=")));
        assert_eq!(left.records, Some(0), "{}", left.text);
    }
}

#[test]
fn an_sdk_without_the_functions_that_are_needed() {
    let bench = Bench::new();
    let here = format!("configure-from-here={}", recorder().display());
    let output = bench.command(&[&here]).env_remove("LD_PRELOAD").output();
    assert_success(&output.unwrap());
    let left = bench.one();
    assert!(left.has_error("sdk_not_found"), "{}", left.text);
    assert_eq!(left.records, Some(0));
}

#[test]
fn another_tool_is_there_first_and_keeps_working() {
    let bench = Bench::new();
    let sdk = format!("sdk={}", bench.path("librocprofiler-sdk.so").display());
    let acts = [&sdk, "other-tool", "init", "launch=_Z1av*5", "other-count"];
    let output = bench
        .command(&acts)
        .env_remove("LD_PRELOAD")
        .output()
        .unwrap();
    assert_success(&output);
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(said, "other tool got 5 records\n");
    let left = bench.one();
    assert!(left.has_error("another_profiler_registered_first"));
    assert_eq!(left.state, ProcessState::Error);
    assert_eq!(left.names, ["_Z1av"]);
    assert_eq!(left.records, Some(5));
}

/// What runs under the other copy is not seen.
#[test]
fn a_second_copy_of_the_sdk_starts() {
    let bench = Bench::new();
    let second = bench.path("librocprofiler-sdk.so.1");
    fs_err::copy(bench.path("librocprofiler-sdk.so"), &second).unwrap();
    let start = format!("init-copy={}", second.display());
    assert_success(&bench.run(&["launch=_Z1av", &start]));
    let left = bench.one();
    assert!(left.has_error("several_sdk_copies"), "{}", left.text);
    assert_eq!(left.names, ["_Z1av"]);
}

/// Nothing depends on an SDK's answer to that.
#[test]
fn an_sdk_that_crashes_when_it_is_asked_for_its_version() {
    let left = with_knobs("crash-version=1", &["launch=_Z1av"]);
    assert_eq!(left.state, ProcessState::Clean, "{}", left.text);
}

#[test]
fn a_buffer_that_stays_busy() {
    let left = failed("busy=1000000000", &["launch=_Z1av"], "final_flush_failed");
    assert!(left.text.contains("# status final_flush_failed=14\n"));
}

#[test]
fn a_failing_flush() {
    let left = failed("flush=9", &["launch=_Z1av"], "final_flush_failed");
    assert!(left.text.contains("# status final_flush_failed=9\n"));
}

#[test]
fn a_failing_periodic_flush() {
    let mut bench = Bench::new();
    bench.flush_ms = "1";
    let acts = [
        "launch=_Z1av",
        "await=_Z1av",
        "knob=flush,9",
        "await=# error=periodic_flush_failed",
        "knob=flush,0",
        "launch=_Z1bv",
    ];
    assert_success(&bench.run(&acts));
    let left = bench.one();
    assert_eq!(left.state, ProcessState::Error);
    assert_eq!(left.names, ["_Z1av", "_Z1bv"]);
}

/// Without its threads the recorder still takes everything at the end, and does not claim to be complete.
#[test]
fn no_threads() {
    let mut bench = Bench::new();
    bench.flush_ms = "1000";
    // Mapped before there is no room for it.
    let mapped = format!("map={}", recorder().display());
    // Less than a stack, more than everything else that starting takes.
    let acts = [
        mapped.as_str(),
        "address-space-left=1024",
        "init",
        "address-space-left",
        "launch=_Z1av*3",
    ];
    assert_success(&bench.command(&acts).output().unwrap());
    let left = bench.one();
    assert!(left.has_error("writer_thread_failed"), "{}", left.text);
    assert!(left.has_error("periodic_flush_thread_failed"));
    assert_eq!(left.names, ["_Z1av"]);
    assert_eq!(left.records, Some(3));
}

#[test]
fn records_that_are_not_what_they_should_be() {
    for (knobs, word) in [
        ("null-headers=1", "missing_buffer_headers"),
        ("header-kind=10", "invalid_dispatch_header"),
        ("record-bytes=176", "short_dispatch_record"),
    ] {
        let left = failed(knobs, &["launch=_Z1av*3"], word);
        assert!(left.names.is_empty());
    }
}

/// Kernels and names are as good as ever, and nothing proves that they are all.
#[test]
fn numbers_of_dispatches_that_cannot_be() {
    for (knobs, word) in [
        ("dispatch-number=1", "invalid_dispatch_id"),
        ("dispatch-number=2", "repeated_dispatch_id"),
    ] {
        let left = failed(knobs, &["launch=_Z1av*3"], word);
        assert_eq!(left.names, ["_Z1av"]);
        assert_eq!(left.records, Some(3));
    }
}

#[test]
fn symbols_that_are_not_what_they_should_be() {
    for (knobs, act, word) in [
        ("symbol-bytes=80", "launch=_Z1bv", "invalid_kernel_symbol"),
        ("", "register=3", "invalid_kernel_symbol"),
        ("", "register-newline", "invalid_kernel_name"),
        ("", "register=3,#comment.kd", "invalid_kernel_name"),
    ] {
        failed(knobs, &["load-code", act], word);
    }
}

/// Both names may have run.
#[test]
fn one_number_for_two_kernels() {
    let mut bench = Bench::new();
    bench.flush_ms = "1";
    let acts = [
        "register=3,_Z1av.kd",
        "dispatch=3",
        "await=_Z1av",
        "register=3,_Z1bv.kd",
        "dispatch=3*2",
    ];
    assert_success(&bench.run(&acts));
    let left = bench.one();
    assert_eq!(left.state, ProcessState::Error);
    assert!(left.has_error("conflicting_kernel_symbol"), "{}", left.text);
    assert_eq!(left.names, ["_Z1av", "_Z1bv"]);
    assert_eq!(left.records, Some(3));
}

/// The SDK's count is a total; the recording's lines are what was added.
#[test]
fn lost_records_that_the_sdk_counts() {
    let mut bench = Bench::new();
    bench.flush_ms = "1";
    let acts = [
        "drop=2",
        "launch=_Z1av",
        "await=# dropped=2",
        "drop=3",
        "launch=_Z1av",
        "await=# dropped=3",
        "launch=_Z1bv",
    ];
    assert_success(&bench.run(&acts));
    let left = bench.one();
    assert_eq!(left.state, ProcessState::Dropped, "{}", left.text);
    assert_eq!(left.dropped, 5);
    assert_eq!(left.records, Some(3));
    assert_eq!(left.names, ["_Z1av", "_Z1bv"]);
}

#[test]
fn a_count_of_lost_records_that_falls() {
    let mut bench = Bench::new();
    bench.flush_ms = "1";
    let acts = [
        "drop=2",
        "launch=_Z1av",
        "await=# dropped=2",
        "drop-count=1",
        "launch=_Z1av",
        "await=# error=drop_counter_regressed",
    ];
    assert_success(&bench.run(&acts));
    let left = bench.one();
    assert_eq!(left.state, ProcessState::Error, "{}", left.text);
    assert_eq!(left.dropped, 2);
}

/// Nothing tells of these but the numbers of the others.
#[test]
fn lost_records_that_nobody_counts() {
    let acts = ["launch=_Z1av", "lose=2", "launch=_Z1av"];
    let left = failed("", &acts, "dispatch_records_lost");
    assert!(left.text.contains("# status dispatch_records_lost=2\n"));
    assert_eq!(left.records, Some(2));
    assert_eq!(left.names, ["_Z1av"]);
}

/// The footer was too early: names that come behind it are kept, and it is not believed.
#[test]
fn records_after_the_end() {
    let acts = ["launch=_Z1av", "launch=_Z4latev*2"];
    let left = failed("after-end=2", &acts, "activity-after-end");
    assert_eq!(left.names, ["_Z1av", "_Z4latev"]);
}

/// The SDK counted one of two, after the last record that could have told.
#[test]
fn lost_records_of_which_the_sdk_counts_some() {
    let acts = ["drop=1", "lose=1", "launch=_Z1av"];
    let left = failed("", &acts, "dispatch_records_lost");
    assert_eq!(left.dropped, 1);
}

/// The limit leaves room for the header and some of what follows, byte by byte; the default action of the
/// signal that comes with it would kill the workload. Whatever fits, a process that used the GPU is not
/// taken for one that did not, however it ends.
#[test]
fn a_full_disk_never_looks_idle() {
    let bench = Bench::new();
    assert_success(&bench.run(&[]));
    let header = bench.one().text.lines().next().unwrap().len();
    for more in (0..120).step_by(3) {
        for end in ["end=exit", "end=kill"] {
            let bench = Bench::new();
            let limit = format!("file-size-limit={}", header + more);
            let acts = [&limit, "init", "launch=_Z1av*3", end];
            bench.command(&acts).output().unwrap();
            let left = bench.one();
            // Regularly ended, and all of it fitted in.
            let whole = end == "end=exit" && left.state == ProcessState::Clean;
            let silent = [ProcessState::Clean, ProcessState::Idle].contains(&left.state);
            assert!(
                whole || !silent,
                "{end} {more}: {:?}\n{}",
                left.state,
                left.text
            );
        }
    }
}

#[test]
fn a_disk_that_is_full_right_after_the_header() {
    let bench = Bench::new();
    assert_success(&bench.run(&[]));
    let header = bench.one().text.lines().next().unwrap().len() + 1;
    // Room for what says that tracing started, and none for the word of the GPU.
    let started = "# sdk_version=10302 build_sdk_version=10302\n".len();
    for room in [header, header + started] {
        let bench = Bench::new();
        // Process numbers differ in length.
        let limit = format!("file-size-limit={}", room + 4);
        let acts = [&limit, "init", "launch=_Z1av*3"];
        assert_success(&bench.command(&acts).output().unwrap());
        let left = bench.one();
        assert_eq!(left.state, ProcessState::Empty, "{}", left.text);
    }
}

/// The file can neither be written to nor opened to be emptied.
#[test]
fn no_descriptor_is_left_for_the_word_of_the_gpu() {
    for end in ["end=exit", "end=kill"] {
        let bench = Bench::new();
        let acts = ["init", "descriptors=3", "launch=_Z1av", end];
        bench.command(&acts).output().unwrap();
        let left = bench.one();
        assert_eq!(left.state, ProcessState::Empty, "{}", left.text);
    }
}

#[test]
fn a_disk_that_is_full_later_keeps_the_names() {
    let bench = Bench::new();
    let long = format!("launch=_Z{}v", "x".repeat(3_000));
    let acts = [
        "launch=_Z1av*3000",
        "await=_Z1av",
        "file-size-limit=800",
        &long,
    ];
    assert_success(&bench.run(&acts));
    let left = bench.one();
    assert_eq!(left.state, ProcessState::Error, "{}", left.text);
    assert!(left.has_error("write-failed"), "{}", left.text);
    assert_eq!(left.names, ["_Z1av"], "no part of a name");
}

#[test]
fn an_unwritable_folder() {
    let bench = Bench::new();
    // A file in its place: even root cannot write into that.
    fs_err::write(bench.recordings_folder(), "").unwrap();
    assert_success(&bench.run(&["launch=_Z1av", "fork-do=launch=_Z1bv;end=exit"]));
}

#[test]
fn a_recording_that_somebody_removes() {
    let bench = Bench::new();
    let remove = format!("remove={}", bench.recordings_folder().display());
    assert_success(&bench.run(&[&remove, "launch=_Z1av"]));
    assert!(bench.left().is_empty());
}

/// The path leads nowhere, as after `chroot` or as another user, and the file is still where somebody finds it.
#[test]
fn a_recording_that_is_out_of_reach_is_never_idle() {
    for (limit, end) in [
        ("print=", "end=exit"),
        ("print=", "end=kill"),
        ("descriptors=3", "end=kill"),
    ] {
        let bench = Bench::new();
        let moved = bench.path("moved");
        let rename = format!(
            "rename={},{}",
            bench.recordings_folder().display(),
            moved.display()
        );
        bench
            .command(&["init", &rename, limit, "launch=_Z1av", end])
            .output()
            .unwrap();
        let left = Left::all(&moved);
        assert_eq!(left.len(), 1, "{left:#?}");
        assert_eq!(left[0].state, ProcessState::BadHeader, "{}", left[0].text);
        let mark = "# error=lost backend=rocm ";
        assert!(left[0].text.starts_with(mark), "{}", left[0].text);
    }
}

#[test]
fn a_workload_that_closes_every_descriptor() {
    let bench = Bench::new();
    assert_success(&bench.run(&["launch=_Z1av", "close-descriptors", "launch=_Z1bv"]));
    let left = bench.one();
    assert_eq!(left.state, ProcessState::Clean, "{}", left.text);
    assert_eq!(left.names, ["_Z1av", "_Z1bv"]);
}
