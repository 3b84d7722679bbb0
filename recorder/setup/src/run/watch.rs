//! Counting processes that use the GPU and cannot be recorded.
//!
//! A program may start another with an environment of its own making (`env -i`, `sudo`) or a root of its own, in which
//! the GPU's driver finds no recorder, or the recorder not where to write. Its kernels are missing, and nothing in the
//! recordings shows it. So the processes below the command are looked at now and then, and those that `judge` finds
//! unrecorded are counted. That is a lower bound: one that lives for less than a period, or that belongs to another
//! user, is not seen.

mod judge;

pub(crate) use self::judge::Watched;
use self::judge::{Verdict, judge};
use crate::processes;
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

/// Between two looks. One look reads a small file for each process of the machine, and of each below
/// the command one more.
const PERIOD: Duration = Duration::from_secs(1);

/// A thread that looks.
pub(super) struct Watch {
    thread: Option<(Sender<()>, JoinHandle<u64>)>,
}

impl Watch {
    /// Looks at what is below `root`, if any of it is to be recorded.
    pub(super) fn start(root: libc::pid_t, watched: Option<Watched>) -> Self {
        let Some(watched) = watched else {
            return Self { thread: None };
        };
        let (stop, stopped) = mpsc::channel();
        let look = move || {
            let mut seen = Seen::below(root, watched);
            while stopped.recv_timeout(PERIOD) == Err(RecvTimeoutError::Timeout) {
                seen.look(Path::new("/proc"));
            }
            seen.unrecorded.len() as u64
        };
        let thread = std::thread::Builder::new()
            .name("watch".to_owned())
            .spawn(look);
        Self {
            thread: thread.ok().map(|thread| (stop, thread)),
        }
    }

    /// How many processes ran without a recorder, as far as was seen.
    pub(super) fn stop(self) -> u64 {
        match self.thread {
            Some((stop, thread)) => {
                drop(stop);
                thread.join().unwrap_or(0)
            }
            None => 0,
        }
    }
}

/// A process: its id and the time it started, since ids are used again.
type Process = (libc::pid_t, u64);

/// What has been seen so far.
struct Seen {
    root: libc::pid_t,
    watched: Watched,
    /// Those below the command. One whose parent ended stays among them.
    below: HashSet<Process>,
    unrecorded: HashSet<Process>,
}

impl Seen {
    fn below(root: libc::pid_t, watched: Watched) -> Self {
        Self {
            root,
            watched,
            below: HashSet::new(),
            unrecorded: HashSet::new(),
        }
    }

    fn look(&mut self, proc: &Path) {
        let processes = processes::all(proc);
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
            // A recorded one is looked at again: it may become another program, with another environment.
            if self.below.contains(&key)
                && !self.unrecorded.contains(&key)
                && matches!(
                    judge(&proc.join(process.pid.to_string()), &self.watched),
                    Verdict::Unrecorded
                )
            {
                self.unrecorded.insert(key);
            }
        }
    }
}

#[cfg(test)]
mod tests;
