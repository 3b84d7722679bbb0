//! How much a bundle may hold. Packing and reading apply the same bounds.

/// The most entries, `bundle.json` included (design: limits on hostile input).
pub const MAX_ENTRIES: u64 = 200_000;

/// The largest archive in bytes, uncompressed: 4 GiB (design: limits on hostile input).
pub const MAX_BUNDLE_BYTES: u64 = 4 << 30;

/// The largest single entry in bytes: 256 MiB.
///
/// An entry is handed over whole, so this bounds the memory of a reader. A healthy recording names each
/// kernel once, and 256 MiB are half of what a kernel table of all steps may have; the rest is room for an
/// unhealthy recorder that repeats itself, whose names must not be lost. Memory is taken as bytes arrive,
/// never because a header claims them.
pub const MAX_ENTRY_BYTES: u64 = 256 << 20;

/// The longest entry name in bytes: what a ustar header holds without an extension record.
///
/// Recorders write `kern.<pid>.txt`, at most 19 bytes. With this bound no entry needs an extension record,
/// and every such record can be refused: they are how archives change names and sizes behind a header.
pub const MAX_NAME_BYTES: usize = 100;

/// The largest window, as a power of two, that decompression may need: 8 MiB, what RFC 8878 asks every
/// decoder to support. Level 3, which the packer uses, needs 2 MiB.
pub(super) const WINDOW_LOG_MAX: u32 = 23;
