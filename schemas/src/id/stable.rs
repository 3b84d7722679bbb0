//! The stable form of a kernel name.
//!
//! nvcc names internal-linkage entities after the *content* of their source file:
//! `_INTERNAL_1920f1a6_11_binbcast_cu_6840010b`, `_GLOBAL__N__a58b5648_4_a_cu_0f32c6d1`,
//! `__nv_static_25__a58b5648_4_a_cu_0f32c6d1__Z3fooPf` (seen in CUDA 13.0 objects, testdata/ggml-h200).
//! A changed comment changes both hashes, so names from two builds compare only with the hashes blanked.
//! Blanking keeps the length, because mangled names carry the length of each component.

use std::borrow::Cow;

const MARKS: [&str; 3] = ["_INTERNAL_", "_GLOBAL__N__", "__nv_static_"];
const HASH_DIGITS: usize = 8;
/// Not a hex digit, so a blanked hash is never taken for a real one.
const BLANK: u8 = b'x';

/// Blanks the content hashes of internal-linkage components; any other name is returned as it is.
pub fn stable_form(name: &str) -> Cow<'_, str> {
    if !MARKS.iter().any(|mark| name.contains(mark)) {
        return Cow::Borrowed(name);
    }
    let mut out = name.as_bytes().to_vec();
    for mark in MARKS {
        for (at, _) in name.match_indices(mark) {
            blank_component(name.as_bytes(), at + mark.len(), mark, &mut out);
        }
    }
    // Only ASCII bytes were replaced by ASCII bytes, so this cannot fail; the fallback keeps it total.
    String::from_utf8(out).map_or(Cow::Borrowed(name), Cow::Owned)
}

/// Blanks the two hashes of one component, if what follows the mark has exactly the known shape.
fn blank_component(name: &[u8], mut at: usize, mark: &str, out: &mut [u8]) {
    if mark == "__nv_static_" {
        // `__nv_static_<length of the file part>__<hash>…`
        let Some((_, after)) = decimal(name, at) else {
            return;
        };
        let Some(after) = literal(name, after, b"__") else {
            return;
        };
        at = after;
    }
    let Some(first_end) = hash(name, at) else {
        return;
    };
    let Some(length_at) = literal(name, first_end, b"_") else {
        return;
    };
    let Some((length, file_at)) = decimal(name, length_at) else {
        return;
    };
    let Some(file_at) = literal(name, file_at, b"_") else {
        return;
    };
    let Some(file_end) = file_at.checked_add(length) else {
        return;
    };
    let Some(second_at) = literal(name, file_end, b"_") else {
        return;
    };
    let Some(second_end) = hash(name, second_at) else {
        return;
    };
    out[at..first_end].fill(BLANK);
    out[second_at..second_end].fill(BLANK);
}

fn hash(name: &[u8], at: usize) -> Option<usize> {
    let end = at.checked_add(HASH_DIGITS)?;
    let digits = name.get(at..end)?;
    digits
        .iter()
        .all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
        .then_some(end)
}

fn literal(name: &[u8], at: usize, text: &[u8]) -> Option<usize> {
    name.get(at..)?.starts_with(text).then_some(at + text.len())
}

/// A decimal number and the index after it.
fn decimal(name: &[u8], at: usize) -> Option<(usize, usize)> {
    let digits = name
        .get(at..)?
        .iter()
        .take_while(|b| b.is_ascii_digit())
        .count();
    let text = std::str::from_utf8(&name[at..at + digits]).ok()?;
    Some((text.parse().ok()?, at + digits))
}
