//! Compressed bundles (`CCOB`), versions 1 to 3, zlib and zstd.
//!
//! | version | header |
//! | --- | --- |
//! | 1 | magic, u16 version, u16 method, u32 uncompressed size, u64 hash: 20 bytes; the size of the compressed bytes is not recorded |
//! | 2 | ..., u32 file size, u32 uncompressed size, u64 hash: 24 bytes |
//! | 3 | ..., u64 file size, u64 uncompressed size, u64 hash: 32 bytes |
//!
//! The file size counts the header; the hash is the first half of the content's MD5.

use crate::input::{Budget, Fault, Reason, Span};
use md5::{Digest, Md5};
use std::io::Read;

/// What a compressed bundle starts with.
pub(crate) const MAGIC: &[u8; 4] = b"CCOB";

struct Header {
    method: u16,
    length: u64,
    /// Header and compressed bytes; `None` where version 1 does not say.
    whole: Option<u64>,
    size: u64,
    hash: [u8; 8],
}

/// The bundle that `span` starts with, decompressed, and how many bytes of `span` it takes.
pub(crate) fn unpack(span: Span<'_>, budget: &mut Budget) -> Result<(Vec<u8>, u64), Fault> {
    let header = header(span)?;
    let offset = span.offset(0);
    let whole = header.whole.unwrap_or_else(|| span.len());
    let Some(stored) = whole.checked_sub(header.length) else {
        let expected = format!("a bundle of {} bytes or more, found {whole}", header.length);
        return Err(Fault::malformed(offset, expected));
    };
    let payload = span.slice(header.length, stored, "a whole compressed bundle")?;
    let size = budget.take(header.size, offset)?;
    let (content, used) = match header.method {
        0 => zlib(payload, size)?,
        1 => zstd(payload, size)?,
        other => {
            let expected = format!("compression 0 (zlib) or 1 (zstd), found {other}");
            return Err(Fault::new(Reason::Unsupported, offset, expected));
        }
    };
    if content.len() != size {
        let expected = format!(
            "a bundle that decompresses to {size} bytes, not {}",
            content.len()
        );
        return Err(Fault::new(Reason::BadCompression, offset, expected));
    }
    if Md5::digest(&content)[..8] != header.hash {
        return Err(Fault::new(
            Reason::BadCompression,
            offset,
            "content of the hash in the header",
        ));
    }
    Ok((content, header.whole.unwrap_or(header.length + used)))
}

fn header(span: Span<'_>) -> Result<Header, Fault> {
    let version = span.u16(4, "a compressed bundle's version")?;
    let method = span.u16(6, "a compressed bundle's method")?;
    let what = "a compressed bundle's size";
    let (length, whole, size) = match version {
        1 => (20, None, u64::from(span.u32(8, what)?)),
        2 => (
            24,
            Some(u64::from(span.u32(8, what)?)),
            u64::from(span.u32(12, what)?),
        ),
        3 => (32, Some(span.u64(8, what)?), span.u64(16, what)?),
        other => {
            let expected = format!("a compressed bundle of version 1 to 3, found {other}");
            return Err(Fault::new(Reason::Unsupported, span.offset(4), expected));
        }
    };
    let hash = span
        .u64(length - 8, "a compressed bundle's hash")?
        .to_le_bytes();
    Ok(Header {
        method,
        length,
        whole,
        size,
        hash,
    })
}

/// Content and compressed bytes used. Reads one byte more than announced, so that a longer stream is seen.
fn zlib(payload: Span<'_>, size: usize) -> Result<(Vec<u8>, u64), Fault> {
    let mut decoder = flate2::bufread::ZlibDecoder::new(payload.bytes());
    let content = read_all(&mut decoder, payload, size)?;
    let used = decoder.total_in();
    Ok((content, used))
}

fn zstd(payload: Span<'_>, size: usize) -> Result<(Vec<u8>, u64), Fault> {
    let mut rest = payload.bytes();
    let broken = |error: std::io::Error| broken(payload, &error);
    let mut decoder = zstd::stream::read::Decoder::with_buffer(&mut rest)
        .map_err(broken)?
        .single_frame();
    let content = read_all(&mut decoder, payload, size)?;
    drop(decoder);
    Ok((content, payload.len() - rest.len() as u64))
}

fn read_all(decoder: &mut dyn Read, payload: Span<'_>, size: usize) -> Result<Vec<u8>, Fault> {
    let mut content = Vec::with_capacity(size);
    let limit = size as u64 + 1;
    decoder
        .take(limit)
        .read_to_end(&mut content)
        .map_err(|error| broken(payload, &error))?;
    Ok(content)
}

fn broken(payload: Span<'_>, error: &std::io::Error) -> Fault {
    let expected = format!("a compressed bundle's content ({error})");
    Fault::new(Reason::BadCompression, payload.offset(0), expected)
}
