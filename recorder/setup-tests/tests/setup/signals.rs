//! Signals find the workload, once.

use crate::bench::{Bench, HOSTILE, text};
use crate::child::{self, CONT, KILL, TERM, USR2, WINCH};
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdout, Command, Stdio};

struct Running {
    child: Child,
    lines: BufReader<ChildStdout>,
    launcher: i32,
}

impl Running {
    /// Starts something that ends in the workload that tells of its signals.
    fn start(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut running = Self {
            lines: BufReader::new(child.stdout.take().unwrap()),
            child,
            launcher: 0,
        };
        let line = running.line();
        running.launcher = line.strip_prefix("parent ").unwrap().parse().unwrap();
        running
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    fn pid(&self) -> i32 {
        self.child.id().try_into().unwrap()
    }

    /// Waits until the launcher has left the process group that it was started in.
    fn wait_until_aside(&self) {
        while child::group_of(self.launcher) == self.pid() {
            std::thread::yield_now();
        }
    }

    /// What the workload still said.
    fn rest(&mut self) -> String {
        let mut rest = String::new();
        self.lines.read_to_string(&mut rest).unwrap();
        rest
    }
}

#[test]
fn what_is_sent_to_the_launcher_reaches_the_workload() {
    let bench = Bench::new();
    let mut running = Running::start(&mut bench.recorded(&[HOSTILE, "signals"]));
    assert_eq!(running.launcher, running.pid());
    for signal in [TERM, USR2] {
        child::send(running.launcher, signal);
        assert_eq!(running.line(), format!("signal {signal}"));
    }
    child::send(running.launcher, WINCH);
    assert_eq!(running.rest(), format!("signal {WINCH}\n"));
    assert_eq!(running.child.wait().unwrap().code(), Some(9));
    assert_eq!(bench.bundle().sidecar.exit_status, Some(9));
}

/// A CI agent ends a job with a signal to its whole process group: workload and launcher both.
#[test]
fn what_is_sent_to_the_group_arrives_once() {
    let bench = Bench::new();
    let mut shell = bench.command("sh");
    let script = "trap : TERM; \"$@\" & wait; wait; exit $?";
    let recorded = bench.recorded(&[HOSTILE, "signals"]);
    shell
        .args(["-c", script, "sh"])
        .arg(recorded.get_program())
        .args(recorded.get_args())
        .process_group(0);
    let mut running = Running::start(&mut shell);
    running.wait_until_aside();
    child::send(-running.pid(), TERM);
    assert_eq!(running.line(), format!("signal {TERM}"));
    // Of those that wait the launcher takes the lowest number first: a second TERM would come before this.
    child::send(running.launcher, WINCH);
    assert_eq!(running.rest(), format!("signal {WINCH}\n"));
    running.child.wait().unwrap();
}

#[test]
fn a_killed_launcher_takes_the_workload_along() {
    let bench = Bench::new();
    let mut running = Running::start(&mut bench.recorded(&[HOSTILE, "signals"]));
    child::send(running.launcher, KILL);
    // The workload held the other end of the pipe.
    assert_eq!(running.rest(), "");
    running.child.wait().unwrap();
    assert_eq!(bench.sidecar("local").exit_status, None);
}

#[test]
fn a_stopped_workload_stops_the_launcher_until_both_go_on() {
    let bench = Bench::new();
    let mut command = bench.recorded(&[HOSTILE, "stop"]);
    let mut child = command
        .process_group(0)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let pid = child.id().try_into().unwrap();
    child::wait_for_stop(pid);
    child::send(pid, CONT);
    let mut said = String::new();
    child
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut said)
        .unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(5), "{said}");
}

#[test]
fn a_workload_killed_with_its_group_is_still_written_down() {
    let bench = Bench::new();
    let mut shell = bench.command("sh");
    let recorded = bench.recorded(&[HOSTILE, "signals"]);
    shell
        .args(["-c", "\"$@\"; exit $?", "sh"])
        .arg(recorded.get_program())
        .args(recorded.get_args())
        .stderr(Stdio::piped())
        .process_group(0);
    let mut running = Running::start(&mut shell);
    running.wait_until_aside();
    child::send(-running.pid(), KILL);
    running.child.wait().unwrap();
    // The launcher holds stderr until it is done.
    let mut said = Vec::new();
    running
        .child
        .stderr
        .take()
        .unwrap()
        .read_to_end(&mut said)
        .unwrap();
    assert_eq!(text(&said), "");
    assert_eq!(bench.bundle().sidecar.exit_status, Some(137));
}
