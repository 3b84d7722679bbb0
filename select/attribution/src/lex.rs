//! Tokens of a C++ source: what a compiler sees of it, without comments and white space.
//!
//! The grammar is told nothing of comments, strings or directives either; but what decides whether a line is inert,
//! which names a definition mentions and where a brace closes is read from these tokens alone, so that a construct
//! which the grammar does not know cannot move the borders of the definitions around it.

use crate::interner::{Interner, NameId};
use std::ops::Range;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum TokenKind {
    /// An identifier or keyword.
    Ident(NameId),
    /// A number, string or character, with its text.
    Literal(NameId),
    /// One character of punctuation.
    Punct(u8),
}

/// One token.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    /// Punctuation that follows punctuation without a space (`>>` is not `> >`), or the parenthesis that makes a
    /// macro function-like.
    pub(crate) glued: bool,
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// From 1.
    pub(crate) line: u32,
}

impl Token {
    pub(crate) fn is(&self, punct: u8) -> bool {
        self.kind == TokenKind::Punct(punct)
    }

    pub(crate) fn ident(&self) -> Option<NameId> {
        match self.kind {
            TokenKind::Ident(name) => Some(name),
            TokenKind::Literal(_) | TokenKind::Punct(_) => None,
        }
    }
}

/// The tokens of one source.
#[derive(Debug, Default)]
pub(crate) struct Lexed {
    pub(crate) tokens: Vec<Token>,
    /// The token ranges of preprocessor lines, `#` included, ascending.
    pub(crate) directives: Vec<Range<u32>>,
}

/// Text whose tokens are not certain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LexFault {
    /// A NUL: UTF-16, or no source at all.
    Binary,
    /// A carriage return alone: compilers differ on whether it ends a line.
    LoneCarriageReturn,
    /// A trigraph or digraph.
    AlternativeSpelling,
    /// A name or operator continued on the next line.
    SplicedToken,
    /// A comment or raw string that does not end.
    Unterminated,
}

/// Splits a source into tokens. Bytes beyond ASCII are letters.
pub(crate) fn lex(text: &[u8], names: &mut Interner) -> Result<Lexed, LexFault> {
    let mut lexer = Lexer {
        text,
        at: usize::from(text.starts_with(b"\xef\xbb\xbf")) * 3,
        line: 1,
        names,
        out: Lexed::default(),
        directive: None,
        spliced_at: usize::MAX,
    };
    lexer.run()?;
    Ok(lexer.out)
}

struct Lexer<'t> {
    text: &'t [u8],
    at: usize,
    line: u32,
    names: &'t mut Interner,
    out: Lexed,
    /// The first token of the preprocessor line that is being read.
    directive: Option<u32>,
    /// Where the last line splice ended.
    spliced_at: usize,
}

