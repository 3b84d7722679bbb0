//! The Python recorder in real processes of real Pythons.
//!
//! Each test runs with every supported Python, reads what was left with the product's reader, and where the
//! program's output is its own compares it with the same program unrecorded.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bench;
mod pythons;
mod tree;

mod clashes;
mod compilers;
mod disks;
mod docs;
mod endings;
mod installations;
mod interpreters;
mod processes;
mod pytest;
mod starts;
mod suite;
