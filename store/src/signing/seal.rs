//! What was read of a signed pointer, and verifying it.

use super::keys::{TrustedKeys, id};
use ed25519_dalek::Signature;
use kernrec_schemas::KeyId;
use kernrec_schemas::pointer::{PointerSignature, Signable};

/// A pointer's signature with the bytes that it is over, as they stand in the store; perhaps there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seal(Option<Box<Signed>>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Signed {
    signature: PointerSignature,
    /// `None` when the bytes are not of the one form that can be signed.
    message: Option<Vec<u8>>,
}

/// Why a pointer is not believed, or must not be moved.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SignatureProblem {
    /// Nobody signed.
    #[error("it is not signed, and a signature by {wanted} is required")]
    Missing {
        /// The keys that would do.
        wanted: String,
    },
    /// Somebody else signed.
    #[error("it names the key `{found}`, and a signature by {wanted} is required")]
    UnknownKey {
        /// The key that is named.
        found: String,
        /// The keys that would do.
        wanted: String,
    },
    /// The signature is not one of this document by the key that it names.
    #[error("its signature by `{key}` does not hold: {problem}")]
    Invalid {
        /// The key that is named.
        key: String,
        /// What is wrong.
        problem: &'static str,
    },
    /// A pointer that is signed would be replaced by one that is not.
    #[error(
        "it is signed (by `{found}`), and without a key whoever requires a signature would be locked out"
    )]
    SigningKeyMissing {
        /// The key that is named.
        found: String,
    },
}

impl SignatureProblem {
    /// The stable word for machines.
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::Missing { .. } => "signature-missing",
            Self::UnknownKey { .. } => "signature-unknown-key",
            Self::Invalid { .. } => "signature-invalid",
            Self::SigningKeyMissing { .. } => "signing-key-missing",
        }
    }
}

impl Seal {
    /// What the bytes of a document say; `document` is what its loader made of them.
    pub(crate) fn of<T: Signable>(document: &T, bytes: &[u8]) -> Self {
        Self(document.signature().map(|signature| {
            Box::new(Signed {
                signature: signature.clone(),
                message: signature.message(T::PREFIX, bytes),
            })
        }))
    }

    /// The key that is named, as far as it can be shown. Whoever wrote the pointer may have named any.
    pub fn claimed_key(&self) -> Option<String> {
        self.0.as_ref().map(|signed| shown(&signed.signature.key))
    }

    /// The key among `trusted` that signed.
    pub fn verify(&self, trusted: &TrustedKeys) -> Result<KeyId, SignatureProblem> {
        let Some(signed) = &self.0 else {
            return Err(SignatureProblem::Missing {
                wanted: trusted.names(),
            });
        };
        let mut keys = trusted.named(&signed.signature.key).peekable();
        if keys.peek().is_none() {
            return Err(SignatureProblem::UnknownKey {
                found: shown(&signed.signature.key),
                wanted: trusted.names(),
            });
        }
        let invalid = |problem| SignatureProblem::Invalid {
            key: shown(&signed.signature.key),
            problem,
        };
        let message = (signed.message.as_ref()).ok_or_else(|| invalid("it has not its form"))?;
        let value = bytes(&signed.signature.value).ok_or_else(|| invalid("it has not its form"))?;
        let signature = Signature::from_bytes(&value);
        keys.find(|key| key.verify_strict(message, &signature).is_ok())
            .map(id)
            .ok_or_else(|| invalid("the document was changed, or another key signed it"))
    }
}

/// A text that anybody may have written, for messages.
fn shown(text: &str) -> String {
    text.chars().take(40).flat_map(char::escape_debug).collect()
}

/// The 64 bytes of 128 hex digits.
fn bytes(hex: &str) -> Option<[u8; 64]> {
    let mut bytes = [0; 64];
    if hex.len() != 2 * bytes.len() || !hex.is_ascii() {
        return None;
    }
    for (byte, at) in bytes.iter_mut().zip((0..hex.len()).step_by(2)) {
        *byte = u8::from_str_radix(&hex[at..at + 2], 16).ok()?;
    }
    Some(bytes)
}
