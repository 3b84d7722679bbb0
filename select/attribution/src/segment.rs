//! From tokens to the items of a file: definitions, declarations, macros, other preprocessor lines and the borders of
//! namespaces, each a range of tokens.
//!
//! Only brackets decide where an item ends, with every branch of a conditional counted by itself. Whatever does not
//! add up makes the whole file one item that cannot be placed; nothing is guessed.

mod conditional;
mod head;

use crate::interner::Known;
use crate::lex::{Lexed, Token, TokenKind};
use conditional::{Inner, Outer};
use std::ops::Range;

/// What an item is by its shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Shape {
    /// A definition or declaration, or what looks like one.
    Code,
    /// A `#define`.
    Define,
    /// An `#if` and its kin.
    Conditional,
    /// Any other preprocessor line, or something that acts like one.
    Directive,
    /// `namespace x {`, `extern "C" {` and the brace that closes it.
    Scope,
    /// A file whose structure is not certain.
    Unclear,
}

/// One item.
#[derive(Debug, Clone)]
pub(crate) struct Item {
    pub(crate) shape: Shape,
    pub(crate) tokens: Range<u32>,
    /// The token of the brace that opens the body; the end of the tokens if there is none.
    pub(crate) body: u32,
    /// Index into [`Segments::scopes`].
    pub(crate) scope: u32,
    /// Index into [`Segments::guards`].
    pub(crate) guard: u32,
}

/// A namespace or linkage block around items; the first one is the file.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scope {
    pub(crate) parent: u32,
    pub(crate) head: Range<u32>,
}

/// The branch of a conditional around items; the first one is none.
#[derive(Debug, Clone, Default)]
pub(crate) struct Guard {
    pub(crate) parent: u32,
    /// The conditional's lines up to this branch.
    pub(crate) lines: Vec<Range<u32>>,
}

/// The items of a file.
#[derive(Debug, Default)]
pub(crate) struct Segments {
    pub(crate) items: Vec<Item>,
    pub(crate) scopes: Vec<Scope>,
    pub(crate) guards: Vec<Guard>,
    /// Lines that include a file into the middle of an item.
    pub(crate) inner_includes: Vec<Range<u32>>,
}

/// Brackets that do not add up.
struct Unclear;

/// Splits a file into items.
pub(crate) fn segment(lexed: &Lexed, known: &Known) -> Segments {
    let mut segmenter = Segmenter::new(lexed, known);
    match segmenter.run() {
        Ok(()) => segmenter.out,
        Err(Unclear) => unclear(lexed),
    }
}

/// All of a file as one item.
pub(crate) fn unclear(lexed: &Lexed) -> Segments {
    let end = index(lexed.tokens.len());
    Segments {
        items: vec![Item {
            shape: Shape::Unclear,
            tokens: 0..end,
            body: end,
            scope: 0,
            guard: 0,
        }],
        scopes: vec![Scope::default()],
        guards: vec![Guard::default()],
        inner_includes: lexed.directives.clone(),
    }
}

/// An item that has begun.
struct Open {
    start: u32,
    brackets: Vec<u8>,
    inner: Vec<Inner>,
    body: Option<u32>,
}

struct Segmenter<'l> {
    tokens: &'l [Token],
    directives: &'l [Range<u32>],
    known: &'l Known,
    out: Segments,
    scope: u32,
    outer: Vec<Outer>,
    open: Option<Open>,
}

impl<'l> Segmenter<'l> {
    fn new(lexed: &'l Lexed, known: &'l Known) -> Self {
        Self {
            tokens: &lexed.tokens,
            directives: &lexed.directives,
            known,
            out: Segments {
                scopes: vec![Scope::default()],
                guards: vec![Guard::default()],
                ..Segments::default()
            },
            scope: 0,
            outer: Vec::new(),
            open: None,
        }
    }

    fn run(&mut self) -> Result<(), Unclear> {
        let mut directives = self.directives.iter().peekable();
        let mut at = 0;
        while at < index(self.tokens.len()) {
            if let Some(line) = directives.next_if(|line| line.start == at) {
                self.directive(line.clone())?;
                at = line.end;
            } else {
                self.token(at)?;
                at += 1;
            }
        }
        if let Some(open) = self.open.take() {
            if !open.brackets.is_empty() || !open.inner.is_empty() {
                return Err(Unclear);
            }
            self.end(&open, at);
        }
        if self.scope == 0 && self.outer.is_empty() {
            Ok(())
        } else {
            Err(Unclear)
        }
    }

