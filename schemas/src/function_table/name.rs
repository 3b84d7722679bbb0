//! The texts of a function table.

use crate::id::InvalidId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

/// The longest path, in bytes: `PATH_MAX` of Linux.
const MAX_PATH_BYTES: usize = 4096;
/// The longest function name, in bytes (64 KiB).
const MAX_NAME_BYTES: usize = 64 * 1024;
/// The longest name of a package, in bytes.
const MAX_LIBRARY_BYTES: usize = 255;

/// Declares a text newtype over `$inner` whose constructor applies one rule.
macro_rules! checked {
    ($(#[$doc:meta])* $name:ident($inner:ty), $kind:literal, $rule:literal, $max:literal, $check:expr) => {
        $(#[$doc])*
        #[derive(
            Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
        )]
        #[serde(try_from = "String", into = "String")]
        #[schemars(with = "String", extend("minLength" = 1, "maxLength" = $max))]
        pub struct $name($inner);

        impl $name {
            /// Checks the text and takes it.
            pub fn new(text: &str) -> Result<Self, InvalidId> {
                let check: fn(&str) -> bool = $check;
                if !check(text) {
                    return Err(InvalidId::new($kind, text, $rule));
                }
                Ok(Self(text.into()))
            }

            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }

        impl TryFrom<String> for $name {
            type Error = InvalidId;
            fn try_from(text: String) -> Result<Self, InvalidId> {
                Self::new(&text)
            }
        }

        impl From<$name> for String {
            fn from(text: $name) -> Self {
                text.as_str().to_owned()
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }
    };
}

checked!(
    /// A source file, relative to what its repository calls its root: `vllm/engine/core.py`, `tests/test_a.py`.
    /// Shared, since a file has many functions.
    CodePath(Arc<str>), "source path",
    "1 to 4096 bytes, relative, without empty, `.` or `..` parts or control characters", 4096,
    |text| is_line(text, MAX_PATH_BYTES)
        && text.split('/').all(|part| !matches!(part, "" | "." | ".."))
);
checked!(
    /// A function's qualified name within its file.
    FunctionName(Box<str>), "function name", "1 to 65536 bytes without control characters", 65536,
    |text| is_line(text, MAX_NAME_BYTES)
);
checked!(
    /// The name of a top-level package: `torch`.
    LibraryName(Box<str>), "library name", "1 to 255 bytes without `/` or control characters", 255,
    |text| is_line(text, MAX_LIBRARY_BYTES) && !text.contains('/')
);

fn is_line(text: &str, max: usize) -> bool {
    (1..=max).contains(&text.len()) && !text.chars().any(char::is_control)
}