impl Lexer<'_> {
    fn run(&mut self) -> Result<(), LexFault> {
        // On a fresh line, where a `#` starts a directive.
        let mut fresh = true;
        while let Some(&byte) = self.text.get(self.at) {
            match byte {
                b'\n' => {
                    self.end_directive();
                    fresh = true;
                    self.line += 1;
                    self.at += 1;
                }
                b'\r' if self.peek(1) != Some(b'\n') => return Err(LexFault::LoneCarriageReturn),
                b' ' | b'\t' | b'\r' | 0x0b | 0x0c => self.at += 1,
                b'\\' if self.splice_length(self.at).is_some() => self.skip_splice(),
                b'/' if self.peek(1) == Some(b'/') => self.skip_line_comment(),
                b'/' if self.peek(1) == Some(b'*') => self.skip_block_comment()?,
                0 => return Err(LexFault::Binary),
                b'#' if fresh => {
                    fresh = false;
                    self.directive = Some(self.count());
                    self.punct();
                }
                _ => {
                    fresh = false;
                    self.token(byte)?;
                }
            }
        }
        self.end_directive();
        Ok(())
    }

    fn token(&mut self, byte: u8) -> Result<(), LexFault> {
        let digit_follows = self.peek(1).is_some_and(|next| next.is_ascii_digit());
        match byte {
            b'"' | b'\'' => self.quoted(self.at, self.at),
            b'0'..=b'9' => self.number(),
            b'.' if digit_follows => self.number(),
            _ if is_letter(byte) => return self.word(),
            _ => {
                self.check_spelling(byte)?;
                self.punct();
            }
        }
        Ok(())
    }

    /// An identifier, or the prefix of a string.
    fn word(&mut self) -> Result<(), LexFault> {
        let start = self.at;
        let mut end = start;
        while self.text.get(end).is_some_and(|&byte| is_word(byte)) {
            end += 1;
        }
        let before_is_word = matches!(self.out.tokens.last(), Some(token)
            if matches!(token.kind, TokenKind::Ident(_)) && self.spliced_at == start && self.touches_splice(token.end));
        if before_is_word {
            return Err(LexFault::SplicedToken);
        }
        let word = &self.text[start..end];
        match (self.text.get(end), word) {
            (Some(b'"'), b"R" | b"LR" | b"uR" | b"UR" | b"u8R") => {
                return self.raw_string(start, end);
            }
            (Some(b'"' | b'\''), b"L" | b"u" | b"U" | b"u8") => {
                self.quoted(start, end);
                return Ok(());
            }
            _ => {}
        }
        let name = self.names.intern(word);
        self.at = end;
        self.push(TokenKind::Ident(name), start);
        if self.is_free_text(word) {
            self.rest_of_line();
        }
        Ok(())
    }

    /// Whether what follows on a preprocessor line is prose, where an apostrophe quotes nothing.
    fn is_free_text(&self, word: &[u8]) -> bool {
        let second = self.directive == self.count().checked_sub(2);
        self.directive.is_some() && second && matches!(word, b"error" | b"warning")
    }

    fn rest_of_line(&mut self) {
        let start = self.at;
        while let Some(&byte) = self.text.get(self.at) {
            match byte {
                b'\n' => break,
                b'\\' if self.splice_length(self.at).is_some() => self.skip_splice(),
                _ => self.at += 1,
            }
        }
        let literal = self.names.intern(&self.text[start..self.at]);
        self.push(TokenKind::Literal(literal), start);
    }

    fn number(&mut self) {
        let start = self.at;
        while let Some(&byte) = self.text.get(self.at) {
            let exponent = matches!(byte, b'+' | b'-')
                && matches!(self.text[self.at - 1], b'e' | b'E' | b'p' | b'P')
                && self.at > start;
            let separator = byte == b'\'' && self.peek(1).is_some_and(is_word);
            if !(is_word(byte) || byte == b'.' || exponent || separator) {
                break;
            }
            self.at += 1;
        }
        let literal = self.names.intern(&self.text[start..self.at]);
        self.push(TokenKind::Literal(literal), start);
    }

    /// A string or character that starts at `start` and whose quote stands at `quote`. One that does not end on its
    /// line is a lone quote, which only text that is compiled out can hold.
    fn quoted(&mut self, start: usize, quote: usize) {
        let mark = self.text[quote];
        let (mut at, mut lines) = (quote + 1, 0);
        loop {
            match self.text.get(at) {
                None | Some(b'\n') => {
                    self.at = quote;
                    self.punct();
                    return;
                }
                Some(b'\\') => match self.splice_length(at) {
                    Some(length) => {
                        at += length;
                        lines += 1;
                    }
                    None => at += 2,
                },
                Some(&byte) => {
                    at += 1;
                    if byte == mark {
                        break;
                    }
                }
            }
        }
        self.at = at;
        let literal = self.names.intern(&self.text[start..at]);
        self.push(TokenKind::Literal(literal), start);
        self.line += lines;
    }

    fn raw_string(&mut self, start: usize, quote: usize) -> Result<(), LexFault> {
        let from = quote + 1;
        let open = memchr::memchr(b'(', &self.text[from..]).ok_or(LexFault::Unterminated)?;
        let mut close = vec![b')'];
        close.extend_from_slice(&self.text[from..from + open]);
        close.push(b'"');
        let content = from + open + 1;
        let length =
            memchr::memmem::find(&self.text[content..], &close).ok_or(LexFault::Unterminated)?;
        self.at = content + length + close.len();
        let literal = self.names.intern(&self.text[start..self.at]);
        self.push(TokenKind::Literal(literal), start);
        self.count_lines(start);
        Ok(())
    }

    fn check_spelling(&self, byte: u8) -> Result<(), LexFault> {
        let (next, after) = (self.peek(1), self.peek(2));
        let alternative = match (byte, next) {
            (b'?', Some(b'?')) => after.is_some_and(|byte| b"=/'()!<>-".contains(&byte)),
            (b'<', Some(b'%')) | (b'%', Some(b'>' | b':')) | (b':', Some(b'>')) => true,
            (b'<', Some(b':')) => after != Some(b':'),
            _ => false,
        };
        if alternative {
            return Err(LexFault::AlternativeSpelling);
        }
        let after_splice = self.spliced_at == self.at
            && self.out.tokens.last().is_some_and(|token| {
                matches!(token.kind, TokenKind::Punct(_)) && self.touches_splice(token.end)
            });
        if after_splice {
            return Err(LexFault::SplicedToken);
        }
        Ok(())
    }

    /// Whether nothing but a splice lies between this place and the current one.
    fn touches_splice(&self, end: u32) -> bool {
        self.splice_length(end as usize)
            .is_some_and(|length| end as usize + length == self.spliced_at)
    }

    fn skip_line_comment(&mut self) {
        while let Some(offset) = memchr::memchr(b'\n', &self.text[self.at..]) {
            let newline = self.at + offset;
            let before = self.text[..newline]
                .strip_suffix(b"\r")
                .unwrap_or(&self.text[..newline]);
            if !before.ends_with(b"\\") {
                self.at = newline;
                return;
            }
            self.at = newline + 1;
            self.line += 1;
        }
        self.at = self.text.len();
    }

    fn skip_block_comment(&mut self) -> Result<(), LexFault> {
        let start = self.at;
        let length =
            memchr::memmem::find(&self.text[start + 2..], b"*/").ok_or(LexFault::Unterminated)?;
        self.at = start + 2 + length + 2;
        self.count_lines(start);
        Ok(())
    }

    fn count_lines(&mut self, start: usize) {
        let lines = memchr::memchr_iter(b'\n', &self.text[start..self.at]).count();
        self.line += u32::try_from(lines).unwrap_or(u32::MAX);
    }

    fn splice_length(&self, at: usize) -> Option<usize> {
        match self.text.get(at..)? {
            [b'\\', b'\n', ..] => Some(2),
            [b'\\', b'\r', b'\n', ..] => Some(3),
            _ => None,
        }
    }

    fn skip_splice(&mut self) {
        self.at += self.splice_length(self.at).unwrap_or(1);
        self.spliced_at = self.at;
        self.line += 1;
    }

    fn punct(&mut self) {
        let start = self.at;
        self.at += 1;
        self.push(TokenKind::Punct(self.text[start]), start);
    }

    fn push(&mut self, kind: TokenKind, start: usize) {
        let start = offset(start);
        let glued = match kind {
            TokenKind::Punct(punct) => self.out.tokens.last().is_some_and(|last| {
                let before_merges = matches!(last.kind, TokenKind::Punct(before) if merges(before));
                last.end == start && ((before_merges && merges(punct)) || self.is_macro_name())
            }),
            TokenKind::Ident(_) | TokenKind::Literal(_) => false,
        };
        self.out.tokens.push(Token {
            kind,
            glued,
            start,
            end: offset(self.at),
            line: self.line,
        });
    }

    /// Whether the last token is the name in `#define name`.
    fn is_macro_name(&self) -> bool {
        let third = self.directive.is_some() && self.directive == self.count().checked_sub(3);
        third && self.out.tokens[self.out.tokens.len() - 2].ident() == Some(self.names.known.define)
    }

    fn end_directive(&mut self) {
        if let Some(first) = self.directive.take() {
            self.out.directives.push(first..self.count());
        }
    }

    fn count(&self) -> u32 {
        offset(self.out.tokens.len())
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.text.get(self.at + ahead).copied()
    }
}

/// Sources are bounded far below 4 GiB before they are split.
fn offset(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

/// Whether the character is part of operators of several.
fn merges(punct: u8) -> bool {
    b"+-*/%<>=!&|^:.#~?".contains(&punct)
}

fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte == b'$' || byte >= 0x80
}

fn is_word(byte: u8) -> bool {
    is_letter(byte) || byte.is_ascii_digit()
}
