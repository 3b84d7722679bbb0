//! Changes of a document as changes of its text.
//!
//! Every edit is written down twice: as a splice of the text, and as what it means. The new text is read again
//! and must mean what was meant, so that no oddity of somebody's YAML can be spliced into something else.

use super::document::{Document, Entry, Kind, Node, Style};
use super::emit::{New, key as emitted_key};
use super::parse::after_colon;
use crate::error::PipelineError;
use std::collections::HashMap;
use std::ops::Range;

/// Edits of one document. At most one for each list, and one for each key of a map.
#[derive(Debug)]
pub(crate) struct Edits<'d> {
    document: &'d Document<'d>,
    splices: Vec<Splice>,
    changes: HashMap<usize, Vec<Change>>,
}

#[derive(Debug)]
struct Splice {
    start: usize,
    end: usize,
    /// The map or list it belongs to: of two at one place the inner one, with the greater number, comes first.
    within: usize,
    text: String,
}

#[derive(Debug)]
enum Change {
    Set(String, New),
    Replace(New),
    Before(Vec<New>),
    After(Vec<New>),
}

impl Splice {
    const fn at(place: usize, within: &Node<'_>, text: String) -> Self {
        Self {
            start: place,
            end: place,
            within: within.id,
            text,
        }
    }

    const fn over(range: Range<usize>, text: String) -> Self {
        Self {
            start: range.start,
            end: range.end,
            within: 0,
            text,
        }
    }
}

