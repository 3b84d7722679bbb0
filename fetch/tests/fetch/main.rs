//! Fetching from a local store into a local folder: what a user of the fetcher may rely on.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod acceptance;
mod choice;
mod concurrency;
mod corruption;
mod healing;
mod hostile;
mod installing;
mod offline;
mod python;
mod signing;
mod support;
mod twins;
mod upstream;
