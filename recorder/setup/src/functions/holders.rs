//! Who still needs a job's own copy of the recorder.
//!
//! A set-up that was killed leaves its copy behind, and the next one takes it away: only where everyone who could need
//! it is known to be gone.

use crate::options::Purpose;
use crate::processes::{self, Listed};
use crate::session::SESSION;
use kernrec_schemas::json::MAX_SMALL_BYTES;
use kernrec_store::fsio;
use serde::{Deserialize, Serialize};
use std::io::Read as _;
use std::path::Path;

const PROC: &str = "/proc";

/// Processes that live as long as a copy is needed, and the machine and process table that they are of.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Holders {
    boot: String,
    table: String,
    processes: Vec<Holder>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Holder {
    pid: libc::pid_t,
    started: u64,
}

impl Holders {
    /// Those of this set-up: this process where it runs the command. A shell that takes the variables is this
    /// process's parent, or the one above where its output goes through a pipe.
    pub(super) fn of(purpose: Purpose<'_>) -> Self {
        let known = |pid: u32| processes::listed(&Path::new(PROC).join(pid.to_string()));
        let own = known(std::process::id());
        let above = |below: Option<Listed>| known(u32::try_from(below?.parent).ok()?);
        let parent = above(own);
        let holders = match purpose {
            Purpose::Command(_) => vec![own],
            // The first process of all never ends.
            Purpose::Shell => vec![parent, above(parent).filter(|it| it.pid != 1)],
        };
        let holders = holders.into_iter().flatten().map(|it| Holder {
            pid: it.pid,
            started: it.started,
        });
        Self {
            boot: boot(),
            table: table(),
            processes: holders.collect(),
        }
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        kernrec_schemas::json::canonical(self)
    }

    /// What a file says; `None` where there is none, or none that can be read.
    pub(super) fn read(path: &Path) -> Option<Self> {
        let mut bytes = Vec::new();
        let file = fsio::open_regular(path).ok()?;
        file.take(MAX_SMALL_BYTES).read_to_end(&mut bytes).ok()?;
        serde_json::from_slice(&bytes).ok()
    }

    /// Whether all of them are gone, and every process of their session. What cannot be told is not so.
    pub(super) fn are_gone(&self, session: &str) -> bool {
        if self.boot.is_empty() || self.processes.is_empty() {
            return false;
        }
        if self.boot != boot() {
            return true;
        }
        if self.table.is_empty() || self.table != table() {
            return false;
        }
        let proc = Path::new(PROC);
        let lives = |holder: &Holder| {
            let found = processes::listed(&proc.join(holder.pid.to_string()));
            found.is_some_and(|found| found.started == holder.started)
        };
        !self.processes.iter().any(lives) && !has_members(proc, session)
    }
}

/// Whether a process has the session's variable. Those of other users do not show it.
fn has_members(proc: &Path, session: &str) -> bool {
    let sign = format!("{SESSION}={session}:");
    let has_it = |process: Listed| {
        let environment = fs_err::read(proc.join(process.pid.to_string()).join("environ"));
        environment.is_ok_and(|bytes| {
            let mut variables = bytes.split(|byte| *byte == 0);
            variables.any(|variable| variable.starts_with(sign.as_bytes()))
        })
    };
    processes::all(proc).into_iter().any(has_it)
}

/// The machine's current run.
fn boot() -> String {
    let id = fs_err::read_to_string("/proc/sys/kernel/random/boot_id");
    id.map(|id| id.trim().to_owned()).unwrap_or_default()
}

/// The process table that ids are of: that of a container is another.
fn table() -> String {
    let table = fs_err::read_link("/proc/self/ns/pid");
    table
        .map(|table| table.display().to_string())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_lives_holds() {
        let own = Holders::of(Purpose::Command(&[]));
        assert!(!own.are_gone("0123456789abcdef"));
        assert!(!Holders::of(Purpose::Shell).are_gone("0123456789abcdef"));
        let started_later = Holder {
            started: own.processes[0].started + 1,
            ..own.processes[0]
        };
        let gone = Holders {
            processes: vec![started_later],
            ..Holders::of(Purpose::Shell)
        };
        assert!(gone.are_gone("0123456789abcdef"));
    }

    #[test]
    fn what_cannot_be_told_holds_and_another_run_of_the_machine_does_not() {
        let own = || Holders::of(Purpose::Command(&[]));
        let other_table = Holders {
            table: "pid:[1]".to_owned(),
            processes: vec![Holder { pid: 0, started: 0 }],
            ..own()
        };
        assert!(!other_table.are_gone("0123456789abcdef"));
        let nobody = Holders {
            processes: Vec::new(),
            ..own()
        };
        assert!(!nobody.are_gone("0123456789abcdef"));
        let other_boot = Holders {
            boot: "other".to_owned(),
            ..own()
        };
        assert!(other_boot.are_gone("0123456789abcdef"));
    }

    #[test]
    fn they_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("holders");
        assert_eq!(Holders::read(&path), None);
        let own = Holders::of(Purpose::Shell);
        fs_err::write(&path, own.to_bytes()).unwrap();
        assert_eq!(Holders::read(&path), Some(own));
    }
}
