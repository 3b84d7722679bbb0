//! Times in documents: UTC, whole seconds, `2030-01-01T00:00:00Z`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A moment, to the second. Any RFC 3339 time with an offset is read; UTC is written.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct Timestamp(i64);

/// A text that is not an RFC 3339 time with an offset.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a time such as `2030-01-01T00:00:00Z`")]
pub struct InvalidTimestamp(String);

impl Timestamp {
    /// The present, from the wall clock.
    pub fn now() -> Self {
        Self(jiff::Timestamp::now().as_second())
    }

    /// From seconds since 1970-01-01T00:00:00Z; `None` outside the years -9999 to 9999.
    pub fn from_unix(seconds: i64) -> Option<Self> {
        jiff::Timestamp::from_second(seconds)
            .ok()
            .map(|time| Self(time.as_second()))
    }

    /// Seconds since 1970-01-01T00:00:00Z.
    pub const fn unix(self) -> i64 {
        self.0
    }

    /// Seconds from `earlier` to `self`; negative when `earlier` is later.
    pub const fn seconds_since(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_second(self.0) {
            Ok(time) => f.pad(&time.to_string()),
            Err(_) => f.pad("invalid time"),
        }
    }
}

impl std::str::FromStr for Timestamp {
    type Err = InvalidTimestamp;
    fn from_str(text: &str) -> Result<Self, InvalidTimestamp> {
        let time: jiff::Timestamp = text.parse().map_err(|_| {
            InvalidTimestamp(text.chars().take(80).flat_map(char::escape_debug).collect())
        })?;
        Ok(Self(time.as_second()))
    }
}

impl TryFrom<String> for Timestamp {
    type Error = InvalidTimestamp;
    fn try_from(text: String) -> Result<Self, InvalidTimestamp> {
        text.parse()
    }
}

impl From<Timestamp> for String {
    fn from(time: Timestamp) -> Self {
        time.to_string()
    }
}
