//! What this process was started with, seen before the language's own start-up changes it.
//!
//! Rust ignores `SIGPIPE` and opens `/dev/null` in the place of standard descriptors that are closed. A
//! command that we start must get what we got.

use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

static PIPE_IGNORED: AtomicBool = AtomicBool::new(false);
static CLOSED: AtomicU8 = AtomicU8::new(0);

/// Runs before `main`, and before the language's start-up.
#[used]
#[unsafe(link_section = ".init_array")]
static LOOK: extern "C" fn() = look;

extern "C" fn look() {
    // SAFETY: a live record; asks only.
    unsafe {
        let mut action = std::mem::zeroed::<libc::sigaction>();
        if libc::sigaction(libc::SIGPIPE, ptr::null(), &raw mut action) == 0 {
            PIPE_IGNORED.store(action.sa_sigaction == libc::SIG_IGN, Ordering::Relaxed);
        }
        for descriptor in 0..3_u8 {
            if libc::fcntl(i32::from(descriptor), libc::F_GETFD) == -1 {
                CLOSED.fetch_or(1 << descriptor, Ordering::Relaxed);
            }
        }
    }
}

/// Whether `SIGPIPE` was ignored.
pub(super) fn pipe_was_ignored() -> bool {
    PIPE_IGNORED.load(Ordering::Relaxed)
}

/// Which of the standard descriptors were closed.
pub(super) fn was_closed(descriptor: u8) -> bool {
    CLOSED.load(Ordering::Relaxed) & (1 << descriptor) != 0
}
