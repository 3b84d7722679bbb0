//! What is launched is what is recorded.

use kernrec_schemas::recording::ProcessState;

use crate::bench::{Bench, assert_success};

#[test]
fn launches_are_recorded_once_each_and_in_order() {
    let bench = Bench::new();
    assert_success(&bench.run(&["launch=_Z1bv*500", "launch=_Z1av", "launch=_Z1bv"]));
    let left = bench.one();
    assert_eq!(left.state, ProcessState::Clean, "{}", left.text);
    assert_eq!(left.names, ["_Z1bv", "_Z1av"]);
    assert_eq!(left.records, Some(502));
    assert!(left.text.contains(" forwarders=yes "));
    assert!(left.text.contains("# cupti_version=130001\n"));
}

#[test]
fn more_records_than_a_buffer_holds_are_all_counted() {
    let bench = Bench::new();
    assert_success(&bench.run(&["launch=_Z1av*30000"]));
    let left = bench.one();
    assert_eq!(left.state, ProcessState::Clean, "{}", left.text);
    assert_eq!(left.records, Some(30_000));
}

#[test]
fn kernels_of_a_graph_are_recorded() {
    let bench = Bench::new();
    assert_success(&bench.run(&["graph=_Z4nodev*7"]));
    let left = bench.one();
    assert_eq!(left.state, ProcessState::Clean, "{}", left.text);
    assert_eq!(
        (left.names, left.records),
        (vec!["_Z4nodev".to_owned()], Some(7))
    );
}

#[test]
fn a_process_that_launches_nothing_is_clean_and_empty() {
    let bench = Bench::new();
    assert_success(&bench.run(&[]));
    let left = bench.one();
    assert_eq!(left.state, ProcessState::Clean, "{}", left.text);
    assert_eq!(left.records, Some(0));
}

#[test]
fn sixteen_threads_lose_nothing() {
    let bench = Bench::new();
    assert_success(&bench.run(&["threads=16,2000"]));
    let left = bench.one();
    assert_eq!(left.state, ProcessState::Clean, "{}", left.text);
    assert_eq!((left.names.len(), left.records), (160, Some(32_000)));
}

#[test]
fn completions_after_the_flush_are_waited_for() {
    let bench = Bench::new();
    assert_success(&bench.run(&["knob=5,1", "threads=16,500"]));
    let left = bench.one();
    assert_eq!(left.state, ProcessState::Clean, "{}", left.text);
    assert_eq!(left.records, Some(8_000));
}

#[test]
fn unnamed_kernels_are_counted() {
    let bench = Bench::new();
    assert_success(&bench.run(&["launch=_Z1av", "launch-unnamed", "launch-unnamed"]));
    let left = bench.one();
    assert_eq!(left.state, ProcessState::Error);
    assert_eq!((left.unresolved, left.records), (Some(2), Some(3)));
}

#[test]
fn a_name_of_two_lines_is_refused_and_the_rest_kept() {
    let bench = Bench::new();
    assert_success(&bench.run(&["launch-newline", "launch=_Z1av"]));
    let left = bench.one();
    assert_eq!(left.state, ProcessState::Error);
    assert!(left.has_error("invalid_kernel_name"));
    assert_eq!(left.names, ["_Z1av"]);
}

#[test]
fn a_name_of_60_kib_is_kept_and_one_over_the_limit_refused() {
    let bench = Bench::new();
    assert_success(&bench.run(&["launch-long=61440"]));
    let left = bench.one();
    assert_eq!(left.state, ProcessState::Clean);
    assert_eq!(left.names[0].len(), 61_440);

    let bench = Bench::new();
    assert_success(&bench.run(&["launch-long=70000"]));
    let left = bench.one();
    assert!(left.has_error("invalid_kernel_name"));
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
            let launch = format!("launch=_Z{period}");
            let named = format!("await=_Z{period}");
            let cupti = bench.cupti();
            let mut command = bench.command(&[&cupti, "init", &launch, &named]);
            command.spawn().unwrap()
        })
        .collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(bench.left().len(), 3);
}

/// What still runs is taken by force at the end, since there is no later.
#[test]
fn kernels_that_still_run_at_the_end_are_recorded() {
    let bench = Bench::new();
    assert_success(&bench.run(&["knob=8,1", "launch=_Z1av"]));
    let left = bench.one();
    assert_eq!(left.state, ProcessState::Clean, "{}", left.text);
    assert_eq!(left.names, ["_Z1av"]);
}

/// And earlier only where it is asked for.
#[test]
fn kernels_that_run_are_recorded_meanwhile_on_request() {
    let mut bench = Bench::new();
    bench.flush_ms = "1";
    let cupti = bench.cupti();
    let acts = ["knob=8,1", "launch=_Z1av", "await=_Z1av"];
    let all: Vec<&str> = [cupti.as_str(), "init"].into_iter().chain(acts).collect();
    let mut command = bench.command(&all);
    let output = command.env("KERNREC_FORCE_EVERY", "2").output().unwrap();
    assert_success(&output);
    assert_eq!(bench.one().state, ProcessState::Clean);
}

#[test]
fn cupti_is_found_where_the_process_has_none_mapped() {
    let bench = Bench::new();
    // Through the loader's search path, by the name that belongs to CUDA 13.
    let output = bench.run_acts(&["init"]);
    assert_success(&output);
    let left = bench.one();
    assert!(
        left.text.contains("# cupti_version=130001\n"),
        "{}",
        left.text
    );
    assert_eq!(left.state, ProcessState::Clean);
}

#[test]
fn nothing_is_recorded_unless_asked_for() {
    let bench = Bench::new();
    let cupti = bench.cupti();
    let output = bench
        .command(&[&cupti, "init", "launch=_Z1av"])
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
    let cupti = bench.cupti();
    let output = bench
        .command(&[&cupti, "init", "chdir=/", "launch=_Z1av"])
        .env("KERNREC_DIR", "recordings")
        .current_dir(bench.path("."))
        .output()
        .unwrap();
    assert_success(&output);
    assert_eq!(bench.one().names, ["_Z1av"]);
}

/// The workload's signal handlers run on the workload's threads only.
#[test]
fn the_recorders_thread_takes_no_signals() {
    let mut bench = Bench::new();
    // The thread is there once it has flushed.
    bench.flush_ms = "1";
    let output = bench.run(&["launch=_Z1av", "await=_Z1av", "blocked-signals"]);
    assert_success(&output);
    let masks = String::from_utf8(output.stdout).unwrap();
    let masks: Vec<u64> = masks
        .lines()
        .map(|line| line.split_once(' ').unwrap())
        .map(|(_, mask)| u64::from_str_radix(mask, 16).unwrap())
        .collect();
    assert_eq!(masks.len(), 1, "the recorder has one thread");
    // SIGKILL and SIGSTOP cannot be held back.
    let blocked = |signal: u32| masks[0] & (1 << (signal - 1)) != 0;
    assert!(
        (1..=31).filter(|n| !matches!(n, 9 | 19)).all(blocked),
        "{masks:x?}"
    );
}
