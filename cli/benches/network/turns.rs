//! Two things in turns.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Runs both so many times (an odd number, for the median) in turns and prints the ratio of their medians beside its limit.
pub(crate) fn compare(
    what: &str,
    limit: f64,
    rounds: usize,
    mut ours: impl FnMut(usize) -> Duration,
    mut theirs: impl FnMut(usize) -> Duration,
) {
    let (mut our_times, mut their_times) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        our_times.push(ours(round));
        their_times.push(theirs(round));
    }
    let (ours, theirs) = (median(our_times), median(their_times));
    let ratio = ours.as_secs_f64() / theirs.as_secs_f64();
    println!("{what}: {ratio:.2} x curl (limit {limit}): {ours:.1?} to {theirs:.1?}");
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// How long a program takes, which must succeed.
pub(crate) fn time(command: &mut Command) -> Duration {
    command.stdout(Stdio::null());
    let start = Instant::now();
    let status = command.status().unwrap();
    let time = start.elapsed();
    assert!(status.success(), "{command:?}");
    time
}
