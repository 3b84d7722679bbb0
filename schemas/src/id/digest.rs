//! BLAKE3-256 of uncompressed content: the name of everything stored.

use super::InvalidId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

const RULE: &str = "`b3:` and 64 lower-case hex digits";

/// The BLAKE3-256 digest of a document's uncompressed bytes, written `b3:<64 hex>`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String", extend("pattern" = "^b3:[0-9a-f]{64}$"))]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }

    /// The 64 hex digits, without the `b3:` mark: the form used in file names.
    pub fn hex(&self) -> String {
        blake3::Hash::from_bytes(self.0).to_hex().to_string()
    }

    /// Reads the 64 hex digits of a file name.
    pub fn from_hex(hex: &str) -> Result<Self, InvalidId> {
        let lower = hex.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        match blake3::Hash::from_hex(hex) {
            Ok(hash) if lower => Ok(Self(*hash.as_bytes())),
            _ => Err(InvalidId::new("digest", hex, RULE)),
        }
    }

    /// The 32 raw bytes.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// Hashes content that passes by in pieces.
#[derive(Debug, Clone, Default)]
pub struct Hasher(blake3::Hasher);

impl Hasher {
    /// Starts over nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the next piece.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The digest of everything added so far.
    pub fn digest(&self) -> Digest {
        Digest(*self.0.finalize().as_bytes())
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("b3:{}", self.hex()))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::str::FromStr for Digest {
    type Err = InvalidId;
    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let hex = text
            .strip_prefix("b3:")
            .ok_or_else(|| InvalidId::new("digest", text, RULE))?;
        Self::from_hex(hex)
    }
}

impl TryFrom<String> for Digest {
    type Error = InvalidId;
    fn try_from(text: String) -> Result<Self, InvalidId> {
        text.parse()
    }
}

impl From<Digest> for String {
    fn from(digest: Digest) -> Self {
        digest.to_string()
    }
}
