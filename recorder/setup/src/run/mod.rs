//! Running one command, recorded if that can be done.

mod forward;
mod watch;

pub(crate) use watch::Watched;

use self::forward::End;
use crate::environment::Environment;
use crate::ffi::process;
use crate::ffi::signals::{self, Held};
use crate::options::{Options, Purpose};
use crate::reason::Unavailable;
use crate::session::Session;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

/// How the command ended, and what came of recording it.
#[derive(Debug)]
pub struct Ended {
    /// The status to exit with: the command's, 128 and the signal's number when one ended it, 127 when
    /// there is no such command, 126 when it cannot be run.
    pub status: u8,
    /// Why the command did not start.
    pub not_started: Option<io::Error>,
    /// The bundle, if one was packed.
    pub bundle: Option<PathBuf>,
    /// What went wrong at the end, for people.
    pub problems: Vec<String>,
    was_interrupted: bool,
}

impl Ended {
    /// Ends this process by an interrupt if one ended the command, as the last thing it does. A shell goes on
    /// with its script unless it sees that. Returns where there was none, or where it has no effect.
    pub fn end_alike(&self) {
        if self.was_interrupted {
            signals::interrupt_self();
        }
    }
}

/// Runs a command once. `tell` hears what stands in the way of recording before the command starts.
///
/// To be called by a process that has one thread and does nothing else: it changes the process's signals,
/// variables and group, and they stay so.
pub fn run(
    options: &Options,
    environment: &Environment,
    command: &[OsString],
    tell: &mut dyn FnMut(&str),
) -> Ended {
    let held = Held::new();
    let mut session = Session::begin(options, environment, Purpose::Command(command));
    session.problems().iter().for_each(|problem| tell(problem));
    let told = session.problems().to_vec();
    let (end, unrecorded, not_started) = match start(&mut session, environment, command, &held) {
        Ok(pid) => {
            // After the start: a signal to the group meanwhile reaches the command at least once.
            let standing = process::step_aside();
            let watch = watch::Watch::start(pid, session.watched());
            let end = forward::until_the_end(pid, &held, standing);
            (end, watch.stop(), None)
        }
        Err(error) => (End::with(status_of_failure(&error)), 0, Some(error)),
    };
    let mut problems = session.problems().to_vec();
    let finished = session.finish(i64::from(end.status), unrecorded);
    problems.extend(finished.problems);
    problems.retain(|problem| !told.contains(problem));
    Ended {
        status: end.status,
        not_started,
        bundle: finished.bundle,
        problems,
        was_interrupted: end.was_interrupted,
    }
}

/// Starts the command with the session's variables. They take room, which may be missing.
fn start(
    session: &mut Session,
    environment: &Environment,
    command: &[OsString],
    held: &Held,
) -> io::Result<libc::pid_t> {
    let variables = session.variables();
    for (name, value) in &variables {
        process::set_variable(name, Some(value));
    }
    match process::spawn(command, held) {
        Err(error) if error.raw_os_error() == Some(libc::E2BIG) && session.is_available() => {
            for (name, _) in &variables {
                process::set_variable(name, environment.original(name));
            }
            session.give_up_late(&Unavailable::EnvironmentTooLarge);
            process::spawn(command, held)
        }
        other => other,
    }
}

/// As shells have it.
fn status_of_failure(error: &io::Error) -> u8 {
    match error.kind() {
        io::ErrorKind::NotFound => 127,
        _ => 126,
    }
}
