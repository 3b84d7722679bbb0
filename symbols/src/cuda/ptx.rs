//! The `.entry` directives of a PTX text, and the linking directives of one that is linked later.

use super::links::Found;
use crate::input::{Fault, Span, kernel_name};
use memchr::{memchr, memchr2, memchr2_iter, memchr3, memmem};
use std::ops::Range;

const DIRECTIVE: &[u8] = b".entry";
const NEEDED: &[u8] = b".extern";
/// What other objects see: the first is defined there, the others here.
const LINKING: [&[u8]; 4] = [NEEDED, b".visible", b".weak", b".common"];

/// Adds each kernel that `image` defines; declarations (`.entry f(...);`) are none.
pub(crate) fn names(image: Span<'_>, found: &mut Found<'_>) -> Result<(), Fault> {
    let text = trim_padding(image.bytes());
    check_head(text, image)?;
    let directive = memmem::Finder::new(DIRECTIVE);
    let mut at = 0;
    while let Some(code) = next_code(text, at) {
        for hit in directive.find_iter(&text[code.start..code.end]) {
            let start = code.start + hit;
            if let Some(name) = definition(text, start) {
                found.kernel(kernel_name(name, image.offset(start as u64))?);
            }
        }
        if found.links.is_some() {
            linked(text, &(code.start..code.end), found);
        }
        at = code.next;
    }
    Ok(())
}

/// Adds what the linking directives within `code` declare or define.
fn linked(text: &[u8], code: &Range<usize>, found: &mut Found<'_>) {
    for directive in LINKING {
        for hit in memmem::find_iter(&text[code.clone()], directive) {
            let start = code.start + hit;
            if !is_directive(text, start, directive) {
                continue;
            }
            for name in declared(&text[start + directive.len()..]) {
                if directive == NEEDED {
                    found.needed(name);
                } else {
                    found.offered(name);
                }
            }
        }
    }
}

/// The names that a statement declares: neither directives nor numbers nor what stands in brackets.
fn declared(statement: &[u8]) -> impl Iterator<Item = &[u8]> {
    let end = memchr3(b';', b'{', b'=', statement).unwrap_or(statement.len());
    let mut depth = 0_u32;
    statement[..end]
        .split_inclusive(|&byte| !is_name(byte) && byte != b'.')
        .filter_map(move |part| {
            let outside = depth == 0;
            let (word, last) = match part.split_last() {
                Some((&last, word)) if !is_name(last) && last != b'.' => (word, last),
                _ => (part, b' '),
            };
            match last {
                b'(' | b'[' => depth = depth.saturating_add(1),
                b')' | b']' => depth = depth.saturating_sub(1),
                _ => {}
            }
            let first = *word.first()?;
            (outside && first != b'.' && !first.is_ascii_digit()).then_some(word)
        })
}

fn is_directive(text: &[u8], start: usize, directive: &[u8]) -> bool {
    let before = start == 0 || text[start - 1].is_ascii_whitespace();
    let after = text.get(start + directive.len());
    before && after.is_some_and(u8::is_ascii_whitespace)
}

/// Payloads are padded to 8 bytes with NULs, and the text itself ends with one.
fn trim_padding(bytes: &[u8]) -> &[u8] {
    let end = bytes
        .iter()
        .rposition(|&byte| byte != 0)
        .map_or(0, |last| last + 1);
    &bytes[..end]
}

/// Every PTX module starts (after comments) with `.version`: a text without one is something else.
fn check_head(text: &[u8], image: Span<'_>) -> Result<(), Fault> {
    let version = memmem::find(text, b".version").is_some();
    if version && memchr(0, text).is_none() {
        return Ok(());
    }
    Err(Fault::malformed(
        image.offset(0),
        "a PTX text with a `.version` directive",
    ))
}

/// A stretch of text outside comments and strings.
struct Code {
    start: usize,
    end: usize,
    next: usize,
}

fn next_code(text: &[u8], start: usize) -> Option<Code> {
    if start >= text.len() {
        return None;
    }
    for hit in memchr2_iter(b'/', b'"', &text[start..]) {
        let end = start + hit;
        let rest = &text[end..];
        let skip = match (rest[0], rest.get(1)) {
            (b'"', _) => string_length(rest),
            (b'/', Some(b'/')) => memchr(b'\n', rest).unwrap_or(rest.len()),
            (b'/', Some(b'*')) => memmem::find(&rest[2..], b"*/").map_or(rest.len(), |n| n + 4),
            _ => continue,
        };
        return Some(Code {
            start,
            end,
            next: end + skip,
        });
    }
    Some(Code {
        start,
        end: text.len(),
        next: text.len(),
    })
}

/// The length of the string literal that `rest` starts with, its quotes included.
fn string_length(rest: &[u8]) -> usize {
    let mut at = 1;
    while let Some(hit) = rest.get(at..).and_then(|tail| memchr2(b'"', b'\\', tail)) {
        at += hit + 1;
        if rest[at - 1] == b'"' {
            return at;
        }
        at += 1;
    }
    rest.len()
}

/// The name of the kernel defined by the directive at `start`, `None` when none is defined there.
fn definition(text: &[u8], start: usize) -> Option<&[u8]> {
    if !is_directive(text, start, DIRECTIVE) {
        return None;
    }
    let rest = text[start + DIRECTIVE.len()..].trim_ascii_start();
    let length = rest
        .iter()
        .position(|&byte| !is_name(byte))
        .unwrap_or(rest.len());
    let (name, tail) = rest.split_at(length);
    let body = tail.get(memchr2(b'{', b';', tail)?)? == &b'{';
    (body && !name.is_empty()).then_some(name)
}

const fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'%') || byte >= 0x80
}
