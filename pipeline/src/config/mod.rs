//! `kernrec.toml`: names, rules and texts, each with a default that can be replaced.

mod file;
mod load;
mod release;
mod rule;

pub use file::{Config, Switches};
pub use load::ConfigError;
pub use release::Release;

pub(crate) use file::Collect;
pub(crate) use rule::{Facts, Rule, is_step_key};

#[cfg(test)]
mod tests;
