//! Kernel names as recorders and object files spell them.

use super::{InvalidId, stable_form};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;

/// The longest kernel name accepted, in bytes (64 KiB).
pub const MAX_KERNEL_NAME_BYTES: usize = 64 * 1024;

const RULE: &str = "1 to 65536 bytes, one line, not starting with `#`";

/// A kernel's exact name: mangled for C++, bare for `extern "C"`, the Python function for Triton.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[schemars(with = "String", extend("pattern" = "^[^#\\r\\n][^\\r\\n]*$", "maxLength" = 65536))]
pub struct KernelName(Box<str>);

impl KernelName {
    /// Checks the text and takes it.
    pub fn new(text: impl Into<String>) -> Result<Self, InvalidId> {
        let text = text.into();
        if !Self::is_valid(&text) {
            return Err(InvalidId::new("kernel name", &text, RULE));
        }
        Ok(Self(text.into_boxed_str()))
    }

    /// Whether the text could be a kernel name: the rule of [`KernelName::new`] without taking it.
    pub fn is_valid(text: &str) -> bool {
        (1..=MAX_KERNEL_NAME_BYTES).contains(&text.len())
            && !text.starts_with('#')
            && memchr::memchr2(b'\r', b'\n', text.as_bytes()).is_none()
    }

    /// The exact name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name with content hashes blanked, for comparing two builds. Never stored.
    pub fn stable(&self) -> Cow<'_, str> {
        stable_form(&self.0)
    }
}

/// Not `into = "String"`, which copies each name to write it.
impl Serialize for KernelName {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&self.0)
    }
}

impl fmt::Display for KernelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl TryFrom<String> for KernelName {
    type Error = InvalidId;
    fn try_from(text: String) -> Result<Self, InvalidId> {
        Self::new(text)
    }
}

impl From<KernelName> for String {
    fn from(name: KernelName) -> Self {
        name.0.into()
    }
}

impl std::borrow::Borrow<str> for KernelName {
    fn borrow(&self) -> &str {
        &self.0
    }
}
