//! What of a pointer is signed. Keys and the arithmetic are the store crate's.
//!
//! The signature stands in the document that it is over, so that both move in one compare-and-swap. Signed are the
//! document's bytes as they stand in the store, without the signature's own digits: nothing in them can be changed,
//! not even in fields that a reader does not know.

use super::{Pointer, UpstreamPointer};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Who vouches for a pointer. Nobody checks its form but who checks the signature: other readers need neither.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PointerSignature {
    /// The key: the first 16 hex digits of the BLAKE3 digest of its 32 public bytes.
    pub key: String,
    /// The ed25519 signature: 128 lower-case hex digits.
    pub value: String,
}

/// Hex digits of a signature.
const VALUE_DIGITS: usize = 128;

impl PointerSignature {
    /// A signature that is still to be made.
    pub fn blank(key: String) -> Self {
        Self {
            key,
            value: String::new(),
        }
    }

    /// What is signed in a document of these bytes, in which this signature stands: `prefix`, then the bytes without
    /// the value. `None` when the value is no signature or does not stand in them exactly once as it is.
    pub fn message(&self, prefix: &str, document: &[u8]) -> Option<Vec<u8>> {
        let is_digit = |b: u8| matches!(b, b'0'..=b'9' | b'a'..=b'f');
        if self.value.len() != VALUE_DIGITS || !self.value.bytes().all(is_digit) {
            return None;
        }
        // The digits hold nothing that has a meaning in JSON. Taken from anywhere else than the signature's own place,
        // they would have left an empty value there, which is none: there is one place they can have stood at.
        let mut found = document
            .windows(VALUE_DIGITS)
            .enumerate()
            .filter(|(_, window)| *window == self.value.as_bytes());
        let (at, _) = found.next()?;
        if found.next().is_some() {
            return None;
        }
        let (before, rest) = document.split_at(at);
        Some([prefix.as_bytes(), before, &rest[VALUE_DIGITS..]].concat())
    }
}

/// A document with a signature in it.
pub trait Signable {
    /// What its messages begin with: no signature of one kind of document is one of another kind.
    const PREFIX: &'static str;

    /// The signature.
    fn signature(&self) -> Option<&PointerSignature>;

    /// Sets the signature.
    fn set_signature(&mut self, signature: PointerSignature);

    /// The bytes written.
    fn written(&self) -> Vec<u8>;
}

impl Signable for Pointer {
    const PREFIX: &'static str = "kernrec pointer signature v1\n";

    fn signature(&self) -> Option<&PointerSignature> {
        self.signature.as_ref()
    }

    fn set_signature(&mut self, signature: PointerSignature) {
        self.signature = Some(signature);
    }

    fn written(&self) -> Vec<u8> {
        self.to_bytes()
    }
}

impl Signable for UpstreamPointer {
    const PREFIX: &'static str = "kernrec upstream pointer signature v1\n";

    fn signature(&self) -> Option<&PointerSignature> {
        self.signature.as_ref()
    }

    fn set_signature(&mut self, signature: PointerSignature) {
        self.signature = Some(signature);
    }

    fn written(&self) -> Vec<u8> {
        self.to_bytes()
    }
}
