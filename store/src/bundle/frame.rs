//! The header of the zstd frame (RFC 8878, section 3.1.1.1), checked before anything is decompressed.

use super::Refusal;
use super::limits::{MAX_BUNDLE_BYTES, WINDOW_LOG_MAX};

/// The longest frame header in bytes.
pub(super) const MAX_HEADER: usize = 18;

const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// The content size the frame declares.
///
/// Also refuses what zstd itself would take and a bundle never has: no checksum, no size, a dictionary, a
/// window beyond [`WINDOW_LOG_MAX`], and set bits that the format leaves without meaning (a decoder ignores
/// one of them, so nothing else would notice it).
pub(super) fn content_size(head: &[u8]) -> Result<u64, Refusal> {
    if !head.starts_with(&MAGIC) {
        let cut = head.len() < MAGIC.len() && MAGIC.starts_with(head);
        return Err(if cut {
            Refusal::Truncated
        } else {
            Refusal::NotZstd
        });
    }
    let descriptor = *head.get(4).ok_or(Refusal::Truncated)?;
    let single_segment = flags(descriptor)?;
    let size_at = if single_segment { 5 } else { 6 };
    let size = little_endian(head, size_at, descriptor >> 6)?;
    if size > MAX_BUNDLE_BYTES {
        return Err(Refusal::BundleTooLarge { found: size });
    }
    let window = if single_segment {
        size
    } else {
        window(head[5])?
    };
    if window > 1 << WINDOW_LOG_MAX {
        return Err(Refusal::Window { found: window });
    }
    Ok(size)
}

/// Checks the descriptor; true when the content is one segment, which is then its own window.
fn flags(descriptor: u8) -> Result<bool, Refusal> {
    if descriptor & 0b0001_1000 != 0 {
        return Err(Refusal::FrameHeader(
            "the frame header has a reserved bit set",
        ));
    }
    if descriptor & 0b0000_0011 != 0 {
        return Err(Refusal::FrameHeader("the frame needs a dictionary"));
    }
    if descriptor & 0b0000_0100 == 0 {
        return Err(Refusal::FrameHeader("the frame has no checksum"));
    }
    let single_segment = descriptor & 0b0010_0000 != 0;
    if descriptor >> 6 == 0 && !single_segment {
        return Err(Refusal::FrameHeader(
            "the frame does not say how large its content is",
        ));
    }
    Ok(single_segment)
}

/// The content size, in the width that the descriptor's two highest bits say.
fn little_endian(head: &[u8], at: usize, width: u8) -> Result<u64, Refusal> {
    let (bytes, offset) = match width {
        0 => (1, 0),
        1 => (2, 256),
        2 => (4, 0),
        _ => (8, 0),
    };
    let field = head.get(at..at + bytes).ok_or(Refusal::Truncated)?;
    let value = field
        .iter()
        .rev()
        .fold(0_u64, |value, &byte| value << 8 | u64::from(byte));
    Ok(value.saturating_add(offset))
}

/// The window in bytes. Compressors only write powers of two, so the other eighths are refused.
fn window(descriptor: u8) -> Result<u64, Refusal> {
    if descriptor & 0b111 != 0 {
        return Err(Refusal::FrameHeader(
            "the frame's window is no power of two",
        ));
    }
    Ok(1 << (10 + (descriptor >> 3)))
}
