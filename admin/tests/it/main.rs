//! A store looked after: healthy, damaged, lying, and busy.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

mod artifact;
mod check;
mod fsck;
mod gc;
mod hostile;
mod lying;
mod race;
mod requests;
mod rollback;
mod s3;
#[path = "../../../store/tests/support/seaweed.rs"]
mod seaweed;
mod signing;
mod support;
mod web;
mod wrapped;
