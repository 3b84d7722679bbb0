//! Why the content of a bundle is refused, and where.

use super::limits::{
    MAX_BUNDLE_BYTES, MAX_ENTRIES, MAX_ENTRY_BYTES, MAX_NAME_BYTES, WINDOW_LOG_MAX,
};
use kernrec_schemas::{Digest, DocumentError};
use std::fmt;

/// A position in a bundle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// This many bytes into the compressed file.
    Compressed(u64),
    /// This many bytes into the uncompressed archive.
    Archive(u64),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Compressed(at) => write!(f, "byte {at} of the compressed file"),
            Self::Archive(at) => write!(f, "byte {at} of the archive"),
        }
    }
}

/// What is wrong with a bundle.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// It does not start as a zstd frame.
    #[error("not a zstd frame")]
    NotZstd,
    /// The frame's header lacks or has what a bundle's must not.
    #[error("{0}")]
    FrameHeader(&'static str),
    /// The frame needs a larger window than any bundle does.
    #[error("the frame needs a window of {found} bytes, more than {}", 1_u64 << WINDOW_LOG_MAX)]
    Window {
        /// The window claimed, in bytes.
        found: u64,
    },
    /// The frame claims more content than a bundle may have.
    #[error("the frame claims {found} bytes of content, more than {MAX_BUNDLE_BYTES}")]
    BundleTooLarge {
        /// The size claimed, in bytes.
        found: u64,
    },
    /// The compressed data is damaged, or its checksum does not match.
    #[error("damaged: {0}")]
    Damaged(&'static str),
    /// The file or the archive ends before it should.
    #[error("cut short")]
    Truncated,
    /// Something follows the end of the archive or of the frame.
    #[error("data after the end")]
    TrailingData,
    /// The block is no tar header.
    #[error("no tar header: its checksum does not match")]
    HeaderChecksum,
    /// A symbolic or hard link.
    #[error("the entry is a link")]
    Link,
    /// A directory.
    #[error("the entry is a directory")]
    Directory,
    /// A device or a FIFO.
    #[error("the entry is a device or a FIFO")]
    Device,
    /// A sparse file.
    #[error("the entry is a sparse file")]
    Sparse,
    /// A pax or GNU record that changes what the next header says.
    #[error("an extension record, which can change names and sizes")]
    Extension,
    /// A type of entry that tar does not define.
    #[error("the entry has the unknown type {0:#04x}")]
    UnknownType(u8),
    /// A name that starts with `/`.
    #[error("the name is absolute")]
    AbsoluteName,
    /// A name with a `..` in it.
    #[error("the name has a `..` in it")]
    ParentName,
    /// A name with a folder in it.
    #[error("the name has a folder in it")]
    NestedName,
    /// A name longer than any entry's.
    #[error("the name has more than {MAX_NAME_BYTES} bytes")]
    NameTooLong,
    /// A name that no entry has.
    #[error(
        "the name is none of `bundle.json`, `kernrec.json`, `kern.*.txt`, `fnrec.json`, `fn.*.txt`, `pytest.installed`, `pytest.*.jsonl`, `pytest.<pid>.txt`, `setup.log`, `preflight.log`"
    )]
    NameNotAllowed,
    /// The name occurred before.
    #[error("the name occurs twice")]
    DuplicateName,
    /// The name sorts before its predecessor's.
    #[error("the names are not in order")]
    Unsorted,
    /// More entries than a bundle may have.
    #[error("more than {MAX_ENTRIES} entries")]
    TooManyEntries,
    /// An entry larger than any may be.
    #[error("the entry claims {found} bytes, more than {MAX_ENTRY_BYTES}")]
    EntryTooLarge {
        /// The size claimed, in bytes.
        found: u64,
    },
    /// A header or padding that differs from the canonical form.
    #[error("not in canonical form: {0}")]
    NotCanonical(&'static str),
    /// The first entry is not `bundle.json`.
    #[error("the first entry is not `bundle.json`")]
    NoMeta,
    /// `bundle.json` is not acceptable.
    #[error("{0}")]
    Meta(#[source] DocumentError),
    /// Neither a sidecar nor a recording.
    #[error("neither a sidecar nor a recording in it")]
    Empty,
    /// The file is named by another digest.
    #[error("the file is named by {named}, its content has {found}")]
    DigestMismatch {
        /// The digest in the file's name.
        named: Digest,
        /// The digest of its content.
        found: Digest,
    },
}

impl Refusal {
    /// The stable word for machines.
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::NotZstd => "not-a-bundle",
            Self::FrameHeader(_) => "frame-header",
            Self::Window { .. } => "window-too-large",
            Self::BundleTooLarge { .. } => "bundle-too-large",
            Self::Damaged(_) => "bundle-damaged",
            Self::Truncated => "bundle-truncated",
            Self::TrailingData => "trailing-data",
            Self::HeaderChecksum => "header-checksum",
            Self::Link => "link-entry",
            Self::Directory => "directory-entry",
            Self::Device => "device-entry",
            Self::Sparse => "sparse-entry",
            Self::Extension => "extension-record",
            Self::UnknownType(_) => "unknown-entry-type",
            Self::AbsoluteName => "absolute-name",
            Self::ParentName => "parent-name",
            Self::NestedName => "nested-name",
            Self::NameTooLong => "name-too-long",
            Self::NameNotAllowed => "name-not-allowed",
            Self::DuplicateName => "duplicate-name",
            Self::Unsorted => "unsorted-names",
            Self::TooManyEntries => "too-many-entries",
            Self::EntryTooLarge { .. } => "entry-too-large",
            Self::NotCanonical(_) => "not-canonical",
            Self::NoMeta => "no-bundle-json",
            Self::Meta(_) => "bundle-json-refused",
            Self::Empty => "bundle-empty",
            Self::DigestMismatch { .. } => "digest-mismatch",
        }
    }
}
