//! Signals to processes and waiting for them to stop.
#![expect(
    unsafe_code,
    reason = "the standard library has no words for these calls"
)]

use std::io;

pub(crate) const CONT: i32 = libc::SIGCONT;
pub(crate) const KILL: i32 = libc::SIGKILL;
pub(crate) const TERM: i32 = libc::SIGTERM;
pub(crate) const USR2: i32 = libc::SIGUSR2;
pub(crate) const WINCH: i32 = libc::SIGWINCH;

/// To a process, or with a negative number to a group.
pub(crate) fn send(pid: i32, signal: i32) {
    // SAFETY: numbers only.
    let sent = unsafe { libc::kill(pid, signal) };
    assert_eq!(sent, 0, "{}", io::Error::last_os_error());
}

/// The process group of a process.
pub(crate) fn group_of(pid: i32) -> i32 {
    // SAFETY: numbers only.
    unsafe { libc::getpgid(pid) }
}

/// Waits until a child of ours stops, and says by which signal.
pub(crate) fn wait_for_stop(pid: i32) -> i32 {
    let mut status = 0;
    // SAFETY: a live integer.
    let found = unsafe { libc::waitpid(pid, &raw mut status, libc::WUNTRACED) };
    assert_eq!(found, pid, "{}", io::Error::last_os_error());
    assert!(libc::WIFSTOPPED(status), "status {status:#x}");
    libc::WSTOPSIG(status)
}

/// Limits the files that this process and what it becomes may write; for `pre_exec`.
pub(crate) fn limit_file_size(bytes: u64) -> io::Result<()> {
    let limit = libc::rlimit {
        rlim_cur: bytes,
        rlim_max: bytes,
    };
    // SAFETY: a live record.
    match unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &raw const limit) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Lets this process and what it becomes leave core files as large as may be; for `pre_exec`.
pub(crate) fn allow_core_files() -> io::Result<()> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: a live record.
    let is_set = unsafe {
        libc::getrlimit(libc::RLIMIT_CORE, &raw mut limit) == 0 && {
            limit.rlim_cur = limit.rlim_max;
            libc::setrlimit(libc::RLIMIT_CORE, &raw const limit) == 0
        }
    };
    if is_set {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Has a command run something between fork and exec.
pub(crate) fn before_exec(
    command: &mut std::process::Command,
    act: impl FnMut() -> io::Result<()> + Send + Sync + 'static,
) {
    use std::os::unix::process::CommandExt as _;
    // SAFETY: the tests' closures make system calls only.
    unsafe { command.pre_exec(act) };
}
