//! The traps of the SDK that decide how a recorder is set up; the imitation must have them too.

use std::os::unix::process::ExitStatusExt as _;

use crate::bench::{Bench, assert_success, recorder};

/// Linux's number, the same on every architecture.
const SIGABRT: i32 = 6;

#[test]
fn a_tool_that_cannot_be_loaded_ends_the_process() {
    let bench = Bench::new();
    let mut command = bench.command(&["init"]);
    let output = command
        .env("ROCP_TOOL_LIBRARIES", "/nonexistent.so")
        .output();
    assert_eq!(output.unwrap().status.signal(), Some(SIGABRT));
}

#[test]
fn an_sdk_that_cannot_be_found_ends_a_process_that_has_tools() {
    let bench = Bench::new();
    let mut command = bench.command(&["init"]);
    let output = command.env_remove("LD_PRELOAD").output();
    assert_eq!(output.unwrap().status.signal(), Some(SIGABRT));
}

#[test]
fn of_several_tools_the_last_needs_a_colon_behind_it() {
    let ours = recorder().display().to_string();
    for (list, recordings) in [
        (ours.clone(), 1),
        (format!("{ours}:"), 1),
        (format!("{ours}:{ours}"), 1),
        (format!(":{ours}"), 0),
        (format!(":{ours}:"), 1),
    ] {
        let bench = Bench::new();
        let mut command = bench.command(&["init", "launch=_Z1av"]);
        assert_success(&command.env("ROCP_TOOL_LIBRARIES", &list).output().unwrap());
        assert_eq!(bench.left().len(), recordings, "{list}");
    }
}

#[test]
fn preloading_the_recorder_works_as_well() {
    let bench = Bench::new();
    let mut command = bench.command(&["init", "launch=_Z1av"]);
    let preloaded = [bench.path("librocprofiler-sdk.so"), recorder()];
    command.env("LD_PRELOAD", std::env::join_paths(preloaded).unwrap());
    assert_success(&command.env_remove("ROCP_TOOL_LIBRARIES").output().unwrap());
    assert_eq!(bench.one().names, ["_Z1av"]);
}
