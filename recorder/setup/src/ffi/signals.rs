//! Holding signals back, taking them one by one, and passing them on.

use std::io;
use std::mem::MaybeUninit;
use std::ptr;

/// Signals that are somebody's message to the workload, and not a fault of this process. `SIGKILL` and
/// `SIGSTOP` cannot be held.
const MESSAGES: [i32; 19] = [
    libc::SIGHUP,
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGABRT,
    libc::SIGUSR1,
    libc::SIGUSR2,
    libc::SIGALRM,
    libc::SIGTERM,
    libc::SIGCONT,
    libc::SIGTSTP,
    libc::SIGTTIN,
    libc::SIGTTOU,
    libc::SIGURG,
    libc::SIGXCPU,
    libc::SIGXFSZ,
    libc::SIGVTALRM,
    libc::SIGPROF,
    libc::SIGWINCH,
    libc::SIGIO,
];

/// A signal that arrived.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arrived {
    /// Which.
    pub(crate) signal: i32,
    /// Another process sent it: it did not come from the terminal, the kernel or ourselves.
    pub(crate) is_sent: bool,
    /// The value of a queued one.
    value: Option<usize>,
}

/// Signals held back until they are taken. Kept for the rest of the process: what arrives after the command
/// has ended would have met nobody.
#[derive(Clone, Copy)]
pub(crate) struct Held {
    set: libc::sigset_t,
    old_mask: libc::sigset_t,
    child_was_ignored: bool,
}

impl Held {
    /// Holds every message, and the news of children.
    pub(crate) fn new() -> Self {
        let mut set = MaybeUninit::uninit();
        let mut old_mask = MaybeUninit::uninit();
        // SAFETY: every pointer is to a live local that the call initialises, or to an initialised one.
        unsafe {
            libc::sigemptyset(set.as_mut_ptr());
            let mut set: libc::sigset_t = set.assume_init();
            for signal in MESSAGES
                .into_iter()
                .chain([libc::SIGCHLD])
                .chain(real_time())
            {
                libc::sigaddset(&raw mut set, signal);
            }
            libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, old_mask.as_mut_ptr());
            let old_mask = old_mask.assume_init();
            Self {
                set,
                old_mask,
                child_was_ignored: default_child_signal(),
            }
        }
    }

    /// Waits for the next one.
    pub(crate) fn take(&self) -> Arrived {
        let mut info = MaybeUninit::<libc::siginfo_t>::uninit();
        loop {
            // SAFETY: an initialised set and a live record, initialised when a signal number is returned.
            unsafe {
                let signal = libc::sigwaitinfo(&raw const self.set, info.as_mut_ptr());
                if signal > 0 {
                    let info = info.assume_init();
                    let is_queued = info.si_code == libc::SI_QUEUE;
                    // The kernel's signal for a write over the limit looks like one that we sent.
                    let is_own = info.si_pid() == libc::getpid();
                    return Arrived {
                        signal,
                        is_sent: info.si_code <= 0 && !is_own,
                        value: is_queued.then(|| info.si_value().sival_ptr as usize),
                    };
                }
            }
        }
    }

    /// In the child, before it becomes the command: the signals as they were.
    ///
    /// # Safety
    /// To be called between fork and exec only. Calls nothing but async-signal-safe functions.
    pub(super) unsafe fn give_back(&self) {
        // SAFETY: numbers, constants and an initialised mask.
        unsafe {
            if self.child_was_ignored {
                libc::signal(libc::SIGCHLD, libc::SIG_IGN);
            }
            let pipe = if super::start::pipe_was_ignored() {
                libc::SIG_IGN
            } else {
                libc::SIG_DFL
            };
            libc::signal(libc::SIGPIPE, pipe);
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.old_mask, ptr::null_mut());
        }
    }

    /// Stops this process as the signal would have, until somebody continues it. To be called while signals
    /// are held.
    pub(crate) fn stop_by(signal: i32) {
        let stop = match signal {
            libc::SIGTSTP | libc::SIGTTIN | libc::SIGTTOU => signal,
            _ => libc::SIGSTOP,
        };
        let mut one = MaybeUninit::uninit();
        // SAFETY: as in `new`. The signal's action is the default, so it stops the process or, in a group
        // that nobody controls, does nothing.
        unsafe {
            libc::sigemptyset(one.as_mut_ptr());
            let mut one: libc::sigset_t = one.assume_init();
            libc::sigaddset(&raw mut one, stop);
            libc::raise(stop);
            libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const one, ptr::null_mut());
            libc::pthread_sigmask(libc::SIG_BLOCK, &raw const one, ptr::null_mut());
        }
    }
}

