//! One zstd frame, decoded and hashed in a single pass, bounded.

use super::output::{Kept, Output, Passing};
use crate::{Key, Store, StoreError};
use kernrec_schemas::Digest;
use kernrec_schemas::id::Hasher;
use std::io::{self, BufRead, BufReader, Read, Write};

/// With the window of level 3, level 1 makes the map of a real project as small as that (44 kB), in less time. Where names
/// do not repeat its output is smaller, in a third of the time, and takes half as long to read. Level 9 would save another
/// 10 kB of that map in eight times the time.
const LEVEL: i32 = 1;
/// 2 MiB: the repetitions of a map, lists of the same headers, lie far apart.
const WINDOW_LOG: u32 = 21;
const CHUNK: usize = 128 * 1024;
/// The longest zstd frame header.
const HEADER_BYTES: usize = 18;
const UNUSED_BIT: u8 = 1 << 4;
const CHECKSUM_BIT: u8 = 1 << 2;

/// Why a frame was refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FrameError {
    /// The source could not be read, or what it holds is no whole zstd frame.
    #[error("read: {0}")]
    Read(#[source] io::Error),
    /// The copy of the compressed bytes could not be written.
    #[error("write: {0}")]
    Write(#[source] io::Error),
    /// The frame holds more than it may.
    #[error("more than {limit} bytes of content")]
    TooLarge {
        /// The bound in bytes.
        limit: u64,
    },
    /// The content is shorter than it must be.
    #[error("{found} bytes of content instead of {expected}")]
    Size {
        /// The size promised.
        expected: u64,
        /// The size found.
        found: u64,
    },
    /// The content is another one.
    #[error("content with the digest {found}")]
    Digest {
        /// The digest found.
        found: Digest,
    },
    /// The frame is not of the form that is written: content size and checksum present, nothing reserved set.
    #[error("a zstd frame header that kernrec does not write")]
    Header,
    /// Bytes after the frame.
    #[error("bytes after the end of the zstd frame")]
    Trailing,
}

impl FrameError {
    pub(super) fn in_store(self, store: &dyn Store, key: &Key, digest: &Digest) -> StoreError {
        let unavailable = |action, source| StoreError::Unavailable {
            url: store.url().to_owned(),
            key: key.to_string(),
            action,
            source: Box::new(source),
        };
        match self {
            // Nothing is wrong with the object: it is the copy that failed.
            Self::Write(source) => unavailable("copy", source),
            Self::Read(source) if source.kind() == io::ErrorKind::TimedOut => {
                StoreError::TimedOut {
                    url: store.url().to_owned(),
                    key: key.to_string(),
                    action: "read",
                    source: Box::new(source),
                }
            }
            Self::Read(source) if is_transport(&source) => unavailable("read", source),
            other => StoreError::damaged(store.url(), key, digest, other.to_string()),
        }
    }
}

/// zstd reports damaged frames as `Other` and short ones as `UnexpectedEof`; everything else is the transport.
fn is_transport(error: &io::Error) -> bool {
    !matches!(
        error.kind(),
        io::ErrorKind::Other | io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData
    )
}

/// Compresses a document: one frame, with content size and checksum.
///
/// # Panics
/// Never: compressing memory to memory fails only without memory.
#[expect(
    clippy::expect_used,
    reason = "compression of memory into memory has no I/O to fail"
)]
pub fn compress(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = zstd::bulk::Compressor::new(LEVEL).expect("level 1 exists");
    encoder
        .window_log(WINDOW_LOG)
        .expect("every build of the library has windows of this size");
    encoder.include_checksum(true).expect("the flag exists");
    encoder.include_contentsize(true).expect("the flag exists");
    encoder
        .compress(bytes)
        .expect("the output is sized by the compression bound")
}

/// Decodes a whole frame of exactly `size` bytes with this digest.
pub fn decode(reader: impl Read, digest: &Digest, size: u64) -> Result<Vec<u8>, FrameError> {
    decode_teed(reader, digest, size, &mut io::sink())
}

/// As [`decode`], copying the compressed bytes to `raw`.
pub fn decode_teed(
    reader: impl Read,
    digest: &Digest,
    size: u64,
    raw: &mut dyn Write,
) -> Result<Vec<u8>, FrameError> {
    let mut out = Kept::default();
    pass(reader, size, raw, &mut out).and_then(|found| compare(digest, &found, Some(size)))?;
    Ok(out.content())
}

