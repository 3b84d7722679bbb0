//! One file made searchable: its items, the names each of them mentions, and what its macros are.

use crate::interner::{Interner, NameId};
use crate::lex::{LexFault, Lexed, Token, TokenKind, lex};
use crate::segment::{Item, Segments, Shape, segment, unclear};
use foldhash::fast::RandomState;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// The most text that is split into items: 4 MiB. A larger file is one that cannot be placed.
pub(crate) const MAX_TEXT: usize = 4 << 20;

/// A macro.
#[derive(Debug, Clone)]
pub(crate) struct Macro {
    pub(crate) name: NameId,
    pub(crate) item: u32,
    /// The tokens that replace it.
    pub(crate) body: Range<u32>,
    /// The names that it can paste together, each from literal pieces and arguments.
    pub(crate) pastes: Vec<Vec<Piece>>,
}

/// A piece of a pasted name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Piece {
    /// This text.
    Text(NameId),
    /// An argument: any text.
    Any,
}

/// One side of one file.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) text: Arc<[u8]>,
    pub(crate) lexed: Lexed,
    pub(crate) segments: Segments,
    pub(crate) macros: Vec<Macro>,
    pub(crate) fault: Option<LexFault>,
    /// Name and item, sorted.
    mentions: Vec<(NameId, u32)>,
    /// The items that may declare or define a name.
    declares: HashMap<NameId, Vec<u32>, RandomState>,
}

impl Source {
    pub(crate) fn read(text: Arc<[u8]>, names: &mut Interner) -> Self {
        let lexed = if text.len() > MAX_TEXT {
            Err(LexFault::Unterminated)
        } else {
            lex(&text, names)
        };
        let fault = lexed.as_ref().err().copied();
        let lexed = lexed.unwrap_or_default();
        let segments = match fault {
            None => segment(&lexed, &names.known),
            Some(_) => unclear(&lexed),
        };
        let mut source = Self {
            text,
            lexed,
            segments,
            macros: Vec::new(),
            fault,
            mentions: Vec::new(),
            declares: HashMap::default(),
        };
        source.macros = (0_u32..)
            .zip(&source.segments.items)
            .filter(|(_, item)| item.shape == Shape::Define)
            .filter_map(|(number, item)| source.macro_of(number, item, names))
            .collect();
        source.index(names);
        source
    }

    /// Whether its structure is not certain.
    pub(crate) fn is_unclear(&self) -> bool {
        matches!(self.segments.items[..], [ref only] if only.shape == Shape::Unclear)
    }

    pub(crate) fn items(&self) -> impl Iterator<Item = (u32, &Item)> {
        (0_u32..).zip(&self.segments.items)
    }

    pub(crate) fn item(&self, number: u32) -> &Item {
        &self.segments.items[number as usize]
    }

    pub(crate) fn tokens(&self, range: &Range<u32>) -> &[Token] {
        &self.lexed.tokens[range.start as usize..range.end as usize]
    }

    /// The text from the first token of an item to the last.
    pub(crate) fn text_of(&self, item: &Item) -> &[u8] {
        match self.tokens(&item.tokens) {
            [first, .., last] => &self.text[first.start as usize..last.end as usize],
            [only] => &self.text[only.start as usize..only.end as usize],
            [] => &[],
        }
    }

    /// The line of an item's first token, from 1.
    pub(crate) fn line_of(&self, item: &Item) -> u32 {
        self.tokens(&item.tokens)
            .first()
            .map_or(1, |token| token.line)
    }

    /// The items that mention a name, in their own tokens or in the conditions around them.
    pub(crate) fn mentioning(&self, name: NameId) -> impl Iterator<Item = u32> {
        let from = self
            .mentions
            .partition_point(|(mentioned, _)| *mentioned < name);
        self.mentions[from..]
            .iter()
            .take_while(move |(mentioned, _)| *mentioned == name)
            .map(|(_, item)| *item)
    }

