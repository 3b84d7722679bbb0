//! Standing between whoever started us and the command, unnoticed by both.

use crate::ffi::process::Standing;
use crate::ffi::signals::{self, Arrived, Change, Held};

/// How the command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct End {
    /// The status to exit with.
    pub(super) status: u8,
    /// An interrupt ended it.
    pub(super) was_interrupted: bool,
}

impl End {
    pub(super) fn with(status: u8) -> Self {
        Self {
            status,
            was_interrupted: false,
        }
    }
}

/// Waits for the command to end, passing on what is sent to us.
pub(super) fn until_the_end(pid: libc::pid_t, held: &Held, standing: Standing) -> End {
    loop {
        match signals::change_of(pid) {
            Ok(Change::Exited(status)) => {
                return End::with(u8::try_from(status).unwrap_or(u8::MAX));
            }
            Ok(Change::Killed(signal)) => return killed(signal),
            Ok(Change::Stopped(signal)) => stop_too(standing, signal),
            Ok(Change::None) => {
                let arrived = held.take();
                if must_pass_on(arrived, standing) {
                    signals::send(pid, arrived);
                }
            }
            // Nobody else waits for our child, and nothing can be said about it any more.
            Err(_) => return End::with(u8::MAX),
        }
    }
}

/// 128 and the signal's number, as shells have it.
fn killed(signal: i32) -> End {
    End {
        status: u8::try_from(signal).map_or(u8::MAX, |signal| signal.saturating_add(128)),
        was_interrupted: signal == libc::SIGINT,
    }
}

/// Whoever waits for us sees the stop. Not outside the command's process group: there nobody would continue
/// us when the group is.
fn stop_too(standing: Standing, signal: i32) {
    if standing.shares_group {
        Held::stop_by(signal);
    }
}

/// What the terminal sends goes to the command's whole group and has reached the command, except the hang-up
/// to the session's leader, who would be the command if we were not there.
fn must_pass_on(arrived: Arrived, standing: Standing) -> bool {
    match arrived.signal {
        libc::SIGCHLD => false,
        libc::SIGHUP => arrived.is_sent || standing.leads_session,
        _ => arrived.is_sent,
    }
}
