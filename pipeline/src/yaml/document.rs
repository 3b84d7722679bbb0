//! A document as a tree whose nodes know where in the text they stand.

use crate::error::PipelineError;
use std::borrow::Cow;

/// A document and its text.
#[derive(Debug)]
pub(crate) struct Document<'a> {
    pub(crate) text: &'a str,
    pub(crate) root: Node<'a>,
}

/// One value.
#[derive(Debug)]
pub(crate) struct Node<'a> {
    /// Its number within the document.
    pub(crate) id: usize,
    /// The offset of its first byte; of a list in block style, of its first dash or its first item.
    pub(crate) start: usize,
    /// The offset after its last byte.
    pub(crate) end: usize,
    pub(crate) kind: Kind<'a>,
}

/// What a value is.
#[derive(Debug)]
pub(crate) enum Kind<'a> {
    Scalar {
        text: Cow<'a, str>,
        style: Style,
    },
    List {
        /// Whether it stands in brackets.
        flow: bool,
        items: Vec<Node<'a>>,
    },
    Map {
        /// Whether it stands in braces.
        flow: bool,
        entries: Vec<Entry<'a>>,
    },
}

/// How a scalar is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// Without quotes: it may be a number, a boolean or null.
    Plain,
    Quoted,
    /// After `|` or `>`.
    Block,
}

/// A key and its value.
#[derive(Debug)]
pub(crate) struct Entry<'a> {
    pub(crate) key: Node<'a>,
    pub(crate) value: Node<'a>,
}

impl Document<'_> {
    /// An error about the text at an offset.
    pub(crate) fn error(
        &self,
        offset: usize,
        reason: &'static str,
        problem: impl Into<String>,
    ) -> PipelineError {
        PipelineError::at(self.text, offset, reason, problem)
    }
}

impl<'a> Node<'a> {
    /// A scalar's text, whatever its type.
    pub(crate) fn scalar(&self) -> Option<&str> {
        match &self.kind {
            Kind::Scalar { text, .. } => Some(text),
            Kind::List { .. } | Kind::Map { .. } => None,
        }
    }

    /// A scalar's text, of one that is not null.
    pub(crate) fn text(&self) -> Option<&str> {
        self.scalar().filter(|_| !self.is_null())
    }

    pub(crate) fn is_null(&self) -> bool {
        match &self.kind {
            Kind::Scalar { text, style } => {
                *style == Style::Plain
                    && matches!(text.as_ref(), "" | "~" | "null" | "Null" | "NULL")
            }
            Kind::List { .. } | Kind::Map { .. } => false,
        }
    }

    pub(crate) fn items(&self) -> Option<&[Node<'a>]> {
        match &self.kind {
            Kind::List { items, .. } => Some(items),
            Kind::Scalar { .. } | Kind::Map { .. } => None,
        }
    }

    pub(crate) fn entries(&self) -> Option<&[Entry<'a>]> {
        match &self.kind {
            Kind::Map { entries, .. } => Some(entries),
            Kind::Scalar { .. } | Kind::List { .. } => None,
        }
    }

    /// The value of a key of a map.
    pub(crate) fn get(&self, key: &str) -> Option<&Node<'a>> {
        let entries = self.entries()?;
        let found = entries.iter().find(|entry| entry.key.scalar() == Some(key));
        found.map(|entry| &entry.value)
    }
}

/// Line and column of an offset, both from 1; columns are characters.
pub(crate) fn place(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line = before.rsplit('\n').next().unwrap_or_default();
    (before.matches('\n').count() + 1, line.chars().count() + 1)
}
