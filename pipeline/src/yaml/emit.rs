//! New content as text.

use std::fmt::Write as _;

/// A value to put in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum New {
    Text(String),
    Number(u64),
    Flag(bool),
    List(Vec<New>),
    Map(Vec<(String, New)>),
}

impl New {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// In one line, as JSON, which YAML takes everywhere.
    pub(crate) fn flow(&self) -> String {
        match self {
            Self::Text(text) => quoted(text),
            Self::Number(number) => number.to_string(),
            Self::Flag(flag) => flag.to_string(),
            Self::List(items) => {
                let items: Vec<String> = items.iter().map(Self::flow).collect();
                format!("[{}]", items.join(", "))
            }
            Self::Map(entries) => {
                let entries: Vec<String> = entries
                    .iter()
                    .map(|(key, value)| format!("{}: {}", quoted(key), value.flow()))
                    .collect();
                format!("{{{}}}", entries.join(", "))
            }
        }
    }

    /// What follows `key:` or `-` at a column (from 0), in block style.
    pub(crate) fn block(&self, column: usize) -> String {
        match self {
            Self::Text(text) => match literal(text, column + 2) {
                Some(literal) => format!(" {literal}"),
                None => format!(" {}", scalar(text)),
            },
            Self::Number(_) | Self::Flag(_) => format!(" {}", self.flow()),
            Self::List(items) if items.is_empty() => " []".to_owned(),
            Self::Map(entries) if entries.is_empty() => " {}".to_owned(),
            Self::List(items) => items.iter().fold(String::new(), |mut lines, item| {
                let _ = write!(lines, "\n{:column$}  -{}", "", item.block_item(column + 2));
                lines
            }),
            Self::Map(entries) => {
                let margin = format!("\n{:column$}  ", "");
                margin.clone() + &block_entries(entries, column + 2).join(&margin)
            }
        }
    }

    /// What follows a dash at a column: a map begins on the dash's line.
    pub(crate) fn block_item(&self, column: usize) -> String {
        match self {
            Self::Map(entries) if !entries.is_empty() => {
                let margin = format!("\n{:column$}  ", "");
                format!(" {}", block_entries(entries, column + 2).join(&margin))
            }
            other => other.block(column),
        }
    }
}

/// A key in block style.
pub(super) fn key(name: &str) -> String {
    scalar(name)
}

fn block_entries(entries: &[(String, New)], column: usize) -> Vec<String> {
    entries
        .iter()
        .map(|(name, value)| format!("{}:{}", key(name), value.block(column)))
        .collect()
}

/// A text of several lines after `|`; `None` for one that must be quoted to come back as it is.
fn literal(text: &str, column: usize) -> Option<String> {
    let (body, chomping) = match text.strip_suffix('\n') {
        Some(body) => (body, ""),
        None => (text, "-"),
    };
    let is_plain =
        |c: char| c == '\n' || c == '\t' || (c >= ' ' && !('\u{7f}'..'\u{a0}').contains(&c));
    let fits = body.contains('\n')
        && !body.starts_with([' ', '\t', '\n'])
        && !body.ends_with('\n')
        && body
            .chars()
            .all(|c| is_plain(c) && !matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}'));
    if !fits {
        return None;
    }
    let mut literal = format!("|{chomping}");
    for line in body.split('\n') {
        literal.push('\n');
        if !line.is_empty() {
            let _ = write!(literal, "{:column$}{line}", "");
        }
    }
    Some(literal)
}

/// A text of one line, in quotes unless nobody could take it for anything else.
fn scalar(text: &str) -> String {
    let is_word = text
        .starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '/' | '.'))
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"_./*:+=@-".contains(&b))
        && !text.ends_with(':');
    let is_dotted = text.strip_prefix('.').is_some_and(|rest| {
        !rest.starts_with(|c: char| c == '/' || c.is_ascii_lowercase())
            || matches!(rest, "inf" | "nan")
    });
    let resolves = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    let is_other = resolves.iter().any(|word| text.eq_ignore_ascii_case(word));
    if is_word && !is_dotted && !is_other {
        text.to_owned()
    } else {
        quoted(text)
    }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
