//! Forking: the child keeps everything but the threads, records that were not delivered included.
#![expect(unsafe_code, reason = "registers C handlers")]

use std::cell::RefCell;
use std::sync::MutexGuard;

use crate::state::{State, state};
use crate::{buffers, knobs};

thread_local! {
    /// The lock, held across `fork` by the thread that forks, so that the child finds it whole.
    static HELD: RefCell<Option<MutexGuard<'static, State>>> = const { RefCell::new(None) };
}

/// Registers the handlers.
pub(crate) fn watch() {
    // SAFETY: three functions without arguments.
    unsafe { libc::pthread_atfork(Some(prepare), Some(parent), Some(child)) };
}

unsafe extern "C" fn prepare() {
    HELD.with(|held| *held.borrow_mut() = Some(state()));
}

unsafe extern "C" fn parent() {
    HELD.with(|held| drop(held.borrow_mut().take()));
}

unsafe extern "C" fn child() {
    HELD.with(|held| {
        if let Some(mut state) = held.borrow_mut().take() {
            for buffer in &mut state.buffers {
                // What was with the thread went with it.
                buffer.on_the_way = u32::from(knobs::is_set("child-hangs"));
            }
        }
    });
    buffers::forget_threads();
}