    fn directive(&mut self, line: Range<u32>) -> Result<(), Unclear> {
        let known = self.known;
        let word = self
            .tokens
            .get(line.start as usize + 1)
            .filter(|_| line.len() > 1);
        let Some(word) = word.and_then(Token::ident) else {
            self.emit(Shape::Directive, line, None);
            return Ok(());
        };
        if word == known.r#if || word == known.ifdef || word == known.ifndef {
            self.conditional_opens(line);
        } else if [known.elif, known.r#else, known.elifdef, known.elifndef].contains(&word) {
            self.conditional_turns(line)?;
        } else if word == known.endif {
            self.conditional_closes(line)?;
        } else {
            self.plain_directive(line, word == known.define, word == known.pragma);
        }
        Ok(())
    }

    fn plain_directive(&mut self, line: Range<u32>, defines: bool, is_pragma: bool) {
        let Some(open) = &self.open else {
            let shape = if defines {
                Shape::Define
            } else {
                Shape::Directive
            };
            self.emit(shape, line, None);
            return;
        };
        // A pragma inside a definition acts on that definition.
        if is_pragma {
            return;
        }
        let condition = open.inner.last().map(|inner| inner.start..line.end);
        if defines {
            self.emit(Shape::Define, line, None);
            // Whether the name is defined depends on lines inside the definition.
            if let Some(lines) = condition {
                self.emit(Shape::Directive, lines, None);
            }
        } else {
            self.out.inner_includes.push(line.clone());
            self.emit(Shape::Directive, line, None);
        }
    }

    fn token(&mut self, at: u32) -> Result<(), Unclear> {
        let token = &self.tokens[at as usize];
        let Some(open) = &mut self.open else {
            if token.is(b'}') {
                return self.scope_closes(at);
            }
            self.open = Some(Open {
                start: at,
                brackets: Vec::new(),
                inner: Vec::new(),
                body: None,
            });
            return self.token(at);
        };
        match token.kind {
            TokenKind::Punct(b';') if open.brackets.is_empty() => self.ends_here(at + 1),
            TokenKind::Punct(bracket @ (b'(' | b'[')) => {
                open.brackets.push(bracket);
                Ok(())
            }
            TokenKind::Punct(b'{') => self.brace_opens(at),
            TokenKind::Punct(b'}') if open.brackets.is_empty() => {
                self.ends_here(at)?;
                self.scope_closes(at)
            }
            TokenKind::Punct(bracket @ (b')' | b']' | b'}')) => self.bracket_closes(at, bracket),
            _ => Ok(()),
        }
    }

    fn brace_opens(&mut self, at: u32) -> Result<(), Unclear> {
        let Some(open) = &mut self.open else {
            return Ok(());
        };
        if open.brackets.is_empty() {
            let head = head::Head::of(self.tokens, self.directives, open.start..at, self.known);
            if head.opens_scope() {
                if !open.inner.is_empty() {
                    return Err(Unclear);
                }
                let head = open.start..at + 1;
                self.open = None;
                self.emit(Shape::Scope, head.clone(), None);
                self.out.scopes.push(Scope {
                    parent: self.scope,
                    head,
                });
                self.scope = index(self.out.scopes.len() - 1);
                return Ok(());
            }
            if open.body.is_none() || !head.ends_with_semicolon() {
                open.body = Some(at);
            }
        }
        open.brackets.push(b'{');
        Ok(())
    }

    fn bracket_closes(&mut self, at: u32, bracket: u8) -> Result<(), Unclear> {
        let Some(open) = &mut self.open else {
            return Ok(());
        };
        let expected = match bracket {
            b')' => b'(',
            b']' => b'[',
            _ => b'{',
        };
        if open.brackets.pop() != Some(expected) {
            return Err(Unclear);
        }
        if bracket != b'}' || !open.brackets.is_empty() || self.goes_on(at) {
            return Ok(());
        }
        self.ends_here(at + 1)
    }

    /// Whether an item goes on after a brace that closed at its outermost level.
    fn goes_on(&self, at: u32) -> bool {
        let next = at + 1;
        let is_directive = self
            .directives
            .binary_search_by_key(&next, |line| line.start)
            .is_ok();
        if let Some(next) = self.tokens.get(next as usize).filter(|_| !is_directive)
            && (next.is(b';')
                || next.is(b',')
                || next.is(b'{')
                || next.ident() == Some(self.known.catch))
        {
            return true;
        }
        let Some(open) = &self.open else { return false };
        let Some(body) = open.body else { return false };
        let head = head::Head::of(self.tokens, self.directives, open.start..body, self.known);
        head.ends_with_semicolon() || head.is_initializer_list()
    }

    fn ends_here(&mut self, end: u32) -> Result<(), Unclear> {
        let Some(open) = self.open.take() else {
            return Ok(());
        };
        if !open.inner.is_empty() {
            return Err(Unclear);
        }
        self.end(&open, end);
        Ok(())
    }

    fn end(&mut self, open: &Open, end: u32) {
        self.emit(Shape::Code, open.start..end, open.body);
    }

    fn scope_closes(&mut self, at: u32) -> Result<(), Unclear> {
        if self.scope == 0 {
            return Err(Unclear);
        }
        self.scope = self.out.scopes[self.scope as usize].parent;
        self.emit(Shape::Scope, at..at + 1, None);
        Ok(())
    }

    fn emit(&mut self, shape: Shape, tokens: Range<u32>, body: Option<u32>) {
        self.out.items.push(Item {
            shape,
            body: body.unwrap_or(tokens.end),
            tokens,
            scope: self.scope,
            guard: self.outer.last().map_or(0, |outer| outer.guard),
        });
    }
}

/// Sources are bounded far below 4 billion tokens.
fn index(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}
