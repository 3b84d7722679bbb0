//! What is wrong with an object, and where.

use std::fmt;

/// Why an object's device code cannot be read, as a stable word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// A structure ends past its container, or a value is none that the format knows.
    Malformed,
    /// A compressed payload that does not decompress to what its header says.
    BadCompression,
    /// A size above what is read (decompression bombs included).
    TooLarge,
    /// A kind, version or compression this reader does not know.
    Unsupported,
    /// Link-time-optimisation code with no readable code of the same architecture beside it.
    LtoOnly,
    /// Device code that is present but yields no readable entry.
    NoReadableEntry,
    /// HIP relocatable device code (`-fgpu-rdc`): its kernels are known only after the device link.
    RelocatableDeviceCode,
    /// LLVM bitcode where a code object was expected.
    Bitcode,
    /// A code object built for another target than its bundle entry says.
    TargetMismatch,
    /// Kernel descriptors and the metadata note's kernel list differ.
    DescriptorMismatch,
}

impl Reason {
    /// The stable word that reports carry.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Malformed => "malformed",
            Self::BadCompression => "bad-compression",
            Self::TooLarge => "too-large",
            Self::Unsupported => "unsupported",
            Self::LtoOnly => "lto-only",
            Self::NoReadableEntry => "no-readable-entry",
            Self::RelocatableDeviceCode => "relocatable-device-code",
            Self::Bitcode => "bitcode",
            Self::TargetMismatch => "target-mismatch",
            Self::DescriptorMismatch => "descriptor-mismatch",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// A defect at a place. Turned into an [`ObjectError`](crate::ObjectError) where the object's name is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) reason: Reason,
    /// Offset in the file, or in the image a compressed payload decompresses to (see `inside`).
    pub(crate) offset: u64,
    pub(crate) expected: String,
}

impl Fault {
    pub(crate) fn new(reason: Reason, offset: u64, expected: impl Into<String>) -> Self {
        Self {
            reason,
            offset,
            expected: expected.into(),
        }
    }

    pub(crate) fn malformed(offset: u64, expected: impl Into<String>) -> Self {
        Self::new(Reason::Malformed, offset, expected)
    }

    /// Restates a fault found in a decompressed image as one of the file's entry at `offset`.
    pub(crate) fn inside(self, offset: u64) -> Self {
        let expected = format!(
            "{} (at {:#x} of the decompressed image)",
            self.expected, self.offset
        );
        Self {
            reason: self.reason,
            offset,
            expected,
        }
    }
}
