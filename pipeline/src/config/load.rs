//! From text to a checked configuration.

use super::file::{BackendConfig, Collect, Config, PythonConfig};
use super::release::Release;
use super::rule::{Rule, is_step_key};
use kernrec_schemas::{Backend, Digest};
use serde::Deserialize as _;
use std::collections::{BTreeMap, BTreeSet};
use toml::{Table, Value};

/// Why a configuration is refused.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// It is no TOML, or has a name or a type that is not known.
    #[error("{problem}")]
    Unreadable {
        /// What the parser says, with the place.
        problem: String,
    },
    /// A value cannot be.
    #[error("`{name}` is `{value}`, expected {expected}")]
    Value {
        /// The value's name.
        name: &'static str,
        /// What it is.
        value: String,
        /// What it can be.
        expected: &'static str,
    },
}

impl Config {
    /// The defaults, as they would stand in a file.
    pub const DEFAULTS: &str = include_str!("defaults.toml");

    /// The names, rules and texts that need no file.
    pub fn built_in() -> Self {
        // A test reads them.
        Self::parse("").unwrap_or_else(|error| unreachable!("built-in defaults: {error}"))
    }

    /// What a file says, over the defaults: tables are joined, everything else replaces.
    ///
    /// # Errors
    /// What cannot be read or cannot be meant is refused.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        let mut table = table(Self::DEFAULTS)?;
        join(&mut table, self::table(text)?);
        let config = Self::deserialize(Value::Table(table)).map_err(unreadable)?;
        config.check()?;
        Ok(config)
    }

    fn check(&self) -> Result<(), ConfigError> {
        for backend in [&self.cuda, &self.rocm] {
            backend.check()?;
        }
        self.python.check(&self.never)?;
        let mut collectors = BTreeSet::new();
        for backend in Backend::ALL {
            let (collector, image_builds) = self.collector(backend);
            step_key("collector", collector)?;
            if !collectors.insert(collector) {
                let expected = "another for each backend";
                return Err(refused("collector", collector.to_owned(), expected));
            }
            for build in image_builds {
                step_key("image-builds", build)?;
            }
        }
        for name in &self.identity {
            variable_name("identity", name)?;
        }
        one_word("mount", &self.mount)?;
        self.collect.check()?;
        match &self.release {
            Some(release) => release.check(),
            None => Ok(()),
        }
    }
}

impl BackendConfig {
    fn check(&self) -> Result<(), ConfigError> {
        variable_name("switch", &self.switch)?;
        variable_name("map-variable", &self.map_variable)?;
        if !self.commands_variable.is_empty() {
            variable_name("commands-variable", &self.commands_variable)?;
        }
        if !self.mention.is_empty() {
            one_word("mention", &self.mention)?;
        }
        timeout_factor(self.timeout_factor)
    }
}

impl PythonConfig {
    fn check(&self, rules: &BTreeMap<String, Rule>) -> Result<(), ConfigError> {
        variable_name("python.switch", &self.switch)?;
        for name in &self.never {
            if !rules.contains_key(name) {
                let expected = "the name of a table of `never`";
                return Err(refused("python.never", name.clone(), expected));
            }
        }
        for root in &self.roots {
            variable_name("python.roots", root)?;
        }
        if !self.checkout.is_empty() {
            one_word("python.checkout", &self.checkout)?;
        }
        timeout_factor(self.timeout_factor)
    }
}

impl Collect {
    fn check(&self) -> Result<(), ConfigError> {
        if let Some(store) = &self.store {
            one_word("collect.store", store)?;
        }
        one_word("collect.pipeline", &self.pipeline)?;
        for (name, value) in [
            ("collect.only-branch", &self.only_branch),
            ("collect.queue", &self.queue),
            ("collect.queue-elsewhere", &self.queue_elsewhere),
        ] {
            if !value.is_empty() {
                one_word(name, value)?;
            }
        }
        for argument in &self.arguments {
            one_word("collect.arguments", argument)?;
        }
        if self.group.is_empty() || self.group.contains(['$', '\\']) {
            let expected = "a name without `$` and backslash";
            return Err(refused("collect.group", self.group.clone(), expected));
        }
        if self.deadline_minutes == 0 {
            let expected = "at least 1";
            return Err(refused(
                "collect.deadline-minutes",
                "0".to_owned(),
                expected,
            ));
        }
        if self.timeout_minutes <= self.deadline_minutes {
            let expected = "more than `deadline-minutes`";
            let value = self.timeout_minutes.to_string();
            return Err(refused("collect.timeout-minutes", value, expected));
        }
        Ok(())
    }
}

impl Release {
    fn check(&self) -> Result<(), ConfigError> {
        let sha256 = &self.sha256;
        let is_hex = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
        if sha256.len() != 64 || !sha256.bytes().all(is_hex) {
            let expected = "64 hex digits in lower case";
            return Err(refused("release.sha256", sha256.clone(), expected));
        }
        one_word("release.cache", &self.cache)?;
        match (&self.url, &self.store, &self.digest) {
            (Some(url), None, None) => one_word("release.url", url),
            (None, Some(store), Some(digest)) => {
                one_word("release.store", store)?;
                if digest.parse::<Digest>().is_err() {
                    let expected = "`b3:` and 64 hex digits";
                    return Err(refused("release.digest", digest.clone(), expected));
                }
                Ok(())
            }
            _ => Err(refused(
                "release",
                "incomplete or ambiguous".to_owned(),
                "either `url`, or `store` and `digest`",
            )),
        }
    }
}

/// A text that stands in single quotes in a shell, and in a pipeline whose upload replaces `$NAME`.
fn one_word(name: &'static str, value: &str) -> Result<(), ConfigError> {
    let is_safe = |b: u8| b.is_ascii_graphic() && !b"'\"$\\`".contains(&b);
    if value.is_empty() || !value.bytes().all(is_safe) {
        let expected = "visible characters other than quotes, `$`, backslash and backquote";
        return Err(refused(name, value.to_owned(), expected));
    }
    Ok(())
}

fn step_key(name: &'static str, value: &str) -> Result<(), ConfigError> {
    if is_step_key(value) {
        return Ok(());
    }
    let expected = "letters, digits, `_`, `-`, `:` and `.`";
    Err(refused(name, value.to_owned(), expected))
}

fn timeout_factor(factor: f64) -> Result<(), ConfigError> {
    if (1.0..=100.0).contains(&factor) {
        return Ok(());
    }
    let expected = "a number from 1 to 100";
    Err(refused("timeout-factor", factor.to_string(), expected))
}

fn variable_name(name: &'static str, value: &str) -> Result<(), ConfigError> {
    let is_name = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    if value.is_empty() || value.as_bytes()[0].is_ascii_digit() || !value.bytes().all(is_name) {
        return Err(refused(
            name,
            value.to_owned(),
            "a name of letters, digits and `_`",
        ));
    }
    Ok(())
}

const fn refused(name: &'static str, value: String, expected: &'static str) -> ConfigError {
    ConfigError::Value {
        name,
        value,
        expected,
    }
}

fn table(text: &str) -> Result<Table, ConfigError> {
    text.parse().map_err(unreadable)
}

#[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
fn unreadable(error: toml::de::Error) -> ConfigError {
    ConfigError::Unreadable {
        problem: error.to_string().trim_end().to_owned(),
    }
}

fn join(base: &mut Table, over: Table) {
    for (name, value) in over {
        match (base.get_mut(&name), value) {
            (Some(Value::Table(base)), Value::Table(over)) => join(base, over),
            (_, value) => {
                base.insert(name, value);
            }
        }
    }
}
