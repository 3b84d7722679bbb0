//! How old an object may be for a new record to build on it.
//!
//! A publisher finds most of an old record's objects in place and uploads nothing. Between that look and the
//! move of its pointer no pointer need name them, and a collection of unnamed objects goes by age. So who puts
//! an object that is older than [`REFRESHED_AFTER`] stores it anew, and who collects spares what is younger
//! than [`SAFE_GRACE`]: the difference is the time a publish has from its first upload to its pointer.

use kernrec_schemas::Timestamp;
use std::time::Duration;

/// An object older than this is stored anew by whoever puts it again.
pub const REFRESHED_AFTER: Duration = Duration::from_hours(24);

/// The least age at which an unnamed object may be removed while somebody may be publishing.
pub const SAFE_GRACE: Duration = Duration::from_hours(48);

/// Clocks differ a little; an object from further in the future says nothing about its age.
const CLOCKS_DIFFER: i64 = 5 * 60;

pub(super) fn is_old(modified: Timestamp, now: Timestamp) -> bool {
    let limit = i64::try_from(REFRESHED_AFTER.as_secs()).unwrap_or(i64::MAX);
    let age = now.seconds_since(modified);
    age > limit || age < -CLOCKS_DIFFER
}

#[cfg(test)]
mod tests {
    use super::is_old;
    use kernrec_schemas::Timestamp;

    #[test]
    fn an_object_is_old_after_a_day_or_when_its_age_cannot_be_told() {
        let at = |seconds: i64| Timestamp::from_unix(1_900_000_000 + seconds).unwrap();
        let day = 24 * 60 * 60;
        for (modified, old) in [
            (0, false),
            (-day, false),
            (-day - 1, true),
            (60, false),
            (3600, true),
        ] {
            assert_eq!(is_old(at(modified), at(0)), old, "{modified}");
        }
    }
}
