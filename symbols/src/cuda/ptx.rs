//! The `.entry` directives of a PTX text.

use crate::input::{Fault, Span, kernel_name};
use memchr::{memchr, memchr2, memchr2_iter, memmem};

const DIRECTIVE: &[u8] = b".entry";

/// Calls `found` with each kernel that `image` defines; declarations (`.entry f(...);`) are none.
pub(crate) fn kernels(image: Span<'_>, found: &mut dyn FnMut(&str)) -> Result<(), Fault> {
    let text = trim_padding(image.bytes());
    check_head(text, image)?;
    let directive = memmem::Finder::new(DIRECTIVE);
    let mut at = 0;
    while let Some(code) = next_code(text, at) {
        for hit in directive.find_iter(&text[code.start..code.end]) {
            let start = code.start + hit;
            if let Some(name) = definition(text, start) {
                found(kernel_name(name, image.offset(start as u64))?);
            }
        }
        at = code.next;
    }
    Ok(())
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
    let directive = start == 0 || text[start - 1].is_ascii_whitespace();
    let rest = &text[start + DIRECTIVE.len()..];
    if !directive || !rest.first()?.is_ascii_whitespace() {
        return None;
    }
    let rest = rest.trim_ascii_start();
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
