//! From text to a tree, refusing what an edit of the text could get wrong: anchors, merges, tags, several
//! documents, duplicate keys.

use super::document::{Document, Entry, Kind, Node, Style};
use crate::error::PipelineError;
use saphyr_parser::{Event, Marker, Parser, ScalarStyle, Span};
use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::Write as _;

/// Pipelines nest less than 20 deep; the tree is walked by recursion.
const MAX_DEPTH: usize = 100;

impl<'a> Document<'a> {
    /// Reads a text.
    pub(crate) fn parse(text: &'a str) -> Result<Self, PipelineError> {
        let readable = without_surrogates(text);
        let mut reader = Reader::new(text, &readable);
        let mut parser = Parser::new_from_str(&readable);
        while let Some(event) = parser.next_event() {
            let (event, span) = event.map_err(|error| {
                let at = reader.offset(error.marker());
                PipelineError::at(text, at, "not-yaml", error.info())
            })?;
            reader.take(event, span)?;
        }
        let root = reader
            .root
            .ok_or_else(|| PipelineError::at(text, 0, "unknown-shape", "there is no pipeline"))?;
        Ok(Self { text, root })
    }
}

/// A list or map whose end has not come.
struct Open<'a> {
    id: usize,
    start: usize,
    flow: bool,
    holds: Holds<'a>,
}

enum Holds<'a> {
    List(Vec<Node<'a>>),
    Map {
        entries: Vec<Entry<'a>>,
        key: Option<Node<'a>>,
        seen: HashSet<String>,
    },
}

struct Reader<'a> {
    text: &'a str,
    /// The offset of every character, where not every one is a byte.
    offsets: Option<Vec<usize>>,
    open: Vec<Open<'a>>,
    root: Option<Node<'a>>,
    documents: usize,
    nodes: usize,
    /// The offset after what was read last.
    reached: usize,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str, readable: &str) -> Self {
        let offsets = (!readable.is_ascii()).then(|| {
            let ends = std::iter::once(readable.len());
            readable
                .char_indices()
                .map(|(at, _)| at)
                .chain(ends)
                .collect()
        });
        Self {
            text,
            offsets,
            open: Vec::new(),
            root: None,
            documents: 0,
            nodes: 0,
            reached: 0,
        }
    }

    fn offset(&self, marker: &Marker) -> usize {
        let index = marker.index();
        let offset = self.offsets.as_ref().map_or(index, |offsets| {
            offsets.get(index).copied().unwrap_or(self.text.len())
        });
        offset.min(self.text.len())
    }

    fn take(&mut self, event: Event<'_>, span: Span) -> Result<(), PipelineError> {
        let (start, end) = (self.offset(&span.start), self.offset(&span.end));
        match event {
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => Ok(()),
            Event::DocumentStart(_) => {
                self.documents += 1;
                if self.documents > 1 {
                    return Err(self.refuse(start, "several-documents", "a second document"));
                }
                Ok(())
            }
            Event::Alias(_) => {
                Err(self.refuse(start, "anchor", "an alias (`*name`) is not supported"))
            }
            Event::Scalar(text, style, anchor, tag) => {
                self.plain_node(start, anchor, tag.is_some())?;
                let node = self.scalar(text.into_owned(), style, start, end);
                self.add(node)
            }
            Event::SequenceStart(anchor, tag) => {
                self.plain_node(start, anchor, tag.is_some())?;
                self.open(start, end, Holds::List(Vec::new()))
            }
            Event::MappingStart(anchor, tag) => {
                self.plain_node(start, anchor, tag.is_some())?;
                let (entries, seen) = (Vec::new(), HashSet::new());
                self.open(
                    start,
                    end,
                    Holds::Map {
                        entries,
                        key: None,
                        seen,
                    },
                )
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(end),
        }
    }

    fn refuse(&self, at: usize, reason: &'static str, problem: &str) -> PipelineError {
        PipelineError::at(self.text, at, reason, problem)
    }

    fn plain_node(&self, at: usize, anchor: usize, tagged: bool) -> Result<(), PipelineError> {
        if anchor != 0 {
            return Err(self.refuse(at, "anchor", "an anchor (`&name`) is not supported"));
        }
        if tagged {
            return Err(self.refuse(at, "tag", "a tag (`!name`) is not supported"));
        }
        Ok(())
    }

    fn number(&mut self) -> usize {
        self.nodes += 1;
        self.nodes
    }

    fn scalar(&mut self, text: String, style: ScalarStyle, start: usize, end: usize) -> Node<'a> {
        let (style, start, end) = match style {
            ScalarStyle::Plain => (Style::Plain, start, end),
            ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted => (Style::Quoted, start, end),
            // The parser's place is that of the content, up to what follows.
            ScalarStyle::Literal | ScalarStyle::Folded => (
                Style::Block,
                self.indicator(start),
                self.last_line(start, end),
            ),
        };
        let id = self.number();
        Node {
            id,
            start,
            end,
            kind: Kind::Scalar {
                text: Cow::Owned(text),
                style,
            },
        }
    }

    /// Where the `|` or `>` of a block scalar stands: the first after what was read last, comments aside.
    fn indicator(&self, content: usize) -> usize {
        let between = &self.text.as_bytes()[self.reached.min(content)..content];
        let mut comment = false;
        for (n, byte) in between.iter().enumerate() {
            match byte {
                b'\n' => comment = false,
                b'#' => comment = true,
                b'|' | b'>' if !comment => return self.reached + n,
                _ => {}
            }
        }
        content
    }

    /// The end of a block scalar without the last line break and the indentation of what follows.
    fn last_line(&self, start: usize, end: usize) -> usize {
        let text = &self.text[start.min(end)..end];
        let line = text.trim_end_matches([' ', '\t']);
        let line = if line.len() == text.len() && !text.ends_with('\n') {
            text
        } else {
            line.strip_suffix('\n').unwrap_or(text)
        };
        start.min(end) + line.strip_suffix('\r').unwrap_or(line).len()
    }

    fn open(&mut self, start: usize, end: usize, holds: Holds<'a>) -> Result<(), PipelineError> {
        if self.open.len() >= MAX_DEPTH {
            return Err(self.refuse(start, "too-deep", "it nests too deep"));
        }
        let id = self.number();
        self.reached = end;
        // Brackets and braces have a length; the start of a list or map in block style has none.
        let flow = end > start;
        self.open.push(Open {
            id,
            start,
            flow,
            holds,
        });
        Ok(())
    }

    fn close(&mut self, end: usize) -> Result<(), PipelineError> {
        let Some(Open {
            id,
            start,
            flow,
            holds,
        }) = self.open.pop()
        else {
            return Err(self.refuse(end, "not-yaml", "an end without a start"));
        };
        let (kind, last) = match holds {
            Holds::List(items) => {
                let last = items.last().map(|item| item.end);
                (Kind::List { flow, items }, last)
            }
            Holds::Map { entries, .. } => {
                let last = entries.last().map(|entry| entry.value.end);
                (Kind::Map { flow, entries }, last)
            }
        };
        let end = match &kind {
            Kind::List { .. } if flow => self.bracket(last.unwrap_or(start + 1), end, ']'),
            _ if flow => self.bracket(last.unwrap_or(start + 1), end, '}'),
            _ => last.unwrap_or(start),
        };
        self.add(Node {
            id,
            start,
            end,
            kind,
        })
    }

    /// The offset after a closing bracket. The parser's own `end` counts blanks behind it in, or stops at a comma before
    /// it, so it is looked for behind what the brackets hold last.
    fn bracket(&self, held: usize, end: usize, bracket: char) -> usize {
        // Only blanks, commas and comments stand between, and a comment may hold a bracket of its own.
        let between = [' ', '\t', '\r', '\n', ','];
        let mut rest = self.text[held..].trim_start_matches(between);
        while rest.starts_with('#') {
            rest = rest
                .split_once('\n')
                .map_or("", |(_, next)| next.trim_start_matches(between));
        }
        if rest.starts_with(bracket) {
            self.text.len() - rest.len() + 1
        } else {
            self.text[..end].trim_end().len()
        }
    }

    fn add(&mut self, mut node: Node<'a>) -> Result<(), PipelineError> {
        let text = self.text;
        let end = node.end;
        match self.open.last_mut().map(|open| &mut open.holds) {
            None => self.root = Some(node),
            Some(Holds::List(items)) => items.push(node),
            Some(Holds::Map { entries, key, seen }) => {
                if let Some(key) = key.take() {
                    if node.start == node.end {
                        // A value that is not there: its place is after the colon.
                        node.start = after_colon(text, key.end);
                        node.end = node.start;
                    }
                    entries.push(Entry { key, value: node });
                } else {
                    check_key(text, &node, seen)?;
                    *key = Some(node);
                }
            }
        }
        self.reached = self.reached.max(end);
        Ok(())
    }
}

