//! Two things in turns.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Runs both so many times (an odd number, for the median) in turns and prints the ratio of their medians beside its limit.
/// What the other side took.
pub(crate) fn compare(
    what: &str,
    limit: f64,
    rounds: usize,
    mut ours: impl FnMut(usize) -> Duration,
    mut theirs: impl FnMut(usize) -> Duration,
) -> Duration {
    let (mut our_times, mut their_times) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        our_times.push(ours(round));
        their_times.push(theirs(round));
    }
    let (ours, theirs) = (median(our_times), median(their_times));
    let ratio = ours.as_secs_f64() / theirs.as_secs_f64();
    println!("{what}: {ratio:.2} x curl (limit {limit}): {ours:.1?} to {theirs:.1?}");
    theirs
}

/// Runs so many times what no program could leave out beside the transfers, and prints what a program would take that did
/// nothing else and overlapped nothing.
pub(crate) fn floor(
    what: &str,
    theirs: Duration,
    rounds: usize,
    mut least: impl FnMut() -> Duration,
) {
    let least = median((0..rounds).map(|_| least()).collect());
    let ratio = (theirs + least).as_secs_f64() / theirs.as_secs_f64();
    println!(
        "{what}, the transfers and bare work: {ratio:.2} x curl: {theirs:.1?} and {least:.1?}"
    );
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