    /// The items that may declare a name.
    pub(crate) fn declaring(&self, name: NameId) -> &[u32] {
        self.declares.get(&name).map_or(&[], Vec::as_slice)
    }

    /// Every name that items may declare, with those items.
    pub(crate) fn declarations(&self) -> impl Iterator<Item = (NameId, &[u32])> {
        self.declares
            .iter()
            .map(|(name, items)| (*name, items.as_slice()))
    }

    /// The tokens of an item that lie in a range of its text.
    pub(crate) fn tokens_between(&self, item: &Item, range: &Range<usize>) -> &[Token] {
        let tokens = self.tokens(&item.tokens);
        let base = tokens.first().map_or(0, |token| token.start as usize);
        let at =
            |offset: usize| tokens.partition_point(|token| (token.start as usize) < base + offset);
        &tokens[at(range.start)..at(range.end.max(range.start))]
    }

    /// The lines of the conditionals around an item.
    pub(crate) fn conditions(&self, item: &Item) -> impl Iterator<Item = &Token> {
        let mut guard = item.guard;
        let guards = std::iter::from_fn(move || {
            let found = (guard != 0).then(|| &self.segments.guards[guard as usize])?;
            guard = found.parent;
            Some(found)
        });
        guards
            .flat_map(|guard| &guard.lines)
            .flat_map(|line| self.tokens(line))
    }

    /// The lines that open the namespaces around an item, from the innermost.
    pub(crate) fn scopes_of(&self, item: &Item) -> impl Iterator<Item = &Token> {
        let mut scope = item.scope;
        let scopes = std::iter::from_fn(move || {
            let found = (scope != 0).then(|| &self.segments.scopes[scope as usize])?;
            scope = found.parent;
            Some(found)
        });
        scopes.flat_map(|scope| self.tokens(&scope.head))
    }

    /// Tokens of an item's head without preprocessor lines, each with the depth of the brackets around it.
    pub(crate) fn head(&self, item: &Item) -> Vec<(&Token, u32)> {
        let lines = &self.lexed.directives;
        let mut line = lines.partition_point(|line| line.end <= item.tokens.start);
        let (mut depth, mut head) = (0_u32, Vec::new());
        let mut at = item.tokens.start;
        while at < item.body {
            if let Some(skipped) = lines.get(line).filter(|line| line.start == at) {
                at = skipped.end.max(at + 1);
                line += 1;
                continue;
            }
            let token = &self.lexed.tokens[at as usize];
            if matches!(token.kind, TokenKind::Punct(b')' | b']' | b'}')) {
                depth = depth.saturating_sub(1);
            }
            head.push((token, depth));
            if matches!(token.kind, TokenKind::Punct(b'(' | b'[' | b'{')) {
                depth += 1;
            }
            at += 1;
        }
        head
    }

    /// What its `#include` lines name: `"path` or the last word of `<path>`, without the closing mark.
    pub(crate) fn included<'s>(&'s self, names: &'s Interner) -> impl Iterator<Item = &'s [u8]> {
        self.lexed
            .directives
            .iter()
            .filter_map(|line| self.include_of(line, names))
    }

