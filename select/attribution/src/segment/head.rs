//! What stands before a brace: does it open a namespace, a body that ends with the brace, or one that a semicolon ends?

use super::{Token, TokenKind};
use crate::interner::{Known, NameId};
use std::ops::Range;

/// The tokens of a head at its outermost level: no preprocessor lines, no template header, nothing in brackets but
/// the brackets.
pub(super) struct Head<'l> {
    tokens: Vec<&'l Token>,
    known: &'l Known,
}

impl<'l> Head<'l> {
    pub(super) fn of(
        tokens: &'l [Token],
        directives: &[Range<u32>],
        range: Range<u32>,
        known: &'l Known,
    ) -> Self {
        let mut kept = Vec::new();
        let mut at = range.start;
        let mut directive = directives.partition_point(|line| line.end <= range.start);
        let mut depth = 0_usize;
        while at < range.end {
            if let Some(line) = directives.get(directive).filter(|line| line.start == at) {
                at = line.end;
                directive += 1;
                continue;
            }
            let token = &tokens[at as usize];
            let closes = matches!(token.kind, TokenKind::Punct(b')' | b']' | b'}'));
            if closes {
                depth = depth.saturating_sub(1);
            }
            if depth == 0 {
                kept.push(token);
            }
            if matches!(token.kind, TokenKind::Punct(b'(' | b'[' | b'{')) {
                depth += 1;
            }
            at += 1;
        }
        let mut head = Self {
            tokens: kept,
            known,
        };
        head.drop_template_headers();
        head
    }

    /// `namespace x`, `inline namespace x`, `extern "C"`.
    pub(super) fn opens_scope(&self) -> bool {
        let idents = || self.tokens.iter().filter_map(|token| token.ident());
        let linkage = self.tokens.first().and_then(|token| token.ident())
            == Some(self.known.r#extern)
            && self.tokens.len() == 2
            && matches!(self.tokens[1].kind, TokenKind::Literal(_));
        let only_names = self.tokens.iter().all(|token| {
            matches!(
                token.kind,
                TokenKind::Ident(_) | TokenKind::Punct(b':' | b'[' | b']' | b'(' | b')')
            )
        });
        linkage || (only_names && idents().take(2).any(|word| word == self.known.namespace))
    }

    /// A type, an initialised variable or a typedef.
    pub(super) fn ends_with_semicolon(&self) -> bool {
        let first = self.tokens.first().and_then(|token| token.ident());
        first == Some(self.known.typedef) || self.is_assigned() || self.is_type()
    }

    /// The members of a constructor's list, up to a braced one.
    pub(super) fn is_initializer_list(&self) -> bool {
        let colon = self
            .tokens
            .windows(3)
            .any(|three| three[0].is(b')') && three[1].is(b':') && !three[2].is(b':'));
        let before_is_name = self
            .tokens
            .last()
            .is_some_and(|token| token.ident().is_some() || token.is(b'>'));
        colon && before_is_name
    }

    fn is_assigned(&self) -> bool {
        let operator = self
            .tokens
            .iter()
            .any(|token| token.ident() == Some(self.known.operator));
        !operator && self.tokens.iter().any(|token| token.is(b'='))
    }

    fn is_type(&self) -> bool {
        let known = self.known;
        let keywords = [known.r#struct, known.class, known.r#union, known.r#enum];
        let Some(keyword) = self
            .tokens
            .iter()
            .position(|token| token.ident().is_some_and(|word| keywords.contains(&word)))
        else {
            return false;
        };
        // `struct pair make() {` is a function; `struct alignas(16) pair {` is none.
        let rest = &self.tokens[keyword..];
        !rest
            .windows(2)
            .any(|two| two[1].is(b'(') && !self.is_alignment(two[0]))
    }

    fn is_alignment(&self, token: &Token) -> bool {
        let known = self.known;
        token.ident().is_some_and(|word| {
            [known.alignas, known.align, known.attribute, known.declspec].contains(&word)
        })
    }

    /// `template <...>`, any number of them.
    fn drop_template_headers(&mut self) {
        let template: NameId = self.known.template;
        while self.tokens.first().and_then(|token| token.ident()) == Some(template)
            && self.tokens.get(1).is_some_and(|token| token.is(b'<'))
        {
            let mut depth = 0_usize;
            let close = self.tokens.iter().position(|token| {
                depth += usize::from(token.is(b'<'));
                depth -= usize::from(token.is(b'>') && depth > 0);
                token.is(b'>') && depth == 0
            });
            let Some(close) = close else { return };
            self.tokens.drain(..=close);
        }
    }
}
