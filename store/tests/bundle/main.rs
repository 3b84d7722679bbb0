//! Bundles from outside: packed, found, read back, and attacked.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;
mod damage;
mod finding;
mod hostile;
mod hostile_frame;
mod packing;
mod properties;
mod python;
mod real;
