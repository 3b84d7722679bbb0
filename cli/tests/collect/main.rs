//! `kernrec collect` against a scripted agent of Buildkite, a scripted API of GitHub, local stores and a real S3 server.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

mod arriving;
mod buildkite;
mod functions;
mod github;
#[path = "../crash/inputs.rs"]
#[allow(dead_code, reason = "not every test needs it")]
mod inputs;
mod killed;
mod maps;
mod seaweed;
#[path = "../../../store/tests/support/seaweed.rs"]
mod server;
mod waiting;
