//! What publishing promises, tested through its public API.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod audit;
mod collect;
mod fold_attempts;
mod fold_properties;
mod fold_rules;
mod gates;
mod ggml_h200;
mod ordering;
mod publish;
mod python;
mod python_publishing;
mod races;
mod refold;
#[path = "../../../store/tests/support/seaweed.rs"]
mod seaweed;
mod signing;
mod support;
mod times;
mod upstream;
mod upstream_races;
mod upstream_reader;
