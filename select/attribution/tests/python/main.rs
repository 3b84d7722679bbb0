//! Which functions an edit of a Python file reaches.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod edits;
mod hostile;
mod interpreter;
