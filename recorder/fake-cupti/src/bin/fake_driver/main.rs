//! Plays the CUDA driver and a program that uses it, for tests: each argument is one act, done in order.
//!
//! It maps the fake CUPTI, loads the library named in `CUDA_INJECTION64_PATH` as the driver does, and
//! launches. `acts.rs` lists the acts.

#![expect(
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "a program for tests"
)]

mod acts;
mod ffi;

use std::process::ExitCode;

fn main() -> ExitCode {
    for argument in std::env::args().skip(1) {
        if let Err(error) = acts::perform(&argument) {
            eprintln!("fake-driver: `{argument}`: {error}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
