//! Running a program until a chosen system call, and no further.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

/// Every call that changes what another process, or the next one, will find.
const CALLS: &str = "write,pwrite64,writev,fsync,fdatasync,rename,renameat,renameat2,link,linkat,symlink,\
                     symlinkat,unlink,unlinkat,rmdir,mkdir,mkdirat,ftruncate,chmod,fchmod,fchmodat,flock";

/// What a program calls when nothing disturbs it.
pub(crate) struct Calls {
    /// How often each call is made, by all threads together.
    by_name: BTreeMap<String, usize>,
}

impl Calls {
    pub(crate) fn all(&self) -> usize {
        self.by_name.values().sum()
    }

    /// Kills the program at the first call of each kind, at the second, and so on, by `attempt`, which says whether
    /// the kill met the program; gives the calls at which it did.
    ///
    /// strace counts the calls of each thread by itself, and how the work falls to the threads differs from run to
    /// run: the number at which a kill no longer meets the program is found, not counted beforehand.
    pub(crate) fn kill_at_each(
        &self,
        mut attempt: impl FnMut(&str, usize) -> bool,
    ) -> Vec<(String, usize)> {
        let mut met = Vec::new();
        for (name, &count) in &self.by_name {
            let before = met.len();
            met.extend(
                (1..=count)
                    .take_while(|&n| attempt(name, n))
                    .map(|n| (name.clone(), n)),
            );
            assert!(met.len() > before, "a kill at the first {name} meets");
        }
        met
    }
}

/// Runs the program to its end and counts its calls.
pub(crate) fn count(program: &Command, scratch: &Path) -> Calls {
    let trace = scratch.join("trace");
    let status = strace(program, &["-o", trace.to_str().unwrap()])
        .status()
        .expect("strace is installed");
    assert!(status.success(), "the undisturbed run succeeds: {status}");
    let mut by_name = BTreeMap::new();
    let text = fs_err::read_to_string(&trace).unwrap();
    for (_, name) in text.lines().filter_map(call) {
        *by_name.entry(name.to_owned()).or_default() += 1;
    }
    Calls { by_name }
}

/// Kills the program on entry to the n-th call of this name, of whichever thread gets there first; says whether
/// one did.
pub(crate) fn at_call(program: &Command, name: &str, n: usize) -> bool {
    let inject = format!("inject={name}:signal=KILL:when={n}");
    let status = strace(program, &["-e", &inject, "-o", "/dev/null"])
        .status()
        .unwrap();
    !status.success()
}

/// Kills the program when the trace of all its threads reaches its n-th call; says whether it got so far.
pub(crate) fn at_trace_line(program: &Command, n: usize, scratch: &Path) -> bool {
    let pipe = scratch.join(format!("pipe-{n}"));
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    let delay = format!("inject={CALLS}:delay_enter=2000");
    let mut child = strace(program, &["-e", &delay, "-o", pipe.to_str().unwrap()])
        .spawn()
        .unwrap();
    let lines = BufReader::new(fs_err::File::open(&pipe).unwrap()).lines();
    let mut seen = 0;
    for line in lines.map_while(Result::ok) {
        let Some((thread, _)) = call(&line) else {
            continue;
        };
        seen += 1;
        if seen == n {
            // A thread id names its whole process to kill(1).
            let _ = Command::new("kill")
                .args(["-9", thread])
                .stderr(Stdio::null())
                .status();
        }
    }
    let killed = !child.wait().unwrap().success();
    killed && seen >= n
}

fn strace(program: &Command, arguments: &[&str]) -> Command {
    let mut command = Command::new("strace");
    command
        .args([
            "-f",
            "-qq",
            "-e",
            &format!("trace={CALLS}"),
            "-e",
            "signal=none",
        ])
        .args(arguments)
        .arg("--")
        .arg(program.get_program())
        .args(program.get_args())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    for (name, value) in program.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command
}

/// The thread and the name of a line that starts a call: `PID name(…`, not `PID <... name resumed>`.
fn call(line: &str) -> Option<(&str, &str)> {
    let (thread, rest) = line.split_once(char::is_whitespace)?;
    let (name, _) = rest.trim_start().split_once('(')?;
    let is_name = name
        .bytes()
        .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    is_name.then_some((thread, name))
}
