//! Plays the CUDA driver and a program that uses it, for tests: each argument is one act, done in order.
//!
//! It maps the fake CUPTI, loads the library named in `CUDA_INJECTION64_PATH` as the driver does, and
//! launches. `acts.rs` lists the acts.

#![expect(clippy::print_stdout, reason = "a program for tests")]

mod acts;
mod ffi;

use std::process::ExitCode;

fn main() -> ExitCode {
    kernrec_fake_host::run(acts::perform)
}
