//! A part of a file that is read only where it is looked at.

use super::{Fault, Reason, Span};
use object::read::ReadRef;
use std::ops::Range;

/// What is held of one thing at once: sizes are what an object says they are, and a file with holes backs any.
const MAX_LOAD: u64 = 1 << 30;
/// A section of HIP bundles, which is read whole. The libraries of all architectures stay below half of it.
const MAX_BUNDLES: u64 = 8 << 30;
/// A table of the ELF format. A million sections take 64 MiB.
const MAX_TABLE: u64 = 256 << 20;

/// `size` bytes of `data` from `start`. Code in the bulk of an image is never looked at, so in a
/// large object most bytes are not even read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Region<R> {
    data: R,
    start: u64,
    size: u64,
    base: u64,
}

impl<'data> Region<&'data [u8]> {
    /// Bytes in memory, whose offsets count from `base`.
    pub(crate) const fn of(bytes: &'data [u8], base: u64) -> Self {
        Self {
            data: bytes,
            start: 0,
            size: bytes.len() as u64,
            base,
        }
    }
}

impl<'data, R: ReadRef<'data>> Region<R> {
    /// `size` bytes of the file `data` from `start`.
    pub(crate) const fn in_file(data: R, start: u64, size: u64) -> Self {
        Self {
            data,
            start,
            size,
            base: start,
        }
    }

    pub(crate) const fn size(self) -> u64 {
        self.size
    }

    /// The file offset of `at`.
    pub(crate) const fn offset(self, at: u64) -> u64 {
        self.base.saturating_add(at)
    }

    /// `size` bytes from `at`, or a fault saying that `what` was expected there. Reads nothing.
    pub(crate) fn part(self, at: u64, size: u64, what: &str) -> Result<Self, Fault> {
        if at.checked_add(size).is_none_or(|end| end > self.size) {
            let left = self.size.saturating_sub(at);
            let expected = format!("{what} ({size} bytes, {left} left)");
            return Err(Fault::malformed(self.offset(at), expected));
        }
        let start = self.start.saturating_add(at);
        Ok(Self {
            data: self.data,
            start,
            size,
            base: self.offset(at),
        })
    }

    /// The bytes of a part.
    pub(crate) fn load(self, at: u64, size: u64, what: &str) -> Result<Span<'data>, Fault> {
        self.load_within(MAX_LOAD, at, size, what)
    }

    /// All bytes of a section of HIP bundles.
    pub(crate) fn bundles(self) -> Result<Span<'data>, Fault> {
        self.load_within(MAX_BUNDLES, 0, self.size, "a section of bundles")
    }

    fn load_within(self, limit: u64, at: u64, size: u64, what: &str) -> Result<Span<'data>, Fault> {
        let part = self.part(at, size, what)?;
        if size > limit {
            let expected = format!("{what} of at most {limit} bytes, found {size}");
            return Err(Fault::new(Reason::TooLarge, part.offset(0), expected));
        }
        let bytes = part.data.read_bytes_at(part.start, size).map_err(|()| {
            Fault::malformed(
                part.offset(0),
                format!("{what} ({size} bytes, not readable)"),
            )
        })?;
        Ok(Span::new(bytes, part.base))
    }

    /// All bytes.
    pub(crate) fn all(self, what: &str) -> Result<Span<'data>, Fault> {
        self.load(0, self.size, what)
    }
}

/// So that the ELF reader works on a region as on a file.
impl<'data, R: ReadRef<'data>> ReadRef<'data> for Region<R> {
    fn len(self) -> Result<u64, ()> {
        Ok(self.size)
    }

    fn read_bytes_at(self, offset: u64, size: u64) -> Result<&'data [u8], ()> {
        self.load_within(MAX_TABLE, offset, size, "")
            .map(Span::bytes)
            .map_err(|_| ())
    }

    fn read_bytes_at_until(self, range: Range<u64>, delimiter: u8) -> Result<&'data [u8], ()> {
        let end = range.end.min(self.size);
        let within = |at: u64| self.start.checked_add(at).ok_or(());
        if range.start > end {
            return Err(());
        }
        self.data
            .read_bytes_at_until(within(range.start)?..within(end)?, delimiter)
    }
}
