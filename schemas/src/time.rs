//! Times in documents: UTC, whole seconds, `2030-01-01T00:00:00Z`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// 0000-01-01T00:00:00Z: before it, a year would need a sign.
const YEAR_ZERO: i64 = -62_167_219_200;

/// A moment, to the second. Any RFC 3339 time with an offset is read; UTC is written.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String", extend("pattern" = "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(\\.\\d+)?(Z|[+-]\\d{2}:\\d{2})$"))]
pub struct Timestamp(i64);

/// A text that is not an RFC 3339 time with an offset.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a time such as `2030-01-01T00:00:00Z`")]
pub struct InvalidTimestamp(String);

impl Timestamp {
    /// 1970-01-01T00:00:00Z.
    pub const UNIX_EPOCH: Self = Self(0);

    /// The present, from the wall clock.
    pub fn now() -> Self {
        Self(jiff::Timestamp::now().as_second())
    }

    /// From seconds since 1970-01-01T00:00:00Z; `None` outside the years 0 to 9999.
    pub fn from_unix(seconds: i64) -> Option<Self> {
        let representable = jiff::Timestamp::from_second(seconds).is_ok();
        (representable && seconds >= YEAR_ZERO).then_some(Self(seconds))
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
        // jiff reads more than RFC 3339, such as a time without `T` or with a zone's name.
        let time: Option<jiff::Timestamp> = has_shape(text).then(|| text.parse().ok()).flatten();
        time.and_then(|time| Self::from_unix(time.as_second()))
            .ok_or_else(|| {
                InvalidTimestamp(text.chars().take(80).flat_map(char::escape_debug).collect())
            })
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

/// `dddd-dd-ddTdd:dd:dd`, perhaps a fraction, then `Z` or `+dd:dd` or `-dd:dd`.
fn has_shape(text: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let Some((moment, rest)) = text.split_at_checked("0000-00-00T00:00:00".len()) else {
        return false;
    };
    let moment_fits = moment
        .bytes()
        .zip(*b"dddd-dd-ddTdd:dd:dd")
        .all(|(b, mark)| match mark {
            b'd' => b.is_ascii_digit(),
            other => b == other,
        });
    let zone_at = rest.find(['Z', '+', '-']).unwrap_or(rest.len());
    let (fraction, zone) = rest.split_at(zone_at);
    let fraction_fits = fraction.is_empty() || fraction.strip_prefix('.').is_some_and(digits);
    let zone_fits = match zone.split_at_checked(1) {
        Some(("Z", rest)) => rest.is_empty(),
        Some(("+" | "-", rest)) => rest.split_once(':').is_some_and(|(hours, minutes)| {
            hours.len() == 2 && digits(hours) && minutes.len() == 2 && digits(minutes)
        }),
        _ => false,
    };
    moment_fits && fraction_fits && zone_fits
}
