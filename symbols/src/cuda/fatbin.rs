//! The walk over a section's containers and their entries.
//!
//! A container is a 16-byte header (magic, version 1, header size, size of what follows) and
//! entries back to back. An entry is a header of its own size (64 bytes and options) and a payload
//! padded to 8 bytes. Linkers concatenate containers and may pad between them with zeros.

use crate::input::{Fault, Reason, Region, Span};
use object::read::ReadRef;

const MAGIC: u32 = 0xBA55_ED50;
const CONTAINER_HEADER: u64 = 16;
const ENTRY_HEADER: u64 = 64;
/// How much padding is read at a time.
const PADDING_CHUNK: u64 = 4096;
/// Linkers pad to an alignment, which is far less. What is read of a file is held until its end: a hole is not.
const MAX_PADDING: u64 = 16 << 20;
/// Longer headers hold the command line's options; `nvcc` writes at most a few KiB of them.
const MAX_ENTRY_HEADER: u64 = 1 << 20;

/// Bits of an entry's flags.
const FLAG_LZ4: u64 = 0x2000;
const FLAG_ZSTD: u64 = 0x8000;

/// What an entry holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Ptx,
    Elf,
    /// NVVM intermediate code for link-time optimisation; obfuscated, so never read.
    Lto,
}

/// How an entry's payload is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Packing {
    Plain,
    /// A raw LZ4 block.
    Lz4 {
        size: u64,
    },
    /// A zstd frame.
    Zstd {
        size: u64,
    },
}

/// One image of a container.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry<R> {
    pub(crate) kind: Kind,
    pub(crate) packing: Packing,
    /// Compute capability times ten (90 for `sm_90`).
    pub(crate) arch: u32,
    pub(crate) payload: Region<R>,
    /// File offset of the entry's header.
    pub(crate) offset: u64,
}

/// The containers of a section, in order: each is the list of its entries.
pub(crate) fn containers<'data, R: ReadRef<'data>>(
    section: Region<R>,
) -> Result<Vec<Vec<Entry<R>>>, Fault> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(next) = skip_zeros(section, at)? {
        let (container, size) = container(section, next)?;
        found.push(entries(container)?);
        at = next + size;
    }
    Ok(found)
}

/// The next byte that is no padding, `None` at the end.
fn skip_zeros<'data, R: ReadRef<'data>>(
    section: Region<R>,
    mut at: u64,
) -> Result<Option<u64>, Fault> {
    // Most containers follow each other without padding.
    let mut look = CONTAINER_HEADER;
    let start = at;
    while at < section.size() {
        if at - start > MAX_PADDING {
            let expected = format!("at most {MAX_PADDING} bytes of padding");
            return Err(Fault::malformed(section.offset(start), expected));
        }
        let chunk = section.load(at, look.min(section.size() - at), "padding")?;
        if let Some(zeros) = chunk.bytes().iter().position(|&byte| byte != 0) {
            return Ok(Some(at + zeros as u64));
        }
        at += chunk.len();
        look = PADDING_CHUNK;
    }
    Ok(None)
}

fn container<'data, R: ReadRef<'data>>(
    section: Region<R>,
    at: u64,
) -> Result<(Region<R>, u64), Fault> {
    let header = section.load(at, CONTAINER_HEADER, "a fat binary header")?;
    let magic = header.u32(0, "a fat binary's magic")?;
    if magic != MAGIC {
        let expected = format!("a fat binary's magic {MAGIC:#x}, found {magic:#x}");
        return Err(Fault::malformed(header.offset(0), expected));
    }
    let version = header.u16(4, "a fat binary's version")?;
    if version != 1 {
        let expected = format!("fat binary version 1, found {version}");
        return Err(Fault::new(Reason::Unsupported, header.offset(4), expected));
    }
    let start = u64::from(header.u16(6, "a fat binary's header size")?);
    if start < CONTAINER_HEADER {
        return Err(Fault::malformed(
            header.offset(6),
            "a header size of 16 or more",
        ));
    }
    let size = header.u64(8, "a fat binary's size")?;
    let whole = start
        .checked_add(size)
        .ok_or_else(|| Fault::malformed(header.offset(8), "a size that does not overflow"))?;
    section.part(at, whole, "a whole fat binary")?;
    Ok((
        section.part(at + start, size, "a fat binary's entries")?,
        whole,
    ))
}

fn entries<'data, R: ReadRef<'data>>(container: Region<R>) -> Result<Vec<Entry<R>>, Fault> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < container.size() {
        let (entry, size) = entry(container, at)?;
        found.push(entry);
        at += size;
    }
    Ok(found)
}

fn entry<'data, R: ReadRef<'data>>(
    container: Region<R>,
    at: u64,
) -> Result<(Entry<R>, u64), Fault> {
    let header = container.load(at, ENTRY_HEADER, "a fat binary entry's header")?;
    let offset = header.offset(0);
    let header_size = u64::from(header.u32(4, "an entry's header size")?);
    if !(ENTRY_HEADER..=MAX_ENTRY_HEADER).contains(&header_size) {
        let expected = format!("an entry header of 64 bytes or more, found {header_size}");
        return Err(Fault::malformed(header.offset(4), expected));
    }
    let padded = header.u64(8, "an entry's payload size")?;
    container.part(at, header_size, "an entry's whole header")?;
    let payload = container.part(at + header_size, padded, "an entry's payload")?;
    let (packing, used) = packing(header, padded)?;
    let entry = Entry {
        kind: kind(header.u16(0, "an entry's kind")?, offset)?,
        packing,
        arch: header.u32(28, "an entry's architecture")?,
        payload: payload.part(0, used, "an entry's compressed payload")?,
        offset,
    };
    Ok((entry, header_size + padded))
}

fn kind(word: u16, offset: u64) -> Result<Kind, Fault> {
    match word {
        1 => Ok(Kind::Ptx),
        // 16 is an ELF image too, of architectures with relocatable final code.
        2 | 16 => Ok(Kind::Elf),
        8 => Ok(Kind::Lto),
        other => {
            let expected =
                format!("an entry of kind 1 (PTX), 2 or 16 (ELF), 8 (LTO), found {other}");
            Err(Fault::new(Reason::Unsupported, offset, expected))
        }
    }
}

/// How the payload is packed, and how many of its `padded` bytes are used.
fn packing(header: Span<'_>, padded: u64) -> Result<(Packing, u64), Fault> {
    let compressed = u64::from(header.u32(16, "an entry's compressed size")?);
    let flags = header.u64(40, "an entry's flags")?;
    let size = header.u64(56, "an entry's uncompressed size")?;
    let used = if compressed == 0 { padded } else { compressed };
    if used > padded {
        let expected = format!("a compressed size of at most {padded}, found {compressed}");
        return Err(Fault::malformed(header.offset(16), expected));
    }
    match (flags & FLAG_LZ4 != 0, flags & FLAG_ZSTD != 0) {
        (false, false) => Ok((Packing::Plain, padded)),
        (true, false) => Ok((Packing::Lz4 { size }, used)),
        (false, true) => Ok((Packing::Zstd { size }, used)),
        (true, true) => Err(Fault::malformed(
            header.offset(40),
            "one compression, found LZ4 and zstd",
        )),
    }
}