/// Sends a signal on, with the value it carries.
pub(crate) fn send(pid: libc::pid_t, arrived: Arrived) {
    // SAFETY: numbers only; the value is passed through.
    unsafe {
        match arrived.value {
            Some(value) => {
                let value = libc::sigval {
                    sival_ptr: value as *mut libc::c_void,
                };
                libc::sigqueue(pid, arrived.signal, value);
            }
            None => {
                libc::kill(pid, arrived.signal);
            }
        }
    }
}

/// Ends this process as an interrupt does by default. Returns where that is not possible, as for the first
/// process of a container.
pub(crate) fn interrupt_self() {
    let mut one = MaybeUninit::uninit();
    // SAFETY: as in `Held::new`.
    unsafe {
        libc::sigemptyset(one.as_mut_ptr());
        let mut one: libc::sigset_t = one.assume_init();
        libc::sigaddset(&raw mut one, libc::SIGINT);
        libc::signal(libc::SIGINT, libc::SIG_DFL);
        libc::raise(libc::SIGINT);
        libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const one, ptr::null_mut());
    }
}

/// Keeps a write over the file size limit from ending this process: it fails instead.
pub(crate) fn hold_file_size_signal() {
    let mut set = MaybeUninit::uninit();
    // SAFETY: as in `Held::new`.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        let mut set: libc::sigset_t = set.assume_init();
        libc::sigaddset(&raw mut set, libc::SIGXFSZ);
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, ptr::null_mut());
    }
}

fn real_time() -> std::ops::RangeInclusive<i32> {
    libc::SIGRTMIN()..=libc::SIGRTMAX()
}

/// Where children are not to be waited for, their status would be lost: that is changed for us, and given
/// back to the command. Returns whether it was so.
fn default_child_signal() -> bool {
    // SAFETY: a live, zeroed record, which asks for the default action.
    unsafe {
        let mut old = std::mem::zeroed::<libc::sigaction>();
        let action = std::mem::zeroed::<libc::sigaction>();
        libc::sigaction(libc::SIGCHLD, &raw const action, &raw mut old) == 0
            && old.sa_sigaction == libc::SIG_IGN
    }
}

/// The number of a stop or end, from a wait status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    /// Nothing yet.
    None,
    /// It exited with this status.
    Exited(i32),
    /// This signal ended it.
    Killed(i32),
    /// This signal stopped it.
    Stopped(i32),
}

/// What became of a child, without waiting.
pub(crate) fn change_of(pid: libc::pid_t) -> io::Result<Change> {
    let mut status = 0;
    // SAFETY: a live integer.
    let found = unsafe { libc::waitpid(pid, &raw mut status, libc::WNOHANG | libc::WUNTRACED) };
    match found {
        0 => Ok(Change::None),
        -1 => Err(io::Error::last_os_error()),
        _ if libc::WIFEXITED(status) => Ok(Change::Exited(libc::WEXITSTATUS(status))),
        _ if libc::WIFSIGNALED(status) => Ok(Change::Killed(libc::WTERMSIG(status))),
        _ if libc::WIFSTOPPED(status) => Ok(Change::Stopped(libc::WSTOPSIG(status))),
        _ => Ok(Change::None),
    }
}