    /// What lines that include a file into the middle of an item name, with that item.
    pub(crate) fn included_inside<'s>(
        &'s self,
        names: &'s Interner,
    ) -> impl Iterator<Item = (&'s [u8], u32)> {
        self.segments.inner_includes.iter().flat_map(|line| {
            let around = self
                .items()
                .filter(|(_, item)| item.shape != Shape::Directive)
                .filter(|(_, item)| item.tokens.start <= line.start && line.end <= item.tokens.end);
            let path = self.include_of(line, names);
            around.filter_map(move |(number, _)| Some((path?, number)))
        })
    }

    fn include_of(&self, line: &Range<u32>, names: &Interner) -> Option<&[u8]> {
        let tokens = self.tokens(line);
        let word = tokens.get(1)?.ident()?;
        if word != names.known.include {
            return None;
        }
        let (first, last) = (tokens.get(2)?, tokens.last()?);
        let text = &self.text[first.start as usize..last.end as usize];
        let text = text.strip_suffix(b"\"").or_else(|| text.strip_suffix(b">"));
        Some(text.unwrap_or(&self.text[first.start as usize..last.end as usize]))
    }

    /// The tokens of a head at its outermost level, without template headers and preprocessor lines, with the brackets
    /// but not what is in them.
    pub(crate) fn plain_head(&self, item: &Item) -> Vec<&Token> {
        let head = self.head(item);
        let is_template = |at: usize| {
            let text = |token: &Token| &self.text[token.start as usize..token.end as usize];
            head.get(at)
                .is_some_and(|(token, _)| text(token) == b"template")
                && head.get(at + 1).is_some_and(|(token, _)| token.is(b'<'))
        };
        let mut from = 0;
        while is_template(from) {
            from = behind_angles(&head, from + 1);
        }
        let rest = head[from.min(head.len())..].iter();
        rest.filter(|(_, depth)| *depth == 0)
            .map(|(token, _)| *token)
            .collect()
    }

    /// Whether the item is inside an anonymous namespace.
    pub(crate) fn is_internal(&self, item: &Item) -> bool {
        let mut scope = item.scope;
        while scope != 0 {
            let found = &self.segments.scopes[scope as usize];
            if self.tokens(&found.head).len() == 2 {
                return true;
            }
            scope = found.parent;
        }
        false
    }

    fn macro_of(&self, number: u32, item: &Item, names: &Interner) -> Option<Macro> {
        let tokens = self.tokens(&item.tokens);
        let name = tokens.get(2)?.ident()?;
        let function_like = tokens
            .get(3)
            .is_some_and(|token| token.is(b'(') && token.glued);
        let (parameters, body) = if function_like {
            let close = tokens.iter().position(|token| token.is(b')'))?;
            (
                tokens[4..close.max(4)]
                    .iter()
                    .filter_map(Token::ident)
                    .collect(),
                close + 1,
            )
        } else {
            (Vec::new(), 3)
        };
        let start = item.tokens.start + u32::try_from(body).unwrap_or(u32::MAX);
        Some(Macro {
            name,
            item: number,
            body: start..item.tokens.end,
            pastes: pastes(&tokens[body..], &parameters, names.known.va_args),
        })
    }

    fn index(&mut self, names: &Interner) {
        let mut mentions = Vec::with_capacity(self.lexed.tokens.len() / 2);
        for (number, item) in self.items() {
            let own = self.tokens(&item.tokens).iter();
            let tokens = own.chain(self.conditions(item));
            mentions.extend(tokens.filter_map(Token::ident).map(|name| (name, number)));
        }
        mentions.sort_unstable();
        mentions.dedup();
        let mut declares: HashMap<NameId, Vec<u32>, RandomState> = HashMap::default();
        for (number, item) in self.items() {
            for name in self.declared(number, item, names) {
                let items = declares.entry(name).or_default();
                if items.last() != Some(&number) {
                    items.push(number);
                }
            }
        }
        self.mentions = mentions;
        self.declares = declares;
    }

    /// Every name that the item may declare, by its head alone.
    fn declared(&self, number: u32, item: &Item, names: &Interner) -> Vec<NameId> {
        match item.shape {
            Shape::Define => self
                .macros
                .iter()
                .filter(|defined| defined.item == number)
                .map(|defined| defined.name)
                .collect(),
            Shape::Code => self.declared_by_code(item, names),
            Shape::Unclear => self
                .tokens(&item.tokens)
                .iter()
                .filter_map(Token::ident)
                .collect(),
            Shape::Conditional | Shape::Directive | Shape::Scope => Vec::new(),
        }
    }

    fn declared_by_code(&self, item: &Item, names: &Interner) -> Vec<NameId> {
        let head = self.head(item);
        let mut declared = Vec::new();
        for (at, (token, depth)) in head.iter().enumerate() {
            let Some(name) = token.ident() else { continue };
            // `void (*pointer)(int)`.
            let is_pointer = *depth == 1
                && at > 1
                && (head[at - 1].0.is(b'*') || head[at - 1].0.is(b'&'))
                && head[at - 2].0.is(b'(');
            if (*depth == 0 && ends_declarator(&head, at + 1)) || is_pointer {
                declared.push(name);
            }
        }
        let tokens = || self.tokens(&item.tokens).iter().filter_map(Token::ident);
        if tokens().any(|word| word == names.known.r#enum) {
            declared.extend(tokens());
        }
        // A type without a name, and `typedef struct {} name`: whatever stands behind the body.
        let behind = self.lexed.tokens[item.body as usize..item.tokens.end as usize].iter();
        let behind = behind.rev().take_while(|token| !token.is(b'}'));
        declared.extend(behind.filter_map(Token::ident));
        if head
            .iter()
            .any(|(token, _)| token.ident() == Some(names.known.operator))
        {
            declared.push(names.known.operator);
        }
        declared.retain(|name| *name == names.known.operator || !names.is_keyword(*name));
        declared
    }
}

