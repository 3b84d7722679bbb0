//! What the programs of the recorders' tests have in common: each argument is one act, done in order.
//!
//! [`run`] performs the acts that have nothing to do with a GPU (ways to fork, to end, to run out of
//! something) and gives the others to the program; [`Left`] is what a run left
//! behind.
#![warn(missing_docs)]

mod acts;
mod ffi;
mod left;

pub use acts::{number, run, times, variable};
pub use ffi::{Library, exit_at_once, fork, limit_file_size};
pub use left::{Left, assert_success, build_faults, built_library, compile};