impl<'d> Edits<'d> {
    pub(crate) fn new(document: &'d Document<'d>) -> Self {
        Self {
            document,
            splices: Vec::new(),
            changes: HashMap::new(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.splices.is_empty()
    }

    /// Gives a key of a map a value: in the place of the one it has, or after the others.
    pub(crate) fn set(&mut self, map: &Node<'_>, name: &str, value: New) {
        let Kind::Map { flow, entries } = &map.kind else {
            return;
        };
        let present = entries
            .iter()
            .find(|entry| entry.key.scalar() == Some(name));
        let splice = match (present, entries.first(), entries.last()) {
            (Some(entry), ..) => self.replaced(entry, *flow, &value),
            (None, Some(first), Some(last)) if *flow => {
                let margin = self.margin(first.key.start).unwrap_or(" ").to_owned();
                let text = format!(",{margin}{}: {}", New::text(name).flow(), value.flow());
                Splice::at(last.value.end, map, text)
            }
            (None, Some(first), Some(last)) => {
                let column = self.column(first.key.start);
                let text = format!(
                    "\n{:column$}{}:{}",
                    "",
                    emitted_key(name),
                    value.block(column)
                );
                Splice::at(self.line_end(last.value.end), map, text)
            }
            _ => {
                let text = format!("{}: {}", New::text(name).flow(), value.flow());
                Splice::at(map.start + 1, map, text)
            }
        };
        self.splices.push(splice);
        self.note(map, Change::Set(name.to_owned(), value));
    }

    /// Puts items before and after those of a list.
    pub(crate) fn surround(&mut self, list: &Node<'_>, before: Vec<New>, after: Vec<New>) {
        let Kind::List { flow, items } = &list.kind else {
            return;
        };
        let (Some(first), Some(end)) = (items.first(), items.last()) else {
            let all: Vec<String> = before.iter().chain(&after).map(New::flow).collect();
            let splice = Splice::at(list.start + 1, list, all.join(", "));
            self.splices.push(splice);
            self.note(list, Change::After(after));
            self.note(list, Change::Before(before));
            return;
        };
        let (dash, column) = self.dash(list, first);
        let margin = self.margin(first.start).unwrap_or(" ").to_owned();
        let (start, end) = if *flow {
            (first.start, end.end)
        } else {
            (dash, self.line_end(end.end))
        };
        if !before.is_empty() {
            let items = before.iter().map(|item| {
                if *flow {
                    format!("{},{margin}", item.flow())
                } else {
                    format!("-{}\n{:column$}", item.block_item(column), "")
                }
            });
            let splice = Splice::at(start, list, items.collect());
            self.splices.push(splice);
            self.note(list, Change::Before(before));
        }
        if !after.is_empty() {
            let items = after.iter().map(|item| {
                if *flow {
                    format!(",{margin}{}", item.flow())
                } else {
                    format!("\n{:column$}-{}", "", item.block_item(column))
                }
            });
            let splice = Splice::at(end, list, items.collect());
            self.splices.push(splice);
            self.note(list, Change::After(after));
        }
    }

    /// Puts a value in the place of an item that is a scalar.
    pub(crate) fn replace(&mut self, list: &Node<'_>, item: &Node<'_>, value: New) {
        let Kind::List { flow, items } = &list.kind else {
            return;
        };
        let (end, text) = match items.first() {
            Some(first) if !*flow => {
                let column = self.dash(list, first).1;
                self.fitting(item.end, &value.block(column))
            }
            _ => (item.end, value.flow()),
        };
        let text = text.trim_start_matches(' ').to_owned();
        self.splices.push(Splice::over(item.start..end, text));
        self.note(item, Change::Replace(value));
    }

    /// The text with every edit made.
    pub(crate) fn apply(mut self) -> Result<String, PipelineError> {
        let text = self.document.text;
        self.splices
            .sort_by_key(|splice| (splice.start, std::cmp::Reverse(splice.within)));
        let mut edited = String::with_capacity(text.len() + self.splices.len() * 512);
        let mut done = 0;
        for splice in &self.splices {
            let Some(kept) = text.get(done..splice.start) else {
                return Err(PipelineError::NotAsMeant);
            };
            edited.push_str(kept);
            edited.push_str(&splice.text);
            done = splice.end;
        }
        edited.push_str(&text[done..]);
        let again = Document::parse(&edited).map_err(|_| PipelineError::NotAsMeant)?;
        if self.meant(&self.document.root) == Meaning::of(&again.root) {
            Ok(edited)
        } else {
            Err(PipelineError::NotAsMeant)
        }
    }

    fn note(&mut self, node: &Node<'_>, change: Change) {
        self.changes.entry(node.id).or_default().push(change);
    }

    fn replaced(&self, entry: &Entry<'_>, flow: bool, value: &New) -> Splice {
        let start = after_colon(self.document.text, entry.key.end);
        if flow {
            return Splice::over(start..entry.value.end, format!(" {}", value.flow()));
        }
        let block = value.block(self.column(entry.key.start));
        let (end, text) = self.fitting(entry.value.end, &block);
        Splice::over(start..end, text)
    }

    /// A text in block style in the place of one that ends at an offset, and where that place ends: a comment
    /// behind it stays on its line.
    fn fitting(&self, end: usize, block: &str) -> (usize, String) {
        let line_end = self.line_end(end);
        let rest = &self.document.text[end..line_end];
        match block.split_once('\n') {
            Some((first, lines)) => (line_end, format!("{first}{rest}\n{lines}")),
            None => (end, block.to_owned()),
        }
    }

    /// Offset and column of a block list's first dash.
    fn dash(&self, list: &Node<'_>, first: &Node<'_>) -> (usize, usize) {
        let before = self.document.text[..first.start].trim_end();
        let at = match before.strip_suffix('-') {
            Some(before) => before.len(),
            None => list.start,
        };
        (at, self.column(at))
    }

    /// Characters before an offset in its line.
    fn column(&self, offset: usize) -> usize {
        let text = self.document.text;
        let start = text[..offset].rfind('\n').map_or(0, |at| at + 1);
        text[start..offset].chars().count()
    }

    /// The line break and indentation before something that is the first of its line.
    fn margin(&self, offset: usize) -> Option<&str> {
        let text = &self.document.text[..offset];
        let start = text.rfind('\n')?;
        let margin = &text[start..];
        margin.trim().is_empty().then_some(margin)
    }

    /// The end of the line of an offset, line break excluded.
    fn line_end(&self, offset: usize) -> usize {
        let text = self.document.text;
        let end = text[offset..]
            .find('\n')
            .map_or(text.len(), |at| offset + at);
        if end > offset && text[..end].ends_with('\r') {
            end - 1
        } else {
            end
        }
    }

    /// What a node means once its edits are made.
    fn meant(&self, node: &Node<'_>) -> Meaning {
        let mut meaning = match &node.kind {
            Kind::Scalar { .. } => Meaning::of(node),
            Kind::List { items, .. } => {
                Meaning::List(items.iter().map(|item| self.meant(item)).collect())
            }
            Kind::Map { entries, .. } => Meaning::Map(
                entries
                    .iter()
                    .map(|entry| {
                        let key = entry.key.scalar().unwrap_or_default().to_owned();
                        (key, self.meant(&entry.value))
                    })
                    .collect(),
            ),
        };
        for change in self.changes.get(&node.id).into_iter().flatten() {
            meaning.change(change);
        }
        meaning
    }
}

/// A value without its form.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Meaning {
    Text(String),
    /// A number, a boolean or null, as it is written.
    Other(String),
    List(Vec<Meaning>),
    Map(Vec<(String, Meaning)>),
}

impl Meaning {
    fn of(node: &Node<'_>) -> Self {
        match &node.kind {
            Kind::Scalar { text, style } if *style == Style::Plain && resolves(text) => {
                Self::Other(text.as_ref().to_owned())
            }
            Kind::Scalar { text, .. } => Self::Text(text.as_ref().to_owned()),
            Kind::List { items, .. } => Self::List(items.iter().map(Self::of).collect()),
            Kind::Map { entries, .. } => Self::Map(
                entries
                    .iter()
                    .map(|entry| {
                        let key = entry.key.scalar().unwrap_or_default().to_owned();
                        (key, Self::of(&entry.value))
                    })
                    .collect(),
            ),
        }
    }

