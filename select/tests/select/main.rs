//! What `kernrec-select` promises, from the outside.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod attribution;
mod backends;
mod classes;
mod common;
mod diffs;
mod function_properties;
mod function_rules;
mod function_world;
mod ggml_h200;
mod installed;
mod lineage;
mod outputs;
mod properties;
mod reasons;
mod render;
mod steps;
mod world;
