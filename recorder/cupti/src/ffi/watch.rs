//! The meeting with the forwarders.

use std::ffi::c_void;
use std::mem;

use kernrec_cupti_watch::{ATTACH_SYMBOL, Attach, BEFORE, EXITING, Event, PROTOCOL, REFUSED};

use crate::recorder;

/// Asks the preloaded forwarders to report to us. `None` where there are none, else a bit per event that
/// happened before.
pub(crate) fn attach() -> Option<u64> {
    // SAFETY: a valid string; the global scope is where preloaded libraries are.
    let symbol = unsafe { libc::dlsym(libc::RTLD_DEFAULT, ATTACH_SYMBOL.as_ptr()) };
    if symbol.is_null() {
        return None;
    }
    // SAFETY: the forwarders export this symbol with this type, and `hook` is never unmapped.
    let seen = unsafe { mem::transmute::<*mut c_void, Attach>(symbol)(PROTOCOL, hook) };
    (seen != REFUSED).then_some(seen)
}

unsafe extern "C" fn hook(event: u32, phase: u32, status: i32) {
    recorder::guarded(|| {
        if event == EXITING {
            recorder::finish_before_exit();
        } else if let Some(event) = Event::from_number(event) {
            if phase == BEFORE {
                recorder::before(event);
            } else {
                recorder::after(event, status);
            }
        }
    });
}
