//! The keys.

use super::key_file::{self, KeyFileError};
use super::{Seal, SignatureProblem};
use ed25519_dalek::pkcs8::{DecodePrivateKey, DecodePublicKey};
use ed25519_dalek::{Signer, VerifyingKey};
use kernrec_schemas::pointer::{PointerSignature, Signable};
use kernrec_schemas::{Digest, KeyId};
use std::path::Path;

/// A private key. Its memory is wiped when it is dropped.
#[derive(Clone)]
pub struct SigningKey {
    key: ed25519_dalek::SigningKey,
    exposed: bool,
}

impl SigningKey {
    /// Reads what `openssl genpkey -algorithm ed25519` writes.
    pub fn load(path: &Path) -> Result<Self, KeyFileError> {
        const WANTED: &str = "private";
        let (text, exposed) = key_file::read(path, WANTED)?;
        let key = ed25519_dalek::SigningKey::from_pkcs8_pem(text.trim()).map_err(|error| {
            let problem = key_file::problem(&text, "public", &error);
            key_file::refused(path, WANTED, problem)
        })?;
        Ok(Self { key, exposed })
    }

    /// Whether the file that it was read from could be read by others than its owner.
    pub const fn is_exposed(&self) -> bool {
        self.exposed
    }

    /// Its name.
    pub fn id(&self) -> KeyId {
        id(&self.key.verifying_key())
    }

    /// Signs a document as it is. Whatever is changed afterwards makes the signature void.
    pub fn sign<T: Signable>(&self, document: &mut T) {
        let id = self.id().to_string();
        document.set_signature(PointerSignature::blank(id.clone()));
        let message = [T::PREFIX.as_bytes(), &document.written()].concat();
        let signature = self.key.sign(&message).to_bytes();
        document.set_signature(PointerSignature {
            key: id,
            value: hex(&signature),
        });
    }

    pub(super) fn public(&self) -> VerifyingKey {
        self.key.verifying_key()
    }
}

impl std::fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("SigningKey").field(&self.id()).finish()
    }
}

/// Public keys, any of which may have signed. None at all: signatures are not asked for.
#[derive(Debug, Clone, Default)]
pub struct TrustedKeys(Vec<VerifyingKey>);

impl TrustedKeys {
    /// Reads what `openssl pkey -pubout` writes, one key a file.
    pub fn load<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>) -> Result<Self, KeyFileError> {
        let load = |path: P| load_public(path.as_ref());
        Ok(Self(paths.into_iter().map(load).collect::<Result<_, _>>()?))
    }

    /// Whether signatures are not asked for.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a key of this name is among them.
    pub fn holds(&self, wanted: &KeyId) -> bool {
        self.0.iter().any(|key| id(key) == *wanted)
    }

    /// Why a pointer is not believed; `None` where one of these keys signed it, or none is asked for.
    pub fn refusal(&self, seal: &Seal) -> Option<SignatureProblem> {
        if self.is_empty() {
            return None;
        }
        seal.verify(self).err()
    }

    /// Their names, for messages.
    pub fn names(&self) -> String {
        let names: Vec<String> = self.0.iter().map(|key| format!("`{}`", id(key))).collect();
        names.join(", ")
    }

    pub(super) fn of(key: &SigningKey) -> Self {
        Self(vec![key.public()])
    }

    pub(super) fn with(&self, other: &Self) -> Self {
        Self(self.0.iter().chain(&other.0).copied().collect())
    }

    /// Those of a name: more than one only if somebody went to great lengths.
    pub(super) fn named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a VerifyingKey> {
        self.0.iter().filter(move |key| id(key).as_str() == name)
    }
}

fn load_public(path: &Path) -> Result<VerifyingKey, KeyFileError> {
    const WANTED: &str = "public";
    let (text, _) = key_file::read(path, WANTED)?;
    let key = VerifyingKey::from_public_key_pem(text.trim()).map_err(|error| {
        let problem = key_file::problem(&text, "private", &error);
        key_file::refused(path, WANTED, problem)
    })?;
    if key.is_weak() {
        let problem = "it accepts signatures that nobody made";
        return Err(key_file::refused(path, WANTED, problem));
    }
    Ok(key)
}

/// # Panics
/// Never: 16 hex digits are a key id.
#[expect(clippy::expect_used, reason = "the digits of a digest")]
pub(super) fn id(key: &VerifyingKey) -> KeyId {
    let digits = Digest::of(key.as_bytes()).hex();
    KeyId::new(&digits[..16]).expect("16 hex digits")
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    let mut hex = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        let _ = write!(hex, "{byte:02x}");
    }
    hex
}
