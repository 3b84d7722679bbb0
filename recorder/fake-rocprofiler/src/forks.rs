//! Forking: the child keeps everything but the threads, records that were not delivered included.
#![expect(unsafe_code, reason = "registers C handlers")]

use std::cell::RefCell;
use std::sync::MutexGuard;

use crate::state::{State, state};
use crate::{buffers, knobs};

/// Every lock of this library.
struct Locks {
    state: MutexGuard<'static, State>,
    threads: buffers::Threads,
    knobs: knobs::Values,
}

thread_local! {
    /// Held across `fork` by the thread that forks, so that the child finds everything whole.
    static HELD: RefCell<Option<Locks>> = const { RefCell::new(None) };
}

/// Registers the handlers.
pub(crate) fn watch() {
    // SAFETY: three functions without arguments.
    unsafe { libc::pthread_atfork(Some(prepare), Some(parent), Some(child)) };
}

/// Takes the locks in the order in which they are taken everywhere.
unsafe extern "C" fn prepare() {
    let locks = Locks {
        state: state(),
        threads: buffers::threads(),
        knobs: knobs::values(),
    };
    HELD.with(|held| *held.borrow_mut() = Some(locks));
}

unsafe extern "C" fn parent() {
    HELD.with(|held| drop(held.borrow_mut().take()));
}

unsafe extern "C" fn child() {
    let Some(mut locks) = HELD.with(|held| held.borrow_mut().take()) else {
        return;
    };
    // A child has none of its parent's threads; they are made again when they are needed.
    std::mem::forget(std::mem::take(&mut *locks.threads));
    drop(locks.threads);
    drop(locks.knobs);
    let hangs = u32::from(knobs::is_set("child-hangs"));
    for buffer in &mut locks.state.buffers {
        // What was with the thread went with it.
        buffer.on_the_way = hangs;
    }
}