fn check_key(text: &str, key: &Node<'_>, seen: &mut HashSet<String>) -> Result<(), PipelineError> {
    let Some(name) = key.scalar() else {
        return Err(PipelineError::at(
            text,
            key.start,
            "unknown-shape",
            "a key that is no text",
        ));
    };
    if let Kind::Scalar {
        style: Style::Plain,
        ..
    } = key.kind
        && name == "<<"
    {
        return Err(PipelineError::at(
            text,
            key.start,
            "anchor",
            "a merge (`<<`) is not supported",
        ));
    }
    if !seen.insert(name.to_owned()) {
        let problem = format!("the key `{name}` stands twice in one mapping");
        return Err(PipelineError::at(text, key.start, "duplicate-key", problem));
    }
    Ok(())
}

/// The offset after the colon that follows a key; after the key where there is none.
pub(super) fn after_colon(text: &str, key_end: usize) -> usize {
    let rest = &text[key_end..];
    let blank = rest.len() - rest.trim_start().len();
    if rest[blank..].starts_with(':') {
        key_end + blank + 1
    } else {
        key_end
    }
}

/// JSON may write a character as two halves, which YAML does not know. They are replaced by YAML's form of
/// the same length: an escaped line break, which stands for nothing, and the character's number.
fn without_surrogates(text: &str) -> Cow<'_, str> {
    if !text.trim_start().starts_with(['{', '[']) || !text.contains("\\u") {
        return Cow::Borrowed(text);
    }
    let mut replaced = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        replaced.push_str(&rest[..at]);
        rest = &rest[at..];
        let taken = if let Some(number) = surrogates(rest.as_bytes()) {
            let _ = write!(replaced, "\\\n\\U{number:08x}");
            12
        } else {
            // The escape and what it escapes, so that a second backslash begins nothing.
            let taken = rest.chars().take(2).map(char::len_utf8).sum();
            replaced.push_str(&rest[..taken]);
            taken
        };
        rest = &rest[taken..];
    }
    replaced.push_str(rest);
    Cow::Owned(replaced)
}

/// The character that `\uD83D\uDE00` at the start of a text stands for.
fn surrogates(text: &[u8]) -> Option<u32> {
    let half = |at: usize| {
        let escape = text.get(at..at + 6)?.strip_prefix(b"\\u")?;
        u32::from_str_radix(std::str::from_utf8(escape).ok()?, 16).ok()
    };
    let (high, low) = (half(0)?, half(6)?);
    let is_pair = (0xd800..0xdc00).contains(&high) && (0xdc00..0xe000).contains(&low);
    is_pair.then(|| 0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00))
}
