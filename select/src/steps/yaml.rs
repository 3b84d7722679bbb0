//! YAML, JSON included, as a tree with bounds and places.
//!
//! An anchored node is shared, not copied, so an alias costs nothing however often it is used; what reads the tree
//! visits a bounded number of nodes.

use saphyr_parser::{Event, Parser, ScanError, Span};
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

/// The largest document: a pipeline of thousands of steps.
pub(crate) const MAX_BYTES: usize = 4 << 20;
/// How deep nodes may lie in one another; the parser has a bound of its own beyond.
const MAX_DEPTH: usize = 64;
/// How many nodes a document may have; of 4 MiB most have far fewer.
const MAX_NODES: usize = 1_000_000;

/// A node.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) value: Value,
    /// Where it stands, in characters. Of a block mapping or sequence only the start means something.
    pub(crate) place: Range<usize>,
    /// The column of its start, from 0.
    pub(crate) column: usize,
    /// Whether it has an anchor: then it may stand in other places as well.
    pub(crate) is_anchored: bool,
}

/// What a node is.
#[derive(Debug)]
pub(crate) enum Value {
    /// A scalar as text, whatever its type.
    Scalar(String),
    Sequence(Vec<Rc<Node>>),
    /// In the order written; keys may repeat.
    Mapping(Vec<(Rc<Node>, Rc<Node>)>),
}

/// Why a text is no tree.
#[derive(Debug, thiserror::Error)]
pub(crate) enum YamlError {
    #[error("it has {bytes} bytes, and at most {MAX_BYTES} are read")]
    TooLarge { bytes: usize },
    #[error("it is no YAML: {0}")]
    Malformed(#[from] ScanError),
    #[error("line {line}: nodes lie more than {MAX_DEPTH} deep in one another")]
    TooDeep { line: usize },
    #[error("it has more than {MAX_NODES} nodes")]
    TooMany,
    #[error("line {line}: an alias stands before its anchor is complete")]
    BadAlias { line: usize },
    #[error("it has {found} documents, expected one")]
    Documents { found: usize },
}

/// Reads one document.
pub(crate) fn parse(text: &str) -> Result<Rc<Node>, YamlError> {
    if text.len() > MAX_BYTES {
        return Err(YamlError::TooLarge { bytes: text.len() });
    }
    let mut builder = Builder::default();
    for event in Parser::new_from_str(text) {
        let (event, span) = event?;
        builder.take(event, span)?;
    }
    let found = builder.documents.len();
    match builder.documents.pop() {
        Some(root) if found == 1 => Ok(root),
        _ => Err(YamlError::Documents { found }),
    }
}

impl Node {
    /// The text of a scalar.
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Scalar(text) => Some(text),
            Value::Sequence(_) | Value::Mapping(_) => None,
        }
    }

    /// The entries of a mapping.
    pub(crate) fn entries(&self) -> Option<&[(Rc<Node>, Rc<Node>)]> {
        match &self.value {
            Value::Mapping(entries) => Some(entries),
            Value::Scalar(_) | Value::Sequence(_) => None,
        }
    }

    /// The items of a sequence.
    pub(crate) fn items(&self) -> Option<&[Rc<Node>]> {
        match &self.value {
            Value::Sequence(items) => Some(items),
            Value::Scalar(_) | Value::Mapping(_) => None,
        }
    }
}

#[derive(Default)]
struct Builder {
    open: Vec<Open>,
    documents: Vec<Rc<Node>>,
    anchors: HashMap<usize, Rc<Node>>,
    nodes: usize,
}

/// A sequence or mapping that has not ended.
struct Open {
    children: Vec<Rc<Node>>,
    is_mapping: bool,
    span: Span,
    anchor: usize,
}

impl Builder {
    fn take(&mut self, event: Event<'_>, span: Span) -> Result<(), YamlError> {
        match event {
            Event::Scalar(text, _, anchor, _) => {
                self.add(Value::Scalar(text.into_owned()), span, anchor)
            }
            Event::Alias(anchor) => {
                let line = span.start.line();
                let node = self.anchors.get(&anchor).cloned();
                self.attach(node.ok_or(YamlError::BadAlias { line })?);
                Ok(())
            }
            Event::SequenceStart(anchor, _) => self.open(false, span, anchor),
            Event::MappingStart(anchor, _) => self.open(true, span, anchor),
            Event::SequenceEnd | Event::MappingEnd => self.close(&span),
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd => Ok(()),
        }
    }

    fn open(&mut self, is_mapping: bool, span: Span, anchor: usize) -> Result<(), YamlError> {
        if self.open.len() >= MAX_DEPTH {
            let line = span.start.line();
            return Err(YamlError::TooDeep { line });
        }
        self.open.push(Open {
            children: Vec::new(),
            is_mapping,
            span,
            anchor,
        });
        Ok(())
    }

    fn close(&mut self, end: &Span) -> Result<(), YamlError> {
        let Some(open) = self.open.pop() else {
            return Ok(());
        };
        let value = if open.is_mapping {
            let mut entries = Vec::with_capacity(open.children.len() / 2);
            let mut children = open.children.into_iter();
            while let (Some(key), Some(value)) = (children.next(), children.next()) {
                entries.push((key, value));
            }
            Value::Mapping(entries)
        } else {
            Value::Sequence(open.children)
        };
        let span = Span::new(open.span.start, end.end);
        self.add(value, span, open.anchor)
    }

    fn add(&mut self, value: Value, span: Span, anchor: usize) -> Result<(), YamlError> {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            return Err(YamlError::TooMany);
        }
        let node = Rc::new(Node {
            value,
            place: span.start.index()..span.end.index(),
            column: span.start.col(),
            is_anchored: anchor != 0,
        });
        if anchor != 0 {
            self.anchors.insert(anchor, Rc::clone(&node));
        }
        self.attach(node);
        Ok(())
    }

    fn attach(&mut self, node: Rc<Node>) {
        match self.open.last_mut() {
            Some(open) => open.children.push(node),
            None => self.documents.push(node),
        }
    }
}
