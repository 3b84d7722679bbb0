//! Starting a command so that it finds everything as we did.

use super::signals::Held;
use super::start;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

/// Starts a command in our place: our environment, descriptors, folder, process group, and the signals as
/// they were before we held them. Returns its process id.
///
/// If this process is killed the command is too, as it would be without us.
pub(crate) fn spawn(command: &[OsString], held: &Held) -> io::Result<libc::pid_t> {
    let (program, arguments) = command
        .split_first()
        .ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
    let held = *held;
    let mut command = Command::new(program);
    command.args(arguments);
    // SAFETY: the closure runs between fork and exec; it makes system calls only.
    unsafe {
        command.pre_exec(move || {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            for descriptor in (0..3_u8).filter(|number| start::was_closed(*number)) {
                libc::close(i32::from(descriptor));
            }
            held.give_back();
            Ok(())
        });
    }
    let child = command.spawn()?;
    libc::pid_t::try_from(child.id()).map_err(io::Error::other)
}

/// Sets or removes a variable of this process, which the command inherits: in place, so that nothing else
/// of the environment changes, not even its order.
///
/// To be called while the process has one thread.
pub(crate) fn set_variable(name: &str, value: Option<&OsStr>) {
    // SAFETY: one thread, as the caller promises.
    unsafe {
        match value {
            Some(value) => std::env::set_var(name, value),
            None => std::env::remove_var(name),
        }
    }
}

/// How we stand to the command we started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Standing {
    /// We are in its process group.
    pub(crate) shares_group: bool,
    /// We lead the session: the terminal's hang-up reaches us alone.
    pub(crate) leads_session: bool,
}

/// Leaves the command's process group if that can be done: a signal to the whole group then reaches the
/// command once, and not a second time through us.
pub(crate) fn step_aside() -> Standing {
    // SAFETY: numbers only.
    unsafe {
        let own = libc::getpid();
        let leads_group = libc::getpgrp() == own;
        let left = !leads_group && libc::setpgid(0, 0) == 0;
        Standing {
            shares_group: !left,
            leads_session: libc::getsid(0) == own,
        }
    }
}
