//! Plain offload bundles: a table of entry ids, each with the place of its code object.

use crate::input::{Fault, Span};

/// What a plain bundle starts with.
pub(crate) const MAGIC: &[u8; 24] = b"__CLANG_OFFLOAD_BUNDLE__";
/// Real bundles hold one entry for the host and one for each of at most a few dozen targets.
const MAX_ENTRIES: u64 = 4096;
const MAX_ID: u64 = 4096;

/// One code object of a bundle.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry<'a> {
    /// `<kind>-<triple>[-<target id>]`, `hipv4-amdgcn-amd-amdhsa--gfx942:xnack-` for example.
    pub(crate) id: &'a str,
    pub(crate) code: Span<'a>,
}

/// The entries of the bundle that `span` starts with, and how many bytes of `span` it takes.
pub(crate) fn entries(span: Span<'_>) -> Result<(Vec<Entry<'_>>, u64), Fault> {
    let count_at = MAGIC.len() as u64;
    let count = span.u64(count_at, "a bundle's number of entries")?;
    if count > MAX_ENTRIES {
        let expected = format!("at most {MAX_ENTRIES} bundle entries, found {count}");
        return Err(Fault::malformed(span.offset(count_at), expected));
    }
    let mut found = Vec::new();
    let mut places = Vec::new();
    let mut at = count_at + 8;
    for _ in 0..count {
        let (entry, place, next) = entry(span, at)?;
        places.push(place);
        found.push(entry);
        at = next;
    }
    let end = check_places(places, at, span)?;
    Ok((found, end))
}

/// Start and end of a code object within its bundle.
type Place = (u64, u64);

fn entry(span: Span<'_>, at: u64) -> Result<(Entry<'_>, Place, u64), Fault> {
    let start = span.u64(at, "a bundle entry's offset")?;
    let size = span.u64(at + 8, "a bundle entry's size")?;
    let length = span.u64(at + 16, "a bundle entry's id length")?;
    if length > MAX_ID {
        let expected = format!("a bundle entry id of at most {MAX_ID} bytes, found {length}");
        return Err(Fault::malformed(span.offset(at + 16), expected));
    }
    let id = span.slice(at + 24, length, "a bundle entry's id")?;
    let text = std::str::from_utf8(id.bytes())
        .map_err(|_| Fault::malformed(id.offset(0), "a bundle entry's id in UTF-8"))?;
    let code = span
        .slice(start, size, "a bundle entry's code object")
        // Where the object ends is known; where the code should be may lie anywhere.
        .map_err(|fault| Fault::malformed(span.offset(at), fault.expected))?;
    Ok((
        Entry { id: text, code },
        (start, start + size),
        at + 24 + length,
    ))
}

/// Code objects lie behind the table (which ends at `table`) and do not overlap; returns where the last ends.
fn check_places(mut places: Vec<Place>, table: u64, span: Span<'_>) -> Result<u64, Fault> {
    places.retain(|(start, end)| start < end);
    places.sort_unstable();
    let mut end = table;
    for (start, next) in places {
        if start < end {
            let expected = format!("a code object behind {end:#x} of its bundle, found {start:#x}");
            return Err(Fault::malformed(span.offset(start), expected));
        }
        end = next;
    }
    Ok(end)
}
