//! Plays the HIP runtime and a program that uses it, for tests: each argument is one act, done in order.
//!
//! `init` finds the SDK as the runtime's registration library does. Without one the program works all the
//! same: its kernels run unseen. `acts.rs` lists the acts.

#![expect(clippy::print_stdout, reason = "a program for tests")]

mod acts;
mod ffi;

use std::process::ExitCode;

fn main() -> ExitCode {
    kernrec_fake_host::run(acts::perform)
}
