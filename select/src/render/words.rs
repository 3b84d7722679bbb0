//! Words that several forms of the report share.

use crate::evidence::{Cause, FileClass};
use crate::report::{
    AttributionReport, FileReport, FileSeen, FunctionsSeen, RecordReport, RecordState,
};
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

/// What changed of a file that the function record speaks for, and who entered it.
pub(super) fn entered(seen: &FunctionsSeen) -> String {
    let is_pins = seen.word.ends_with("pins");
    let (changed, verb) = if is_pins {
        (counted(seen.changed_count, "changed pin"), "used")
    } else {
        (counted(seen.changed_count, "changed function"), "entered")
    };
    if seen.class == FileClass::FileNotInRecord {
        return "unknown to the record".to_owned();
    }
    let changed = if seen.word.starts_with("narrowed") {
        changed
    } else {
        "whole file".to_owned()
    };
    let by = steps(seen.steps.len());
    format!("{changed}, {} {verb} by {by}", seen.observed)
}

/// What silence about a file is worth, and why no more.
pub(super) fn worth(class: FileClass, causes: &[Cause], moved: bool) -> String {
    let mut worth = class.word().to_owned();
    if !causes.is_empty() {
        let causes: Vec<&str> = causes.iter().map(|cause| cause.word()).collect();
        worth.extend([" (", &causes.join(", "), ")"]);
    }
    if moved {
        worth.push_str(", moved since the record");
    }
    worth
}

/// Whether a record of kernels has anything to say of a file: the function record speaks for the others.
pub(super) fn is_concerned(file: &FileReport, seen: &FileSeen) -> bool {
    file.functions.is_none() || seen.class != FileClass::FileNotInMap
}

/// What changed in a file, in a few words.
pub(super) fn attributed(attribution: &AttributionReport) -> String {
    let place = attribution.place.as_deref().unwrap_or_default();
    let doubts = attribution.doubts.join(", ");
    let parts = [attribution.word.as_str(), place, &doubts];
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join(" ")
}