/// Whether what follows a name in a head makes it the name that is declared there, or the class of a member that is.
fn ends_declarator(head: &[(&Token, u32)], mut next: usize) -> bool {
    for _ in 0..head.len() {
        match head.get(next).map(|(token, _)| token.kind) {
            None | Some(TokenKind::Punct(b'(' | b'=' | b'[' | b';' | b'{' | b',' | b')')) => {
                return true;
            }
            Some(TokenKind::Punct(b'<')) => next = behind_angles(head, next),
            Some(TokenKind::Punct(b':')) => {
                let double = head
                    .get(next + 1)
                    .is_some_and(|(token, _)| token.is(b':') && token.glued);
                if !double {
                    return true;
                }
                next += 2;
                while head.get(next).is_some_and(|(token, _)| token.is(b'~')) {
                    next += 1;
                }
                next += 1;
            }
            Some(_) => return false,
        }
    }
    false
}

/// The place behind the template arguments that open here.
fn behind_angles(head: &[(&Token, u32)], open: usize) -> usize {
    let mut depth = 0_usize;
    for (at, (token, _)) in head.iter().enumerate().skip(open) {
        depth += usize::from(token.is(b'<'));
        if token.is(b'>') {
            depth = depth.saturating_sub(1);
            if depth == 0 {
                return at + 1;
            }
        }
    }
    head.len()
}

/// The names that `##` can make.
fn pastes(body: &[Token], parameters: &[NameId], va_args: NameId) -> Vec<Vec<Piece>> {
    let is_paste = |at: usize| {
        body.get(at).is_some_and(|token| token.is(b'#'))
            && body
                .get(at + 1)
                .is_some_and(|token| token.is(b'#') && token.glued)
    };
    let piece = |token: &Token| match token.kind {
        TokenKind::Ident(name) if parameters.contains(&name) || name == va_args => Some(Piece::Any),
        TokenKind::Ident(name) | TokenKind::Literal(name) => Some(Piece::Text(name)),
        TokenKind::Punct(_) => None,
    };
    let mut found = Vec::new();
    let mut at = 0;
    while at < body.len() {
        let (Some(first), true) = (piece(&body[at]), is_paste(at + 1)) else {
            at += 1;
            continue;
        };
        let mut pieces = vec![first];
        while is_paste(at + 1) {
            at += 3;
            // Whatever an odd operand makes, an argument makes no less.
            pieces.push(body.get(at).and_then(piece).unwrap_or(Piece::Any));
        }
        found.push(pieces);
    }
    found
}
