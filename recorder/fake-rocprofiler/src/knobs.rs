//! What a test can make go wrong, by name: in `FAKE_ROCPROFILER`, or later by `fake_set`.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

/// Values that are not zero unless set.
const DEFAULTS: [(&str, u64); 3] = [
    // The version the SDK passes to tools, and answers when asked.
    ("version", 10_302),
    // What a dispatch record says about its own size. Newer versions have 192.
    ("record-bytes", 184),
    // What a symbol's payload says.
    ("symbol-bytes", 88),
];

// The others, zero unless set:
//
// crash-version          asked for its version, the SDK crashes
// hang-version           asked for its version, the SDK never answers
// create-context, symbol-service, create-buffer, create-thread, assign-thread, dispatch-service,
// start-context, flush   the status that this call returns instead of working
// inactive               started contexts are not active
// busy                   so many flushes return BUFFER_BUSY
// skip-half              so many flushes leave records behind and say nothing
// late                   so many of the last dispatches complete at the end of the process only
// after-end              as late, but only after every tool was told that it is the end
// reorder                dispatches complete in reverse order, in groups of this size
// null-headers           records come without their headers
// header-kind            records come as another kind
// dispatch-number        every record has this number less one
// child-hangs            in a forked child a flush never returns
// no-finalize            the process ends without the SDK noticing

static VALUES: LazyLock<Mutex<HashMap<String, u64>>> = LazyLock::new(|| {
    let mut values: HashMap<String, u64> = DEFAULTS
        .iter()
        .map(|(name, value)| ((*name).to_owned(), *value))
        .collect();
    let list = std::env::var("FAKE_ROCPROFILER").unwrap_or_default();
    for (name, value) in list.split(',').filter_map(|item| item.split_once('=')) {
        // A value that is no number would hide what a test means.
        values.insert(name.to_owned(), value.parse().unwrap_or(u64::MAX));
    }
    Mutex::new(values)
});

/// All of them. Taken after any other lock.
pub(crate) type Values = MutexGuard<'static, HashMap<String, u64>>;

pub(crate) fn values() -> Values {
    VALUES.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn get(name: &str) -> u64 {
    values().get(name).copied().unwrap_or(0)
}

pub(crate) fn set(name: &str, value: u64) {
    values().insert(name.to_owned(), value);
}

pub(crate) fn is_set(name: &str) -> bool {
    get(name) != 0
}

/// A status to return instead of working.
pub(crate) fn status(name: &str) -> i32 {
    i32::try_from(get(name)).unwrap_or(1)
}

/// Counts down; `true` while it was not zero.
pub(crate) fn spend(name: &str) -> bool {
    let mut values = values();
    let Some(value) = values.get_mut(name).filter(|value| **value > 0) else {
        return false;
    };
    *value -= 1;
    true
}
