//! Kills and races with the real programs: whatever is killed when, a record is there whole or not at all.
//!
//! Kills are exact: strace delivers SIGKILL on entry to the n-th write, sync, rename, link or unlink. Its
//! counters are per thread and per call, so work that a program does in parallel is killed by watching the trace instead,
//! with every traced call slowed down so that the kill falls between two of them.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

mod inputs;
mod kill;
mod killed_fetch;
mod killed_gc;
mod killed_publish;
mod race;
mod state;
