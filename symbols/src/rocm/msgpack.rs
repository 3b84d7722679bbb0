//! The `MessagePack` subset walk that the metadata note needs: visit, skip, bounded depth.

use crate::input::{Fault, Span};

/// Deeper nesting than any code object's metadata (which has four levels).
const MAX_DEPTH: u32 = 32;

/// A value's head; containers' elements follow it in the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Head<'a> {
    Text(&'a [u8]),
    Map(u32),
    Array(u32),
    /// Numbers, booleans, nil, bytes, extensions: nothing the metadata's kernel list needs.
    Other,
}

/// A reader at a place of the stream.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reader<'a> {
    span: Span<'a>,
    at: u64,
}

impl<'a> Reader<'a> {
    pub(crate) const fn new(span: Span<'a>) -> Self {
        Self { span, at: 0 }
    }

    /// The file offset of the next value.
    pub(crate) const fn offset(&self) -> u64 {
        self.span.offset(self.at)
    }

    /// Reads one head; a scalar is consumed whole.
    pub(crate) fn head(&mut self) -> Result<Head<'a>, Fault> {
        let start = self.offset();
        let tag = self.number(1)?;
        match tag {
            0x80..=0x8f => Ok(Head::Map(low(tag, 0x0f))),
            0x90..=0x9f => Ok(Head::Array(low(tag, 0x0f))),
            0xa0..=0xbf => self.text(tag & 0x1f),
            0x00..=0x7f | 0xe0..=0xff | 0xc0 | 0xc2 | 0xc3 => Ok(Head::Other),
            0xc4..=0xc6 => self.sized(1 << (tag - 0xc4), 0),
            0xc7..=0xc9 => self.sized(1 << (tag - 0xc7), 1),
            0xca | 0xce | 0xd2 => self.skip_bytes(4),
            0xcb | 0xcf | 0xd3 => self.skip_bytes(8),
            0xcc | 0xd0 => self.skip_bytes(1),
            0xcd | 0xd1 => self.skip_bytes(2),
            0xd4..=0xd8 => self.skip_bytes((1 << (tag - 0xd4)) + 1),
            0xd9..=0xdb => {
                let length = self.number(1 << (tag - 0xd9))?;
                self.text(length)
            }
            0xdc | 0xdd => Ok(Head::Array(low(self.number(2 << (tag - 0xdc))?, u64::MAX))),
            0xde | 0xdf => Ok(Head::Map(low(self.number(2 << (tag - 0xde))?, u64::MAX))),
            _ => Err(Fault::malformed(
                start,
                format!("a MessagePack value, found tag {tag:#x}"),
            )),
        }
    }

    /// Skips one whole value.
    pub(crate) fn skip(&mut self) -> Result<(), Fault> {
        self.skip_below(MAX_DEPTH)
    }

    fn skip_below(&mut self, depth: u32) -> Result<(), Fault> {
        let start = self.offset();
        let elements = match self.head()? {
            Head::Map(pairs) => u64::from(pairs) * 2,
            Head::Array(items) => u64::from(items),
            Head::Text(_) | Head::Other => return Ok(()),
        };
        let Some(depth) = depth.checked_sub(1) else {
            let expected = format!("at most {MAX_DEPTH} levels of MessagePack");
            return Err(Fault::malformed(start, expected));
        };
        // Each element takes a byte at least, so a hostile count ends at the end of the note.
        (0..elements).try_for_each(|_| self.skip_below(depth))
    }

    /// A value of `width` bytes of length, then that many bytes and `extra`.
    fn sized(&mut self, width: u64, extra: u64) -> Result<Head<'a>, Fault> {
        let length = self.number(width)?;
        self.skip_bytes(length.saturating_add(extra))
    }

    fn skip_bytes(&mut self, count: u64) -> Result<Head<'a>, Fault> {
        self.span.slice(self.at, count, "a MessagePack value")?;
        self.at += count;
        Ok(Head::Other)
    }

    fn text(&mut self, length: u64) -> Result<Head<'a>, Fault> {
        let text = self.span.slice(self.at, length, "a MessagePack text")?;
        self.at += length;
        Ok(Head::Text(text.bytes()))
    }

    /// A big-endian number of `width` (at most 8) bytes.
    fn number(&mut self, width: u64) -> Result<u64, Fault> {
        let bytes = self.span.slice(self.at, width, "a MessagePack number")?;
        self.at += width;
        Ok(bytes
            .bytes()
            .iter()
            .fold(0, |number, &byte| (number << 8) | u64::from(byte)))
    }
}

/// The low bits of a count; counts have at most 32 bits in the format.
fn low(number: u64, mask: u64) -> u32 {
    u32::try_from(number & mask).unwrap_or(u32::MAX)
}
