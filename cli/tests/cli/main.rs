//! The programs as a user meets them: one module per command, one test binary.
#![expect(clippy::unwrap_used, reason = "helpers of tests panic as the tests do")]

mod context;
mod diff;
mod documents;
mod shell;
mod show;
mod verify_files;
