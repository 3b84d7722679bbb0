//! The CUDA grammar, one item at a time.
//!
//! Items are parsed alone: a construct that the grammar cannot read spoils its own item and no other, an item is
//! parsed only when a change comes near it, and the same text is parsed once whatever side it stands on.

mod declarator;
mod facts;
pub(crate) mod launch;

pub(crate) use facts::{Facts, Kind, Reader, kind_of_function};

use crate::interner::{Interner, NameId};
use crate::lex::{Token, TokenKind};
use crate::segment::Item;
use crate::source::Source;
use std::ops::Range;

/// The text of an item as the grammar is given it: preprocessor lines of the head are blank, and so are the words
/// before a lambda's body that the grammar does not expect there. Positions are kept.
pub(crate) fn readable_text(
    source: &Source,
    item: &Item,
    names: &Interner,
    keep_body: bool,
) -> Vec<u8> {
    let mut text = source.text_of(item).to_vec();
    let Some(base) = source.tokens(&item.tokens).first().map(|token| token.start) else {
        return text;
    };
    let mut blank = |range: Range<u32>| {
        let range = (range.start - base) as usize..(range.end - base) as usize;
        if let Some(text) = text.get_mut(range) {
            text.iter_mut()
                .filter(|byte| **byte != b'\n')
                .for_each(|byte| *byte = b' ');
        }
    };
    for line in &source.lexed.directives {
        if line.start >= item.tokens.start && line.end <= item.body {
            for token in source.tokens(line) {
                blank(token.start..token.end);
            }
        }
    }
    if !keep_body {
        let known = &names.known;
        for token in source.tokens(&(item.body..item.tokens.end)) {
            if token
                .ident()
                .is_some_and(|name| name == known.device || name == known.host)
            {
                blank(token.start..token.end);
            }
        }
    }
    text
}

/// The words of a function that say where it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "a set of words, and whether it is certain"
)]
pub(crate) struct Marks {
    pub(crate) global: bool,
    pub(crate) device: bool,
    pub(crate) host: bool,
    /// The compiler may run it: both sides may.
    pub(crate) constant: bool,
    /// Some macro among the words means different things in different places, one of them a kernel.
    pub(crate) doubtful: bool,
}

impl Marks {
    /// What one word adds.
    pub(crate) fn of_word(name: NameId, names: &Interner) -> Self {
        let known = &names.known;
        Self {
            global: name == known.global || name == known.tile_global,
            device: name == known.device || name == known.tile,
            host: name == known.host,
            constant: name == known.constexpr || name == known.consteval,
            doubtful: false,
        }
    }

    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            global: self.global || other.global,
            device: self.device || other.device,
            host: self.host || other.host,
            constant: self.constant || other.constant,
            doubtful: self.doubtful || other.doubtful,
        }
    }

    /// Of two definitions of one macro: whichever holds. A function that is for the device in one of them and has no
    /// mark in the other is both.
    pub(crate) fn or(self, other: Self) -> Self {
        let differ = self != other;
        Self {
            host: self.host || other.host || (differ && (self.device || other.device)),
            doubtful: self.doubtful || other.doubtful || (self.global != other.global),
            ..self.and(other)
        }
    }
}

/// The bodies of all functions below a node.
pub(crate) fn functions<'t>(node: tree_sitter::Node<'t>, bodies: &mut Vec<tree_sitter::Node<'t>>) {
    let mut found = Vec::new();
    facts::collect(node, "function_definition", &mut found);
    bodies.extend(
        found
            .iter()
            .filter_map(|function| function.child_by_field_name("body")),
    );
}

/// Identifiers of a slice of tokens.
pub(crate) fn idents(tokens: &[Token]) -> impl Iterator<Item = NameId> {
    tokens.iter().filter_map(|token| match token.kind {
        TokenKind::Ident(name) => Some(name),
        TokenKind::Literal(_) | TokenKind::Punct(_) => None,
    })
}
