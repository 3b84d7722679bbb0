//! `build.ninja`: which source each object is made from, and what generated files are made from.
//!
//! Only what that needs: variables, `include`/`subninja`, and `build` statements. Rules and pools
//! are skipped.

use crate::build::BuildError;
use crate::input::{Fault, Reason};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Deeper nesting of included files than any generator writes.
const MAX_DEPTH: u32 = 16;
/// More files than any generator includes: files that include each other have no end otherwise.
const MAX_INCLUDES: u32 = 100_000;
/// Longer than any list of objects. Variables that name each other double with every line otherwise.
const MAX_VALUE: usize = 64 << 20;
/// Values and paths of a build file and all that it includes: as much as a record may have.
const MAX_EXPANDED: u64 = 1 << 30;

/// One `build` statement.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Edge {
    pub(crate) rule: String,
    /// Explicit and implicit outputs.
    pub(crate) outputs: Vec<String>,
    /// Explicit inputs.
    pub(crate) inputs: Vec<String>,
    /// Inputs behind `|`; order-only inputs are none.
    pub(crate) implicit: Vec<String>,
    /// Its own variables, such as `FLAGS`.
    pub(crate) bindings: Vec<(String, String)>,
}

/// The statements of a build file and what it includes.
#[derive(Debug, Default)]
pub(crate) struct BuildFile {
    pub(crate) edges: Vec<Edge>,
    outputs: HashMap<String, usize>,
    included: u32,
    /// Bytes of values and paths.
    expanded: u64,
}

impl BuildFile {
    /// Reads the file at `path`; includes are relative to `folder`, where ninja runs.
    pub(crate) fn read(path: &Path, folder: &Path) -> Result<Self, BuildError> {
        let mut found = Self::default();
        found.add(path, folder, &mut HashMap::new(), MAX_DEPTH)?;
        Ok(found)
    }

    /// The statement that makes `output`.
    pub(crate) fn maker(&self, output: &str) -> Option<&Edge> {
        self.outputs.get(output).map(|&edge| &self.edges[edge])
    }

    fn add(
        &mut self,
        path: &Path,
        folder: &Path,
        variables: &mut HashMap<String, String>,
        depth: u32,
    ) -> Result<(), BuildError> {
        let bytes = crate::build::read_record(path)?;
        let text = String::from_utf8(bytes)
            .map_err(|_| BuildError::content(path, Fault::malformed(0, "a build file in UTF-8")))?;
        let included = self
            .parse(&text, variables)
            .map_err(|fault| BuildError::content(path, fault))?;
        for name in included {
            let Some(depth) = depth.checked_sub(1) else {
                let fault = Fault::new(Reason::TooLarge, 0, format!("{MAX_DEPTH} nested includes"));
                return Err(BuildError::content(path, fault));
            };
            self.included += 1;
            if self.included > MAX_INCLUDES {
                let expected = format!("{MAX_INCLUDES} includes");
                let fault = Fault::new(Reason::TooLarge, 0, expected);
                return Err(BuildError::content(path, fault));
            }
            let path: PathBuf = folder.join(name);
            self.add(&path, folder, variables, depth)?;
        }
        Ok(())
    }

    /// Adds the statements of `text`; returns the files it includes.
    pub(crate) fn parse(
        &mut self,
        text: &str,
        variables: &mut HashMap<String, String>,
    ) -> Result<Vec<String>, Fault> {
        let mut included = Vec::new();
        let mut lines = Lines { rest: text, at: 0 }.peekable();
        while let Some((at, line)) = lines.next() {
            let statement = line.trim_end();
            if statement.is_empty() || statement.starts_with('#') || line.starts_with([' ', '\t']) {
                continue;
            }
            let (word, rest) = statement.split_once([' ', '\t']).unwrap_or((statement, ""));
            match word {
                "build" => {
                    let mut bindings = Vec::new();
                    while let Some((_, line)) = lines.next_if(|(_, line)| {
                        line.starts_with([' ', '\t']) && !line.trim().is_empty()
                    }) {
                        if let Some((name, value)) = line.split_once('=') {
                            let value = self.expand(value.trim(), variables, at)?;
                            bindings.push((name.trim().to_owned(), value));
                        }
                    }
                    self.add_edge(rest, bindings, variables, at)?;
                }
                "include" | "subninja" => {
                    included.push(self.expand(rest.trim(), variables, at)?);
                }
                "rule" | "pool" | "default" => {}
                _ => {
                    let (name, value) = statement
                        .split_once('=')
                        .ok_or_else(|| Fault::malformed(at, "a ninja statement"))?;
                    let value = self.expand(value.trim(), variables, at)?;
                    variables.insert(name.trim().to_owned(), value);
                }
            }
        }
        Ok(included)
    }

    /// A value of the statement at `at`.
    fn expand(
        &mut self,
        text: &str,
        variables: &HashMap<String, String>,
        at: u64,
    ) -> Result<String, Fault> {
        let value = expand(text, variables).filter(|value| self.holds(value.len()));
        value.ok_or_else(|| too_large(at))
    }

    /// Whether `more` bytes may be held.
    fn holds(&mut self, more: usize) -> bool {
        self.expanded = self.expanded.saturating_add(more as u64);
        self.expanded <= MAX_EXPANDED
    }

