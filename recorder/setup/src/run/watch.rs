//! Counting processes that use the GPU and cannot be recorded.
//!
//! A program may start another with an environment of its own making (`env -i`, `sudo`), which the CUDA driver
//! then finds no recorder in. Its kernels are missing, and nothing in the recordings shows it. So the processes
//! below the command are looked at now and then: one that has the driver mapped and neither the recorder nor
//! its variable is counted. That is a lower bound: one that lives for less than a period, or that belongs to
//! another user, is not seen.

use crate::cuda::{INJECTION, RECORDER};
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

/// Between two looks. One look reads a small file for each process of the machine, and of each that is new
/// below the command one more.
const PERIOD: Duration = Duration::from_secs(1);

/// The CUDA driver's library.
const DRIVER: &[u8] = b"/libcuda.so";

/// A thread that looks.
pub(super) struct Watch {
    thread: Option<(Sender<()>, JoinHandle<u64>)>,
    otherwise: u64,
}

impl Watch {
    /// Looks at what is below `root`. Where nothing is recorded, the command itself is what is known.
    pub(super) fn start(root: libc::pid_t, is_recorded: bool) -> Self {
        let unwatched = |otherwise| Self {
            thread: None,
            otherwise,
        };
        if !is_recorded {
            return unwatched(1);
        }
        let (stop, stopped) = mpsc::channel();
        let look = move || {
            let mut seen = Seen::below(root);
            while stopped.recv_timeout(PERIOD) == Err(RecvTimeoutError::Timeout) {
                seen.look(Path::new("/proc"));
            }
            seen.unrecorded.len() as u64
        };
        match std::thread::Builder::new()
            .name("watch".to_owned())
            .spawn(look)
        {
            Ok(thread) => Self {
                thread: Some((stop, thread)),
                otherwise: 0,
            },
            Err(_) => unwatched(0),
        }
    }

    /// How many processes ran without a recorder, as far as was seen.
    pub(super) fn stop(self) -> u64 {
        match self.thread {
            Some((stop, thread)) => {
                drop(stop);
                thread.join().unwrap_or(0)
            }
            None => self.otherwise,
        }
    }
}

/// A process: its id and the time it started, since ids are used again.
type Process = (libc::pid_t, u64);

/// What has been seen so far.
struct Seen {
    root: libc::pid_t,
    /// Those below the command. One whose parent ended stays among them.
    below: HashSet<Process>,
    /// Those that need no second look.
    settled: HashSet<Process>,
    unrecorded: HashSet<Process>,
}

impl Seen {
    fn below(root: libc::pid_t) -> Self {
        Self {
            root,
            below: HashSet::new(),
            settled: HashSet::new(),
            unrecorded: HashSet::new(),
        }
    }

    fn look(&mut self, proc: &Path) {
        let processes = processes(proc);
        let started: HashMap<libc::pid_t, u64> = processes
            .iter()
            .map(|process| (process.pid, process.started))
            .collect();
        // Parents may stand behind their children in the list.
        let mut grew = true;
        while grew {
            grew = false;
            for process in &processes {
                let parent = started
                    .get(&process.parent)
                    .map(|time| (process.parent, *time));
                let is_below = process.pid == self.root
                    || parent.is_some_and(|parent| self.below.contains(&parent));
                grew |= is_below && self.below.insert((process.pid, process.started));
            }
        }
        for process in processes {
            let key = (process.pid, process.started);
            if !self.below.contains(&key) || self.settled.contains(&key) {
                continue;
            }
            match judge(&proc.join(process.pid.to_string())) {
                Verdict::Recorded => {
                    self.settled.insert(key);
                }
                Verdict::Unrecorded => {
                    self.settled.insert(key);
                    self.unrecorded.insert(key);
                }
                Verdict::Open => {}
            }
        }
    }
}

enum Verdict {
    /// Its recorder is there, or will be when the driver is.
    Recorded,
    Unrecorded,
    /// Without the driver so far, or it cannot be told.
    Open,
}

fn judge(process: &Path) -> Verdict {
    // As of its start; a forked child shows its parent's. A zombie and a process in the middle of exec show
    // none, and no driver below.
    let Ok(environment) = fs_err::read(process.join("environ")) else {
        return Verdict::Open;
    };
    let ours = format!("/{RECORDER}");
    let mut variables = environment.split(|byte| *byte == 0);
    let is_set = variables.any(|variable| {
        variable
            .strip_prefix(INJECTION.as_bytes())
            .is_some_and(|rest| rest.starts_with(b"=") && rest.ends_with(ours.as_bytes()))
    });
    if is_set {
        return Verdict::Recorded;
    }
    let Ok(maps) = fs_err::read(process.join("maps")) else {
        return Verdict::Open;
    };
    if contains(&maps, ours.as_bytes()) {
        Verdict::Recorded
    } else if contains(&maps, DRIVER) {
        Verdict::Unrecorded
    } else {
        Verdict::Open
    }
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

struct Listed {
    pid: libc::pid_t,
    parent: libc::pid_t,
    started: u64,
}

fn processes(proc: &Path) -> Vec<Listed> {
    let Ok(entries) = fs_err::read_dir(proc) else {
        return Vec::new();
    };
    entries
        .filter_map(Result::ok)
        .filter_map(|entry| listed(&entry.path()))
        .collect()
}

/// Fields 4 and 22 of `stat`, counted from the end of the name, which may hold anything.
fn listed(process: &Path) -> Option<Listed> {
    let pid = process.file_name()?.to_str()?.parse().ok()?;
    let stat = fs_err::read(process.join("stat")).ok()?;
    let end = stat.iter().rposition(|byte| *byte == b')')?;
    let rest = std::str::from_utf8(&stat[end + 1..]).ok()?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    Some(Listed {
        pid,
        parent: fields.get(1)?.parse().ok()?,
        started: fields.get(19)?.parse().ok()?,
    })
}

#[cfg(test)]
mod tests;
