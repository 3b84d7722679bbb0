//! How a process ends, and what its recording is worth then.

use std::os::unix::process::ExitStatusExt as _;

use kernrec_schemas::recording::ProcessState;

use crate::bench::{Bench, assert_success};

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

fn ends_abruptly(mut bench: Bench, end: &str, check: impl Fn(std::process::ExitStatus)) {
    bench.flush_ms = "1";
    let output = bench.run(&["launch=_Z1av", "await=_Z1av", end]);
    check(output.status);
    let left = bench.one();
    assert_eq!(left.state, ProcessState::NoFooter, "{}", left.text);
    assert_eq!(left.names, ["_Z1av"]);
}

/// Python ends its forked workers so. The forwarders see it, and the recording is finished.
#[test]
fn by_exiting_at_once() {
    let bench = Bench::new();
    let output = bench.run(&["launch=_Z1av", "end=at-once"]);
    assert_eq!(output.status.code(), Some(7));
    let left = bench.one();
    assert_eq!(left.state, ProcessState::Clean, "{}", left.text);
    assert_eq!(left.names, ["_Z1av"]);
}

#[test]
fn by_exiting_at_once_in_a_signal_handler() {
    let bench = Bench::new();
    let output = bench.run(&["launch=_Z1av", "end=in-handler"]);
    assert_eq!(output.status.code(), Some(7));
    assert_eq!(bench.one().state, ProcessState::Clean);
}

#[test]
fn by_exiting_at_once_without_forwarders() {
    let mut bench = Bench::new();
    bench.forwarders = false;
    ends_abruptly(bench, "end=at-once", |status| {
        assert_eq!(status.code(), Some(7));
    });
}

#[test]
fn by_sigterm() {
    ends_abruptly(Bench::new(), "end=terminate", |status| {
        assert_eq!(status.signal(), Some(libc_numbers::SIGTERM));
    });
}

#[test]
fn by_sigkill() {
    ends_abruptly(Bench::new(), "end=kill", |status| {
        assert_eq!(status.signal(), Some(libc_numbers::SIGKILL));
    });
}

/// Linux's numbers, the same on every architecture.
mod libc_numbers {
    pub(super) const SIGKILL: i32 = 9;
    pub(super) const SIGTERM: i32 = 15;
}
