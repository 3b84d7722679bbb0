//! Conditionals: every branch is counted from the state before the first one, and all must end alike.

use super::{Guard, Segmenter, Shape, Unclear, index};
use std::ops::Range;

/// A conditional around items.
pub(super) struct Outer {
    pub(super) guard: u32,
    /// The first token of its first line.
    start: u32,
    /// How many items there were before it.
    items: usize,
    scope: u32,
    ends: Vec<u32>,
    has_else: bool,
    /// Always true for a C++ compiler: only C would take the other branch.
    transparent: bool,
}

/// A conditional inside an item.
pub(super) struct Inner {
    pub(super) start: u32,
    brackets: Vec<u8>,
    ends: Vec<Vec<u8>>,
    has_else: bool,
}

impl Segmenter<'_> {
    pub(super) fn conditional_opens(&mut self, line: Range<u32>) {
        if let Some(open) = &mut self.open {
            open.inner.push(Inner {
                start: line.start,
                brackets: open.brackets.clone(),
                ends: Vec::new(),
                has_else: false,
            });
            return;
        }
        let items = self.out.items.len();
        let transparent = self.is_cplusplus(&line);
        self.emit(Shape::Conditional, line.clone(), None);
        let parent = self.outer.last().map_or(0, |outer| outer.guard);
        let guard = self.new_guard(parent, vec![line.clone()]);
        self.outer.push(Outer {
            guard,
            start: line.start,
            items,
            scope: self.scope,
            ends: Vec::new(),
            has_else: false,
            transparent,
        });
    }

    pub(super) fn conditional_turns(&mut self, line: Range<u32>) -> Result<(), Unclear> {
        let is_else = self.tokens[line.start as usize + 1].ident() == Some(self.known.r#else);
        self.draw_in()?;
        if let Some(open) = &mut self.open {
            let inner = open.inner.last_mut().ok_or(Unclear)?;
            if inner.has_else {
                return Err(Unclear);
            }
            inner.has_else = is_else;
            inner.ends.push(std::mem::replace(
                &mut open.brackets,
                inner.brackets.clone(),
            ));
            return Ok(());
        }
        let (parent, mut lines) = {
            let outer = self.outer.last_mut().ok_or(Unclear)?;
            if outer.has_else || outer.transparent {
                return Err(Unclear);
            }
            outer.has_else = is_else;
            outer.ends.push(self.scope);
            let guard = &self.out.guards[outer.guard as usize];
            (guard.parent, guard.lines.clone())
        };
        lines.push(line.clone());
        let guard = self.new_guard(parent, lines);
        if let Some(outer) = self.outer.last_mut() {
            self.scope = outer.scope;
            outer.guard = guard;
        }
        self.emit(Shape::Conditional, line, None);
        Ok(())
    }

    pub(super) fn conditional_closes(&mut self, line: Range<u32>) -> Result<(), Unclear> {
        self.draw_in()?;
        if let Some(open) = &mut self.open {
            let inner = open.inner.pop().ok_or(Unclear)?;
            let untaken = (!inner.has_else).then_some(&inner.brackets);
            return if inner
                .ends
                .iter()
                .chain(untaken)
                .all(|end| *end == open.brackets)
            {
                Ok(())
            } else {
                Err(Unclear)
            };
        }
        let outer = self.outer.pop().ok_or(Unclear)?;
        let untaken = (!outer.has_else).then_some(outer.scope);
        let alike = outer
            .ends
            .iter()
            .copied()
            .chain(untaken)
            .all(|end| end == self.scope);
        if !alike && !outer.transparent {
            return Err(Unclear);
        }
        self.emit(Shape::Conditional, line, None);
        Ok(())
    }

    /// A conditional that began between items and ends or turns inside one belongs to that item (`#if`, a line of the
    /// item's head, `#endif`), if the item is all there was in it.
    fn draw_in(&mut self) -> Result<(), Unclear> {
        let Some(open) = &mut self.open else {
            return Ok(());
        };
        if !open.inner.is_empty() {
            return Ok(());
        }
        let outer = self.outer.pop().ok_or(Unclear)?;
        let alone = self.out.items.len() == outer.items + 1 && outer.ends.is_empty();
        if !alone || outer.transparent || self.scope != outer.scope {
            return Err(Unclear);
        }
        self.out.items.truncate(outer.items);
        open.start = outer.start;
        open.inner.push(Inner {
            start: outer.start,
            brackets: Vec::new(),
            ends: Vec::new(),
            has_else: false,
        });
        Ok(())
    }

    /// `#ifdef __cplusplus` and `#if defined(__cplusplus)`.
    fn is_cplusplus(&self, line: &Range<u32>) -> bool {
        let known = self.known;
        let idents: Vec<_> = self.tokens[line.start as usize..line.end as usize]
            .iter()
            .filter_map(super::Token::ident)
            .filter(|ident| *ident != known.defined)
            .collect();
        let negated = self.tokens[line.start as usize..line.end as usize]
            .iter()
            .any(|token| token.is(b'!') || token.is(b'|') || token.is(b'&'));
        !negated
            && (idents == [known.ifdef, known.cplusplus] || idents == [known.r#if, known.cplusplus])
    }

    fn new_guard(&mut self, parent: u32, lines: Vec<Range<u32>>) -> u32 {
        self.out.guards.push(Guard { parent, lines });
        index(self.out.guards.len() - 1)
    }
}
