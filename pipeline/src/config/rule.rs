//! Rules: patterns over what is known of a step.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use serde::Deserialize;

/// What rules see of a step.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    pub(crate) key: Vec<String>,
    pub(crate) label: Vec<String>,
    pub(crate) queue: Vec<String>,
    /// `name`, and `name.option=value` for every option.
    pub(crate) plugin: Vec<String>,
    /// `NAME=value`.
    pub(crate) env: Vec<String>,
    /// Everything the step runs, as one text.
    pub(crate) command: Vec<String>,
}

/// Whether a step's key can be written into a command and a row be filed under it.
pub(crate) fn is_step_key(key: &str) -> bool {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"_-:.".contains(&b);
    // One that begins with a hyphen would be taken for an option.
    !key.is_empty() && !key.starts_with('-') && key.bytes().all(is_plain)
}

/// It holds for a step if one of its patterns does.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Rule {
    key: Patterns,
    label: Patterns,
    queue: Patterns,
    plugin: Patterns,
    env: Patterns,
    command: Patterns,
}

/// Patterns with `*`, `?`, `[...]` and `{...}`, whatever the case of letters.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(try_from = "Vec<String>")]
struct Patterns {
    texts: Vec<String>,
    set: GlobSet,
}

impl Rule {
    /// The first pattern that holds, for people.
    pub(crate) fn holds(&self, facts: &Facts) -> Option<String> {
        let fields = [
            ("key", &self.key, &facts.key),
            ("label", &self.label, &facts.label),
            ("queue", &self.queue, &facts.queue),
            ("plugin", &self.plugin, &facts.plugin),
            ("env", &self.env, &facts.env),
            ("command", &self.command, &facts.command),
        ];
        fields.into_iter().find_map(|(name, patterns, values)| {
            let pattern = patterns.first(values)?;
            Some(format!("{name} matches {pattern}"))
        })
    }
}

impl Patterns {
    fn first(&self, values: &[String]) -> Option<&str> {
        values.iter().find_map(|value| {
            let found = self.set.matches(value).into_iter().min()?;
            self.texts.get(found).map(String::as_str)
        })
    }
}

impl TryFrom<Vec<String>> for Patterns {
    type Error = globset::Error;

    fn try_from(texts: Vec<String>) -> Result<Self, Self::Error> {
        let mut set = GlobSetBuilder::new();
        for text in &texts {
            set.add(GlobBuilder::new(text).case_insensitive(true).build()?);
        }
        let set = set.build()?;
        Ok(Self { texts, set })
    }
}