    fn add_edge(
        &mut self,
        text: &str,
        bindings: Vec<(String, String)>,
        variables: &HashMap<String, String>,
        at: u64,
    ) -> Result<(), Fault> {
        let mut scope = variables.clone();
        scope.extend(bindings.iter().cloned());
        let scope = if bindings.is_empty() {
            variables
        } else {
            &scope
        };
        let words = words(text, scope).ok_or_else(|| too_large(at))?;
        let held = words.iter().map(Word::len).sum();
        if !self.holds(held) {
            return Err(too_large(at));
        }
        let colon = words
            .iter()
            .position(|word| *word == Word::Colon)
            .ok_or_else(|| Fault::malformed(at, "a `:` in a build statement"))?;
        let outputs: Vec<String> = paths(&words[..colon]).collect();
        let Some(Word::Path(rule)) = words.get(colon + 1) else {
            let expected = "a rule behind the `:` of a build statement";
            return Err(Fault::malformed(at, expected));
        };
        let mut edge = Edge {
            rule: rule.clone(),
            outputs,
            bindings,
            ..Edge::default()
        };
        let mut section = 0;
        for word in &words[colon + 2..] {
            match word {
                Word::Path(path) if section == 0 => edge.inputs.push(path.clone()),
                Word::Path(path) if section == 1 => edge.implicit.push(path.clone()),
                Word::Path(_) => {}
                Word::Bar => section = 1,
                Word::DoubleBar | Word::Validation => section = 2,
                Word::Colon => {
                    return Err(Fault::malformed(at, "one `:` in a build statement"));
                }
            }
        }
        for output in &edge.outputs {
            self.outputs.insert(output.clone(), self.edges.len());
        }
        self.edges.push(edge);
        Ok(())
    }
}

fn too_large(at: u64) -> Fault {
    let expected = format!(
        "values of at most {MAX_VALUE} bytes, and {MAX_EXPANDED} in all, variables replaced"
    );
    Fault::new(Reason::TooLarge, at, expected)
}

fn paths(words: &[Word]) -> impl Iterator<Item = String> + '_ {
    words.iter().filter_map(|word| match word {
        Word::Path(path) => Some(path.clone()),
        Word::Bar | Word::DoubleBar | Word::Validation | Word::Colon => None,
    })
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Word {
    Path(String),
    Colon,
    Bar,
    DoubleBar,
    Validation,
}

impl Word {
    const fn len(&self) -> usize {
        match self {
            Self::Path(path) => path.len(),
            Self::Colon | Self::Bar | Self::DoubleBar | Self::Validation => 0,
        }
    }
}

/// Splits a statement into paths and separators, escapes undone and variables replaced; `None` when a path is too
/// long.
fn words(text: &str, variables: &HashMap<String, String>) -> Option<Vec<Word>> {
    let mut found = Vec::new();
    let mut path = String::new();
    let mut held = 0_u64;
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let (taken, separator) = match first {
            '$' => {
                let (text, taken) = escape(rest, variables);
                path.push_str(&text);
                held += text.len() as u64;
                if path.len() > MAX_VALUE || held > MAX_EXPANDED {
                    return None;
                }
                rest = &rest[taken..];
                continue;
            }
            ' ' | '\t' => (1, None),
            ':' => (1, Some(Word::Colon)),
            '|' if rest.starts_with("||") => (2, Some(Word::DoubleBar)),
            '|' if rest.starts_with("|@") => (2, Some(Word::Validation)),
            '|' => (1, Some(Word::Bar)),
            other => {
                path.push(other);
                rest = &rest[other.len_utf8()..];
                continue;
            }
        };
        if !path.is_empty() {
            found.push(Word::Path(std::mem::take(&mut path)));
        }
        found.extend(separator);
        rest = &rest[taken..];
    }
    if !path.is_empty() {
        found.push(Word::Path(path));
    }
    Some(found)
}

/// A value with its escapes undone and its variables replaced; `None` when it is too long.
fn expand(text: &str, variables: &HashMap<String, String>) -> Option<String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some(dollar) = rest.find('$') {
        out.push_str(&rest[..dollar]);
        let (text, taken) = escape(&rest[dollar..], variables);
        out.push_str(&text);
        if out.len() > MAX_VALUE {
            return None;
        }
        rest = &rest[dollar + taken..];
    }
    Some(out + rest)
}

/// What the `$` that `rest` starts with stands for, and how many bytes it takes.
fn escape(rest: &str, variables: &HashMap<String, String>) -> (String, usize) {
    let value = |name: &str| variables.get(name).cloned().unwrap_or_default();
    let tail = &rest[1..];
    if let Some(braced) = tail.strip_prefix('{') {
        return match braced.find('}') {
            Some(end) => (value(&braced[..end]), end + 3),
            None => (String::new(), rest.len()),
        };
    }
    match tail.chars().next() {
        Some(special @ ('$' | ' ' | ':' | '|')) => (special.to_string(), 2),
        Some(_) => {
            let simple = |byte: &u8| !(byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
            let end = tail
                .as_bytes()
                .iter()
                .position(simple)
                .unwrap_or(tail.len());
            (value(&tail[..end]), end + 1)
        }
        None => (String::new(), 1),
    }
}

/// Logical lines: `$` at the end of a line continues it.
struct Lines<'a> {
    rest: &'a str,
    at: u64,
}

impl Iterator for Lines<'_> {
    type Item = (u64, String);

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let at = self.at;
        let mut line = String::new();
        loop {
            let (part, rest) = self.rest.split_once('\n').unwrap_or((self.rest, ""));
            self.at += part.len() as u64 + 1;
            self.rest = rest;
            let part = part.strip_suffix('\r').unwrap_or(part);
            let dollars = part.len() - part.trim_end_matches('$').len();
            let joined = if line.is_empty() {
                part
            } else {
                part.trim_start()
            };
            if dollars % 2 == 0 || rest.is_empty() {
                line.push_str(joined);
                return Some((at, line));
            }
            line.push_str(&joined[..joined.len() - 1]);
        }
    }
}
