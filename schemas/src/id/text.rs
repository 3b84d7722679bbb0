//! Names that become keys, paths or file names, so their alphabet is restricted at the door.

use super::InvalidId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Declares a string newtype whose constructor applies one rule. The pattern says the same in the JSON
/// Schemas, where lengths count characters instead of bytes.
macro_rules! checked_text {
    ($(#[$doc:meta])* $name:ident, $kind:literal, $rule:literal, $pattern:literal, $max:literal, $check:expr) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
        #[serde(try_from = "String", into = "String")]
        #[schemars(with = "String", extend("pattern" = $pattern, "maxLength" = $max))]
        pub struct $name(Box<str>);

        impl $name {
            /// Checks the text and takes it.
            pub fn new(text: impl Into<String>) -> Result<Self, InvalidId> {
                let text = text.into();
                let check: fn(&str) -> bool = $check;
                if !check(&text) {
                    return Err(InvalidId::new($kind, &text, $rule));
                }
                Ok(Self(text.into_boxed_str()))
            }

            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(&self.0)
            }
        }

        impl std::str::FromStr for $name {
            type Err = InvalidId;
            fn from_str(text: &str) -> Result<Self, InvalidId> {
                Self::new(text)
            }
        }

        impl TryFrom<String> for $name {
            type Error = InvalidId;
            fn try_from(text: String) -> Result<Self, InvalidId> {
                Self::new(text)
            }
        }

        impl From<$name> for String {
            fn from(name: $name) -> Self {
                name.0.into()
            }
        }

        impl std::borrow::Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }
    };
}

/// One path segment that is safe on every store: no separators, no leading dot, no surprises in a URL, and
/// no leading dash, since commits become arguments of git.
fn is_segment(text: &str, max: usize) -> bool {
    (1..=max).contains(&text.len())
        && !text.starts_with(['.', '-'])
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'))
}

fn is_printable(text: &str, max: usize) -> bool {
    (1..=max).contains(&text.len()) && !text.chars().any(char::is_control)
}

checked_text!(
    /// The commit a record was made of. It becomes a folder name in the upstream layout.
    Commit, "commit", "1 to 128 letters, digits, `.`, `_` or `-`, not starting with a dot or dash",
    "^[A-Za-z0-9_][A-Za-z0-9._-]*$", 128,
    |t| is_segment(t, 128)
);
checked_text!(
    /// The pipeline a record belongs to; builds are ordered within one pipeline only.
    Pipeline, "pipeline", "1 to 128 letters, digits, `.`, `_` or `-`, not starting with a dot or dash",
    "^[A-Za-z0-9_][A-Za-z0-9._-]*$", 128,
    |t| is_segment(t, 128)
);
checked_text!(
    /// One job: one run of one shard of one step.
    JobId, "job id", "1 to 255 bytes without `/` or control characters, not `.` or `..`",
    "^(?!\\.{1,2}$)[^/\\u0000-\\u001f\\u007f-\\u009f]+$", 255,
    |t| is_printable(t, 255) && !t.contains('/') && t != "." && t != ".."
);
checked_text!(
    /// The key of a pipeline step: the row key of a kernel table.
    StepKey, "step key", "1 to 1024 bytes without control characters",
    "^[^\\u0000-\\u001f\\u007f-\\u009f]+$", 1024,
    |t| is_printable(t, 1024)
);
checked_text!(
    /// A random mark of one writer: 32 lower-case hex digits (128 bits).
    Nonce, "nonce", "32 lower-case hex digits",
    "^[0-9a-f]{32}$", 32,
    |t| t.len() == 32 && t.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
);
checked_text!(
    /// Names a signing key: the first 16 hex digits of the BLAKE3 digest of its 32 public bytes. For people and for
    /// choosing among keys; what decides is the key itself.
    KeyId, "key id", "16 lower-case hex digits",
    "^[0-9a-f]{16}$", 16,
    |t| t.len() == 16 && t.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
);
checked_text!(
    /// Which of several images of one backend a job or a map belongs to. The default is the empty text.
    Variant, "variant", "empty, or 1 to 64 letters, digits, `.`, `_` or `-`, not starting with a dot or dash",
    "^([A-Za-z0-9_][A-Za-z0-9._-]*)?$", 64,
    |t| t.is_empty() || is_segment(t, 64)
);

impl JobId {
    /// True for the id of every job outside CI, which tells none from another.
    pub fn is_local(&self) -> bool {
        &*self.0 == "local"
    }
}

impl Variant {
    /// True for the unnamed variant of a fleet that runs one image per backend.
    pub fn is_default(&self) -> bool {
        self.0.is_empty()
    }
}

impl Default for Variant {
    fn default() -> Self {
        Self(Box::from(""))
    }
}
