//! What is compared of a built file, and what it asks of the machine it runs on.

use kernrec_schemas::Digest;
use object::Endianness;
use object::elf::{DT_NEEDED, FileHeader64};
use object::read::elf::{FileHeader as _, SectionHeader as _, SectionTable};
use sha2::Digest as _;
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// Stands for the bytes that belong to no section: the ELF header, the tables and what fills the gaps.
pub(super) const OUTSIDE: &str = "outside-sections";

/// Libraries that a process must bring by itself: the one it has, or none.
const FOREIGN: [&str; 6] = [
    "libcupti",
    "libcuda",
    "libnvidia",
    "librocprofiler",
    "libamdhip",
    "libhsa-runtime",
];

/// A built file.
#[derive(Debug)]
pub(super) struct Image {
    pub(super) digests: Digests,
    /// Of each section the digest of what it holds in the file; none where the file is no ELF file.
    pub(super) sections: BTreeMap<String, Digest>,
    /// The libraries it is linked against.
    needed: Vec<String>,
    /// The versions of the C library's symbols it asks for.
    glibc: Vec<Floor>,
}

/// Why an ELF file is not taken.
#[derive(Debug, thiserror::Error)]
pub(super) enum BadElf {
    /// It is not what the format says.
    #[error(transparent)]
    Format(#[from] object::Error),
    /// Sections that overlap: a small file could claim content without end.
    #[error("its sections hold more than the file")]
    Overlap,
}

/// The digests of a whole file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Digests {
    pub(super) blake3: Digest,
    /// 64 hex digits.
    pub(super) sha256: String,
}

/// A version of the C library.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Floor(Vec<u32>);

impl FromStr for Floor {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let parts: Result<Vec<u32>, _> = text.split('.').map(str::parse).collect();
        parts.map(Self).map_err(|_| {
            format!("`{text}` is no version of the C library: expected 2.17 or the like")
        })
    }
}

impl fmt::Display for Floor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<String> = self.0.iter().map(u32::to_string).collect();
        f.write_str(&parts.join("."))
    }
}

impl Image {
    /// Reads a file. One that says it is ELF must be whole.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, BadElf> {
        let mut sha256 = sha2::Sha256::new();
        sha256.update(bytes);
        let mut image = Self {
            digests: Digests {
                blake3: Digest::of(bytes),
                sha256: hex(&sha256.finalize()),
            },
            sections: BTreeMap::new(),
            needed: Vec::new(),
            glibc: Vec::new(),
        };
        if bytes.starts_with(b"\x7fELF") {
            let header = FileHeader64::<Endianness>::parse(bytes)?;
            let endian = header.endian()?;
            let sections = header.sections(endian, bytes)?;
            image.sections = contents(&sections, endian, bytes)?;
            image.needed = needed(&sections, endian, bytes)?;
            image.glibc = glibc(&sections, endian, bytes)?;
        }
        Ok(image)
    }

    pub(super) fn newest_glibc(&self) -> Option<&Floor> {
        self.glibc.iter().max()
    }

    /// What keeps it from running where it is meant to.
    pub(super) fn unportable(&self, floor: &Floor) -> Vec<String> {
        let newer = self
            .newest_glibc()
            .filter(|newest| *newest > floor)
            .map(|newest| format!("glibc-{newest}"));
        let foreign = self
            .needed
            .iter()
            .filter(|name| FOREIGN.iter().any(|foreign| name.starts_with(foreign)))
            .map(|name| format!("linked-against-{name}"));
        newer.into_iter().chain(foreign).collect()
    }
}

type Sections<'data> = SectionTable<'data, FileHeader64<Endianness>, &'data [u8]>;

fn contents(
    sections: &Sections<'_>,
    endian: Endianness,
    bytes: &[u8],
) -> Result<BTreeMap<String, Digest>, BadElf> {
    let mut found = BTreeMap::new();
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    let mut left = bytes.len();
    for section in sections.iter() {
        let name = String::from_utf8_lossy(sections.section_name(endian, section)?).into_owned();
        if name.is_empty() {
            continue;
        }
        let content = section.data(endian, bytes)?;
        // Each byte is hashed once, however many sections claim it.
        left = left.checked_sub(content.len()).ok_or(BadElf::Overlap)?;
        // Several sections of one name are told apart by their order.
        let number = seen.entry(name.clone()).or_default();
        *number += 1;
        let name = match *number {
            1 => name,
            number => format!("{name}#{number}"),
        };
        found.insert(name, Digest::of(content));
    }
    Ok(found)
}

fn needed(
    sections: &Sections<'_>,
    endian: Endianness,
    bytes: &[u8],
) -> Result<Vec<String>, object::Error> {
    let Some((entries, strings)) = sections.dynamic(endian, bytes)? else {
        return Ok(Vec::new());
    };
    let strings = sections.strings(endian, bytes, strings)?;
    let names = entries
        .iter()
        .filter(|entry| entry.d_tag.get(endian) == DT_NEEDED)
        .filter_map(|entry| u32::try_from(entry.d_val.get(endian)).ok())
        .filter_map(|offset| strings.get(offset).ok());
    Ok(names
        .map(|name| String::from_utf8_lossy(name).into_owned())
        .collect())
}

fn glibc(
    sections: &Sections<'_>,
    endian: Endianness,
    bytes: &[u8],
) -> Result<Vec<Floor>, object::Error> {
    let mut versions = Vec::new();
    let Some((mut libraries, strings)) = sections.gnu_verneed(endian, bytes)? else {
        return Ok(versions);
    };
    let strings = sections.strings(endian, bytes, strings)?;
    while let Some((_, mut symbols)) = libraries.next()? {
        while let Some(symbol) = symbols.next()? {
            let Ok(name) = symbol.name(endian, strings) else {
                continue;
            };
            let name = String::from_utf8_lossy(name);
            versions.extend(name.strip_prefix("GLIBC_").and_then(|v| v.parse().ok()));
        }
    }
    Ok(versions)
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
