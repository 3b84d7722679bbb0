//! The programs against servers that fail in every way there is, and against a real one.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

mod bucket;
mod economy;
mod expected;
mod http2;
#[path = "../crash/inputs.rs"]
mod inputs;
mod reading;
mod scene;
mod seaweed;
#[path = "../../../store/tests/support/seaweed.rs"]
mod server;
mod tls;
mod writing;
