//! Make-style dependency files (`.d`), as gcc, clang and nvcc write them.

use crate::input::Fault;

/// Targets of the first rule, and what it depends on, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Depfile {
    pub(crate) targets: Vec<String>,
    pub(crate) inputs: Vec<String>,
}

/// Reads a dependency file. Later rules without inputs (from `-MP`) are skipped; others are an error, and so is a file
/// that ends within a rule.
pub(crate) fn parse(bytes: &[u8]) -> Result<Depfile, Fault> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        Fault::malformed(error.valid_up_to() as u64, "a dependency file in UTF-8")
    })?;
    if !text.ends_with('\n') || text.trim_end_matches(['\n', '\r']).ends_with('\\') {
        let expected = "a dependency file that ends with a whole line";
        return Err(Fault::malformed(text.len() as u64, expected));
    }
    let mut found: Option<Depfile> = None;
    for (at, line) in logical_lines(text) {
        let words = words(&line);
        if words.is_empty() {
            continue;
        }
        let colon = words
            .iter()
            .position(|word| word.ends_colon)
            .ok_or_else(|| Fault::malformed(at, "a rule with a `:`"))?;
        let text = |words: &[Word]| -> Vec<String> {
            words
                .iter()
                .map(|word| word.text.clone())
                .filter(|text| !text.is_empty())
                .collect()
        };
        let rule = Depfile {
            targets: text(&words[..=colon]),
            inputs: text(&words[colon + 1..]),
        };
        match &mut found {
            None => found = Some(rule),
            Some(_) if rule.inputs.is_empty() => {}
            Some(first) if first.targets == rule.targets => first.inputs.extend(rule.inputs),
            Some(_) => return Err(Fault::malformed(at, "rules for one target")),
        }
    }
    found
        .filter(|rule| !rule.targets.is_empty() && !rule.inputs.is_empty())
        .ok_or_else(|| Fault::malformed(0, "a rule with a target and inputs"))
}

struct Word {
    text: String,
    /// The word is the last target: a `:` followed it.
    ends_colon: bool,
}

/// Lines with `\` continuations joined, and where each starts.
fn logical_lines(text: &str) -> Vec<(u64, String)> {
    let mut found = Vec::new();
    let mut joined = String::new();
    let (mut start, mut at) = (0, 0);
    for line in text.split_inclusive('\n') {
        let content = line.trim_end_matches(['\n', '\r']);
        if joined.is_empty() {
            start = at;
        }
        at += line.len() as u64;
        if let Some(continued) = content.strip_suffix('\\') {
            joined.push_str(continued);
            joined.push(' ');
            continue;
        }
        joined.push_str(content);
        found.push((start, std::mem::take(&mut joined)));
    }
    found.push((start, joined));
    found
}

/// Splits at unescaped spaces; undoes `\ `, `\#` and `$$`.
fn words(line: &str) -> Vec<Word> {
    let mut found: Vec<Word> = Vec::new();
    let mut text = String::new();
    let mut seen_colon = false;
    let mut chars = line.chars().peekable();
    while let Some(next) = chars.next() {
        match next {
            '\\' if matches!(chars.peek(), Some(' ' | '#' | ':' | '\\')) => {
                text.extend(chars.next());
            }
            '$' if chars.peek() == Some(&'$') => text.extend(chars.next()),
            ':' if !seen_colon && matches!(chars.peek(), None | Some(' ' | '\t')) => {
                seen_colon = true;
                found.push(Word {
                    text: std::mem::take(&mut text),
                    ends_colon: true,
                });
            }
            ' ' | '\t' => {
                if !text.is_empty() {
                    found.push(Word {
                        text: std::mem::take(&mut text),
                        ends_colon: false,
                    });
                }
            }
            other => text.push(other),
        }
    }
    if !text.is_empty() {
        found.push(Word {
            text,
            ends_colon: false,
        });
    }
    found
}