/// Decodes a frame whose size is not known, up to `limit` bytes.
pub(super) fn decode_bounded(
    reader: impl Read,
    digest: &Digest,
    limit: u64,
) -> Result<Vec<u8>, FrameError> {
    let mut out = Kept::default();
    pass(reader, limit, &mut io::sink(), &mut out)
        .and_then(|found| compare(digest, &found, None))?;
    Ok(out.content())
}

/// Checks a frame without keeping its content.
pub(super) fn check(reader: impl Read, digest: &Digest, size: u64) -> Result<(), FrameError> {
    pass(reader, size, &mut io::sink(), &mut Passing::default())
        .and_then(|found| compare(digest, &found, Some(size)))
}

struct Found {
    digest: Digest,
    size: u64,
}

fn compare(digest: &Digest, found: &Found, size: Option<u64>) -> Result<(), FrameError> {
    if let Some(expected) = size.filter(|&size| size != found.size) {
        return Err(FrameError::Size {
            expected,
            found: found.size,
        });
    }
    if found.digest != *digest {
        return Err(FrameError::Digest {
            found: found.digest,
        });
    }
    Ok(())
}

/// One pass: compressed bytes to `raw`, content to `out` and into the hash, never more than `limit`.
fn pass(
    reader: impl Read,
    limit: u64,
    raw: &mut dyn Write,
    out: &mut impl Output,
) -> Result<Found, FrameError> {
    let mut tee = Tee {
        reader,
        raw,
        failed: None,
    };
    let result = decode_all(&mut tee, limit, out);
    match tee.failed {
        Some(error) => Err(FrameError::Write(error)),
        None => result,
    }
}

fn decode_all(
    mut source: impl Read,
    limit: u64,
    out: &mut impl Output,
) -> Result<Found, FrameError> {
    let head = header(&mut source)?;
    let promised = promised_size(&head)?;
    if promised > limit {
        return Err(FrameError::TooLarge { limit });
    }
    out.expect(promised);
    let source = BufReader::with_capacity(CHUNK, io::Cursor::new(head).chain(source));
    let mut decoder = zstd::Decoder::with_buffer(source)
        .map_err(FrameError::Read)?
        .single_frame();
    let (mut hasher, mut size) = (Hasher::new(), 0_u64);
    loop {
        let n = decoder.read(out.room()).map_err(FrameError::Read)?;
        if n == 0 {
            break;
        }
        size += n as u64;
        if size > limit {
            return Err(FrameError::TooLarge { limit });
        }
        // While the piece is still in the processor's cache.
        hasher.update(out.filled(n));
    }
    let mut rest = decoder.finish();
    if !rest.fill_buf().map_err(FrameError::Read)?.is_empty() {
        return Err(FrameError::Trailing);
    }
    Ok(Found {
        digest: hasher.digest(),
        size,
    })
}

/// The content size that a frame declares, from its first bytes.
pub(super) fn declared_size(mut source: impl Read) -> Result<u64, FrameError> {
    promised_size(&header(&mut source)?)
}

fn header(source: &mut impl Read) -> Result<Vec<u8>, FrameError> {
    let mut head = Vec::with_capacity(HEADER_BYTES);
    source
        .take(HEADER_BYTES as u64)
        .read_to_end(&mut head)
        .map_err(FrameError::Read)?;
    Ok(head)
}

/// The content size a frame header promises.
///
/// The decoder ignores the header's unused bit and accepts frames without size; a store holds neither, so
/// either is damage, found here because the content would still come out right (RFC 8878, 3.1.1.1.1).
fn promised_size(head: &[u8]) -> Result<u64, FrameError> {
    let cut_short = || FrameError::Read(io::ErrorKind::UnexpectedEof.into());
    let descriptor = *head.get(4).ok_or_else(cut_short)?;
    match zstd::zstd_safe::get_frame_content_size(head).ok().flatten() {
        Some(size) if descriptor & UNUSED_BIT == 0 && descriptor & CHECKSUM_BIT != 0 => Ok(size),
        _ => Err(FrameError::Header),
    }
}

/// Copies what is read; a failed copy ends the reading and is told apart from a failed read.
struct Tee<'a, R> {
    reader: R,
    raw: &'a mut dyn Write,
    failed: Option<io::Error>,
}

impl<R: Read> Read for Tee<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.reader.read(buffer)?;
        match self.raw.write_all(&buffer[..n]) {
            Ok(()) => Ok(n),
            Err(error) => {
                self.failed = Some(error);
                Err(io::Error::other("the copy failed"))
            }
        }
    }
}
