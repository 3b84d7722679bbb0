//! Time and memory of one piece of work.

use fs_err as fs;
use std::io;
use std::time::{Duration, Instant};

/// The best of several runs, and what they gave.
#[derive(Debug, Clone, Copy)]
pub struct Measured<T> {
    /// The shortest time.
    pub time: Duration,
    /// The result of the last run.
    pub result: T,
}

/// Runs a piece of work `runs` times (at least once) and keeps the shortest time.
pub fn best_of<T>(runs: usize, mut work: impl FnMut() -> T) -> Measured<T> {
    let timed = |work: &mut dyn FnMut() -> T| {
        let start = Instant::now();
        let result = work();
        Measured {
            time: start.elapsed(),
            result,
        }
    };
    let mut best = timed(&mut work);
    for _ in 1..runs {
        let next = timed(&mut work);
        best = Measured {
            time: best.time.min(next.time),
            result: next.result,
        };
    }
    best
}

/// Forgets the peak of resident memory so far (proc(5), `clear_refs`).
pub fn reset_peak() -> io::Result<()> {
    fs::write("/proc/self/clear_refs", "5")
}

/// The peak of this process's resident memory in bytes since it began or [`reset_peak`].
pub fn peak_resident_bytes() -> io::Result<u64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let kib = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .and_then(|rest| rest.trim().strip_suffix(" kB"))
        .and_then(|number| number.trim().parse::<u64>().ok());
    kib.map(|kib| kib * 1024)
        .ok_or_else(|| io::Error::other("no VmHWM in /proc/self/status"))
}
