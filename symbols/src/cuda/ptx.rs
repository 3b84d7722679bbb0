//! The `.entry` directives of a PTX text, and the linking directives of one that is linked later.

use super::links::Found;
use crate::input::{Fault, Span, kernel_name};
use memchr::{memchr, memchr2, memchr2_iter, memchr3, memmem};
use std::ops::Range;

const DIRECTIVE: &[u8] = b".entry";
const NEEDED: &[u8] = b".extern";
/// What other objects see: the first is defined there, the others here.
const LINKING: [&[u8]; 4] = [NEEDED, b".visible", b".weak", b".common"];

/// Adds each kernel that `image` defines; declarations (`.entry f(...);`) are none. A directive that cannot be read is
/// an error: it may define one.
pub(crate) fn names(image: Span<'_>, found: &mut Found<'_>) -> Result<(), Fault> {
    let text = trim_padding(image.bytes());
    check_head(text, image)?;
    let directive = memmem::Finder::new(DIRECTIVE);
    let mut at = 0;
    while let Some(code) = next_code(text, at) {
        for hit in directive.find_iter(&text[code.start..code.end]) {
            let start = code.start + hit;
            if !is_directive(text, start, DIRECTIVE) {
                continue;
            }
            let offset = image.offset(start as u64);
            let statement = statement(text, start + DIRECTIVE.len())
                .ok_or_else(|| Fault::malformed(offset, "a `.entry` directive with an end"))?;
            let name = name_at_start(&statement)
                .ok_or_else(|| Fault::malformed(offset, "a name behind `.entry`"))?;
            if statement.ends_with(b"{") {
                found.kernel(kernel_name(name, offset)?);
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
            let rest = start + directive.len();
            let statement = statement(text, rest).unwrap_or_else(|| text[rest..].to_vec());
            for name in declared(&statement) {
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

/// Whether what stands at `start` is the directive, and not a part of a longer word.
fn is_directive(text: &[u8], start: usize, directive: &[u8]) -> bool {
    let before = start.checked_sub(1).and_then(|before| text.get(before));
    let after = text.get(start + directive.len());
    ![before, after]
        .into_iter()
        .flatten()
        .any(|&byte| is_name(byte))
}

/// The code from `start` to the `;` or `{` that ends a statement's head. Comments and strings become spaces: what they
/// hold ends nothing.
fn statement(text: &[u8], start: usize) -> Option<Vec<u8>> {
    let mut found = Vec::new();
    let mut at = start;
    while let Some(code) = next_code(text, at) {
        let part = &text[code.start..code.end];
        if let Some(end) = memchr2(b'{', b';', part) {
            found.extend_from_slice(&part[..=end]);
            return Some(found);
        }
        found.extend_from_slice(part);
        found.push(b' ');
        at = code.next;
    }
    None
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

/// The name that a directive's statement starts with.
fn name_at_start(statement: &[u8]) -> Option<&[u8]> {
    let statement = statement.trim_ascii_start();
    let length = statement.iter().position(|&byte| !is_name(byte))?;
    statement.get(..length).filter(|name| !name.is_empty())
}

const fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'%') || byte >= 0x80
}
