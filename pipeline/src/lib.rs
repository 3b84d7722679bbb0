//! Arming a Buildkite pipeline: the steps that run on GPUs get a set-up before and a finish after their own
//! commands, so that they leave recordings; image builds leave the symbol map; a step for each backend collects.
//!
//! 1. [`Config`]: names, rules and shell texts, from `kernrec.toml` over built-in defaults.
//! 2. [`arm`]: pipeline in, armed pipeline out, and for every step what was decided and why ([`StepReport`]), and for
//!    every collector what it waits for ([`CollectorReport`]).
//!
//! The pipeline is changed as text: what no step needed changed keeps every byte, in YAML and in JSON. Nothing
//! here reads files, the environment or a terminal.
#![warn(missing_docs)]

mod arm;
mod config;
mod error;
mod yaml;

pub use arm::{Armed, COLLECTOR_WORDS, CollectorReport, Fate, MAX_BYTES, StepReport, WORDS, arm};
pub use config::{Config, ConfigError, Release, Switches};
pub use error::PipelineError;

pub(crate) use yaml::place as yaml_place;