    fn of_new(value: &New) -> Self {
        match value {
            New::Text(text) => Self::Text(text.clone()),
            New::Number(_) | New::Flag(_) => Self::Other(value.flow()),
            New::List(items) => Self::List(items.iter().map(Self::of_new).collect()),
            New::Map(entries) => Self::Map(
                entries
                    .iter()
                    .map(|(key, value)| (key.clone(), Self::of_new(value)))
                    .collect(),
            ),
        }
    }

    fn change(&mut self, change: &Change) {
        match (self, change) {
            (meaning, Change::Replace(value)) => *meaning = Self::of_new(value),
            (Self::Map(entries), Change::Set(name, value)) => {
                let value = Self::of_new(value);
                match entries.iter_mut().find(|(key, _)| key == name) {
                    Some((_, present)) => *present = value,
                    None => entries.push((name.clone(), value)),
                }
            }
            (Self::List(items), Change::Before(before)) => {
                items.splice(0..0, before.iter().map(Self::of_new));
            }
            (Self::List(items), Change::After(after)) => {
                items.extend(after.iter().map(Self::of_new));
            }
            _ => {}
        }
    }
}

/// Whether some reader of YAML takes a scalar without quotes for anything but text.
fn resolves(text: &str) -> bool {
    let words = [
        "", "~", "null", "true", "false", "yes", "no", "on", "off", "y", "n",
    ];
    words.iter().any(|word| text.eq_ignore_ascii_case(word))
        || text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.'))
            && text.bytes().any(|b| b.is_ascii_digit())
            && text
                .bytes()
                .all(|b| b.is_ascii_hexdigit() || b"+-.:_xoTtZ ".contains(&b))
        || [".inf", "-.inf", "+.inf", ".nan"]
            .iter()
            .any(|word| text.eq_ignore_ascii_case(word))
}
