//! Time and memory of one piece of work.

use fs_err as fs;
use std::io;
use std::time::{Duration, Instant};

/// Several runs of one piece of work.
#[derive(Debug, Clone, Copy)]
pub struct Measured<T> {
    /// The shortest time on the clock.
    pub time: Duration,
    /// The mean processor time of a run, all threads together, to about a hundredth of a second divided by the
    /// number of runs. On a busy machine it is the steadier of the two.
    pub cpu: Duration,
    /// The result of the last run.
    pub result: T,
}

/// Runs a piece of work `runs` times (at least once).
pub fn best_of<T>(runs: u32, mut work: impl FnMut() -> T) -> io::Result<Measured<T>> {
    let before = cpu_time()?;
    let mut timed = || {
        let start = Instant::now();
        let result = work();
        (start.elapsed(), result)
    };
    let (mut time, mut result) = timed();
    for _ in 1..runs {
        let next = timed();
        time = time.min(next.0);
        result = next.1;
    }
    Ok(Measured {
        time,
        cpu: cpu_time()?.saturating_sub(before) / runs.max(1),
        result,
    })
}

/// Processor time of this process so far: `utime` and `stime` of proc(5) `stat`, in ticks of 10 ms (the value of
/// `sysconf(_SC_CLK_TCK)` on Linux is 100 on every architecture in use).
fn cpu_time() -> io::Result<Duration> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    // The program's name stands in parentheses and may hold spaces; the fields after it are the 3rd and on.
    let ticks = stat.rsplit_once(')').and_then(|(_, fields)| {
        let mut fields = fields.split_ascii_whitespace().skip(11);
        let (user, system) = (fields.next()?, fields.next()?);
        Some(user.parse::<u64>().ok()? + system.parse::<u64>().ok()?)
    });
    ticks
        .map(|ticks| Duration::from_millis(ticks * 10))
        .ok_or_else(|| io::Error::other("no processor times in /proc/self/stat"))
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
