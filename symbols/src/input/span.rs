//! A bounded view of bytes that knows its offset in the file.

use super::Fault;

/// Bytes and where they start. Every access is checked; none panics.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Span<'a> {
    bytes: &'a [u8],
    base: u64,
}

impl<'a> Span<'a> {
    /// `bytes`, which start at offset `base` of the file.
    pub(crate) const fn new(bytes: &'a [u8], base: u64) -> Self {
        Self { bytes, base }
    }

    pub(crate) const fn bytes(self) -> &'a [u8] {
        self.bytes
    }

    pub(crate) const fn len(self) -> u64 {
        self.bytes.len() as u64
    }

    /// The file offset of `at`.
    pub(crate) const fn offset(self, at: u64) -> u64 {
        self.base.saturating_add(at)
    }

    /// `size` bytes from `at`, or a fault saying that `what` was expected there.
    pub(crate) fn slice(self, at: u64, size: u64, what: &str) -> Result<Self, Fault> {
        let range = at
            .checked_add(size)
            .and_then(|end| Some(usize::try_from(at).ok()?..usize::try_from(end).ok()?));
        range
            .and_then(|range| self.bytes.get(range))
            .map(|bytes| Self {
                bytes,
                base: self.offset(at),
            })
            .ok_or_else(|| {
                let left = self.len().saturating_sub(at);
                Fault::malformed(
                    self.offset(at),
                    format!("{what} ({size} bytes, {left} left)"),
                )
            })
    }

    pub(crate) fn u16(self, at: u64, what: &str) -> Result<u16, Fault> {
        self.array(at, what).map(u16::from_le_bytes)
    }

    pub(crate) fn u32(self, at: u64, what: &str) -> Result<u32, Fault> {
        self.array(at, what).map(u32::from_le_bytes)
    }

    pub(crate) fn u64(self, at: u64, what: &str) -> Result<u64, Fault> {
        self.array(at, what).map(u64::from_le_bytes)
    }

    fn array<const N: usize>(self, at: u64, what: &str) -> Result<[u8; N], Fault> {
        let slice = self.slice(at, N as u64, what)?;
        slice
            .bytes
            .try_into()
            .map_err(|_| Fault::malformed(self.offset(at), what))
    }
}
