//! How old a record may be.

use kernrec_schemas::Timestamp;
use std::time::Duration;

/// How old a record may be unless the caller says otherwise: 14 days.
pub const DEFAULT_MAX_AGE: Duration = Duration::from_hours(14 * 24);

/// How far a publisher's clock may run ahead of ours. Beyond that the time is wrong, and so is the age.
const CLOCK_SKEW_SECONDS: i64 = 60 * 60;

/// What the caller decides about a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    /// The present. Injected: the decision reads no clock.
    pub now: Timestamp,
    /// A record published longer ago than this may only add steps; with zero, any record.
    pub max_age: Duration,
}

/// How old a record is, as far as that is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Freshness {
    /// Young enough; the age in seconds.
    Fresh(u64),
    /// Too old; the age in seconds.
    Old(u64),
    /// No time, or one that lies in the future: nothing says how old it is.
    Unknown,
}

impl Policy {
    /// The default age limit at this moment.
    pub const fn at(now: Timestamp) -> Self {
        Self {
            now,
            max_age: DEFAULT_MAX_AGE,
        }
    }

    /// How old a record published then is now.
    pub fn freshness(&self, published_at: Option<Timestamp>) -> Freshness {
        let Some(published_at) = published_at else {
            return Freshness::Unknown;
        };
        let age = self.now.seconds_since(published_at);
        if age < -CLOCK_SKEW_SECONDS {
            return Freshness::Unknown;
        }
        let age = u64::try_from(age).unwrap_or(0);
        // A limit of zero is no limit that a clock running ahead could pass.
        if Duration::from_secs(age) > self.max_age || self.max_age.is_zero() {
            Freshness::Old(age)
        } else {
            Freshness::Fresh(age)
        }
    }
}

impl Freshness {
    /// Whether the record's silence may still be believed.
    pub const fn is_fresh(self) -> bool {
        matches!(self, Self::Fresh(_))
    }

    /// The age in seconds, when it is known.
    pub const fn age_seconds(self) -> Option<u64> {
        match self {
            Self::Fresh(age) | Self::Old(age) => Some(age),
            Self::Unknown => None,
        }
    }
}
