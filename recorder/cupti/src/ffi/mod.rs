//! Everything unsafe: the C entry points, CUPTI's functions and records, the loader, memory.
#![expect(
    unsafe_code,
    reason = "an injection library is C on both sides; each block says why it holds"
)]

mod atexit;
mod entry;
pub(crate) mod library;
pub(crate) mod mapped;
pub(crate) mod memory;
pub(crate) mod probe;
pub(crate) mod records;
pub(crate) mod thread;
pub(crate) mod watch;

pub(crate) use atexit::register as at_exit;
