//! Words that several forms of the report share.

use crate::report::{AttributionReport, RecordReport, RecordState};
use std::fmt::Display;

/// `1 step`, `2 steps`.
pub(super) fn steps(count: impl TryInto<u64>) -> String {
    counted(count.try_into().unwrap_or(u64::MAX), "step")
}

/// A count with its noun.
pub(super) fn counted(count: u64, what: impl Display) -> String {
    if count == 1 {
        format!("1 {what}")
    } else {
        format!("{count} {what}s")
    }
}

/// `, only adds: record-stale`; empty for a record whose silence may be believed, and for none.
pub(super) fn limits_of(record: &RecordReport) -> String {
    let RecordState::Ready { limits, .. } = &record.state else {
        return String::new();
    };
    if limits.is_empty() {
        return String::new();
    }
    let words: Vec<&str> = limits.iter().map(|reason| reason.word()).collect();
    format!(", only adds: {}", words.join(", "))
}

/// What changed in a file, in a few words.
pub(super) fn attributed(attribution: &AttributionReport) -> String {
    let place = attribution.place.as_deref().unwrap_or_default();
    let doubts = attribution.doubts.join(", ");
    let parts = [attribution.word.as_str(), place, &doubts];
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join(" ")
}
