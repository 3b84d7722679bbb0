//! Buildkite, through the program `buildkite-agent`.

mod agent;
mod announce;
mod gather;
mod listing;
mod raw;
mod state;

pub use agent::Buildkite;
