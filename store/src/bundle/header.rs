//! The 512-byte header of one entry, in the only form a bundle has it: POSIX ustar (IEEE Std 1003.1, pax).
//!
//! A name and a size determine the whole header. Reading takes those two, makes the header they determine
//! and compares, so no field can say anything else.

use super::limits::MAX_ENTRY_BYTES;
use super::{Refusal, names};
use std::ops::Range;

/// The unit of a tar archive in bytes.
pub(super) const BLOCK: usize = 512;
/// One such unit.
pub(super) type Block = [u8; BLOCK];

const NAME: Range<usize> = 0..100;
const MODE: Range<usize> = 100..108;
const UID: Range<usize> = 108..116;
const GID: Range<usize> = 116..124;
const SIZE: Range<usize> = 124..136;
const MTIME: Range<usize> = 136..148;
const CHECKSUM: Range<usize> = 148..156;
const TYPE: usize = 156;
const LINK_NAME: Range<usize> = 157..257;
const MAGIC: Range<usize> = 257..265;
const OWNER_NAMES: Range<usize> = 265..329;
const DEVICE: Range<usize> = 329..345;
const PREFIX: Range<usize> = 345..500;

/// The content's length with the padding that follows it.
pub(super) const fn padded(size: u64) -> u64 {
    size.next_multiple_of(BLOCK as u64)
}

/// The header of an entry. The name must have passed [`names::check`], the size its bound.
pub(super) fn encode(name: &str, size: u64) -> Block {
    let mut block = [0; BLOCK];
    block[..name.len()].copy_from_slice(name.as_bytes());
    block[MODE].copy_from_slice(b"0000644\0");
    block[UID].copy_from_slice(b"0000000\0");
    block[GID].copy_from_slice(b"0000000\0");
    write_octal(&mut block[SIZE], size, 11);
    block[MTIME].copy_from_slice(b"00000000000\0");
    block[TYPE] = b'0';
    block[MAGIC].copy_from_slice(b"ustar\x0000");
    block[DEVICE].copy_from_slice(b"0000000\x000000000\0");
    let sum = checksum(&block);
    write_octal(&mut block[CHECKSUM], sum, 6);
    block[CHECKSUM.end - 1] = b' ';
    block
}

/// What the header of one entry says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry<'a> {
    pub(super) name: &'a str,
    pub(super) size: u64,
}

/// Reads a header, refusing everything but the canonical form of an allowed entry; the worst first.
pub(super) fn decode(block: &Block) -> Result<Entry<'_>, Refusal> {
    if octal(&block[CHECKSUM]) != Some(checksum(block)) {
        return Err(Refusal::HeaderChecksum);
    }
    regular(block[TYPE])?;
    if block[PREFIX][0] != 0 {
        // Put together as other readers would, so that the refusal fits what they see.
        names::check(&whole_name(block))?;
    }
    let name = names::check(until_nul(&block[NAME]))?;
    let size = size(&block[SIZE])?;
    if size > MAX_ENTRY_BYTES {
        return Err(Refusal::EntryTooLarge { found: size });
    }
    let canonical = encode(name, size);
    if *block == canonical {
        return Ok(Entry { name, size });
    }
    let differs = block.iter().zip(&canonical).position(|(a, b)| a != b);
    Err(Refusal::NotCanonical(field(differs.unwrap_or(BLOCK))))
}

/// The name in a header that may be anything, for an error message.
pub(super) fn shown_name(block: &Block) -> String {
    names::shown(&whole_name(block))
}

fn whole_name(block: &Block) -> Vec<u8> {
    let (prefix, name) = (until_nul(&block[PREFIX]), until_nul(&block[NAME]));
    if prefix.is_empty() {
        return name.to_vec();
    }
    [prefix, b"/", name].concat()
}

fn regular(kind: u8) -> Result<(), Refusal> {
    match kind {
        b'0' => Ok(()),
        b'\0' | b'7' => Err(Refusal::NotCanonical("the entry's type")),
        b'1' | b'2' => Err(Refusal::Link),
        b'3' | b'4' | b'6' => Err(Refusal::Device),
        b'5' => Err(Refusal::Directory),
        b'S' => Err(Refusal::Sparse),
        b'x' | b'X' | b'g' | b'L' | b'K' => Err(Refusal::Extension),
        other => Err(Refusal::UnknownType(other)),
    }
}

/// The size, octal or in the base-256 form of sizes from 8 GiB on; the latter saturates.
fn size(field: &[u8]) -> Result<u64, Refusal> {
    let malformed = Refusal::NotCanonical("the size");
    if field[0] & 0x80 == 0 {
        return octal(field).ok_or(malformed);
    }
    // Bit 6 of the first byte is the sign.
    if field[0] != 0x80 {
        return Err(malformed);
    }
    let wide = field[1..]
        .iter()
        .fold(0_u128, |value, &byte| value << 8 | u128::from(byte));
    Ok(u64::try_from(wide).unwrap_or(u64::MAX))
}

/// An octal number, ended by NUL or a space.
fn octal(field: &[u8]) -> Option<u64> {
    let digits = field
        .iter()
        .position(|&b| matches!(b, b'\0' | b' '))
        .unwrap_or(field.len());
    // At most twelve digits of three bits: no overflow.
    field[..digits].iter().try_fold(0, |value, &b| match b {
        b'0'..=b'7' => Some(value << 3 | u64::from(b - b'0')),
        _ => None,
    })
}

/// Writes `digits` octal digits; what follows them in the field stays NUL.
fn write_octal(field: &mut [u8], mut value: u64, digits: usize) {
    for digit in field[..digits].iter_mut().rev() {
        *digit = b'0' | (value & 7) as u8;
        value >>= 3;
    }
}

/// The sum of all bytes, those of the checksum itself counted as spaces.
fn checksum(block: &Block) -> u64 {
    let sum = |bytes: &[u8]| bytes.iter().map(|&b| u32::from(b)).sum::<u32>();
    let spaces = 8 * u32::from(b' ');
    u64::from(sum(&block[..CHECKSUM.start]) + spaces + sum(&block[CHECKSUM.end..]))
}

fn until_nul(field: &[u8]) -> &[u8] {
    let end = field.iter().position(|&b| b == 0).unwrap_or(field.len());
    &field[..end]
}

fn field(at: usize) -> &'static str {
    match at {
        _ if NAME.contains(&at) => "bytes after the name",
        _ if MODE.contains(&at) => "the mode is not 0644",
        _ if UID.contains(&at) || GID.contains(&at) => "the owner is not 0",
        _ if SIZE.contains(&at) => "the size",
        _ if MTIME.contains(&at) => "the time is not 0",
        _ if CHECKSUM.contains(&at) => "the form of the header's checksum",
        TYPE => "the entry's type",
        _ if LINK_NAME.contains(&at) => "a link name",
        _ if MAGIC.contains(&at) => "the header is not ustar",
        _ if OWNER_NAMES.contains(&at) => "an owner's name",
        _ if DEVICE.contains(&at) => "a device number",
        _ if PREFIX.contains(&at) => "a name in two parts",
        _ => "bytes after the header's fields",
    }
}
