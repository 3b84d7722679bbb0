//! The behaviour of [`Store`], written down as functions that any backend is run through.
//!
//! Every function takes a store and a key prefix of its own, so one bucket serves all of them. A broken
//! promise panics with the promise's name: these are tests that several crates share. Feature `conformance`.

mod delegate;
mod pointers;
mod values;

pub use delegate::Delegate;

use crate::{Key, Store};

/// One promise: panics when the store breaks it.
pub type Promise = fn(&dyn Store, &Prefix);

/// Every promise, by name, for test runners that want one test per promise.
pub const ALL: &[(&str, Promise)] = &[
    ("a_new_value_reads_back", values::a_new_value_reads_back),
    (
        "a_taken_key_is_left_as_it_is",
        values::a_taken_key_is_left_as_it_is,
    ),
    (
        "one_of_many_creators_wins",
        values::one_of_many_creators_wins,
    ),
    (
        "put_replaces_what_stands_there",
        values::put_replaces_what_stands_there,
    ),
    ("absence_is_not_found", values::absence_is_not_found),
    (
        "empty_and_large_values_survive",
        values::empty_and_large_values_survive,
    ),
    (
        "stat_tells_the_stored_size",
        values::stat_tells_the_stored_size,
    ),
    (
        "listing_is_sorted_and_whole",
        values::listing_is_sorted_and_whole,
    ),
    ("delete_is_idempotent", values::delete_is_idempotent),
    (
        "reading_from_the_middle_gives_the_rest",
        values::reading_from_the_middle_gives_the_rest,
    ),
    (
        "what_is_young_is_not_deleted_as_old",
        values::what_is_young_is_not_deleted_as_old,
    ),
    (
        "a_scratch_prefix_is_discarded_whole",
        values::a_scratch_prefix_is_discarded_whole,
    ),
    (
        "a_wrong_checksum_is_refused",
        values::a_wrong_checksum_is_refused,
    ),
    (
        "an_absent_pointer_reads_as_absent",
        pointers::an_absent_pointer_reads_as_absent,
    ),
    (
        "the_first_write_needs_absence",
        pointers::the_first_write_needs_absence,
    ),
    (
        "a_stale_version_conflicts",
        pointers::a_stale_version_conflicts,
    ),
    (
        "a_known_version_is_unchanged",
        pointers::a_known_version_is_unchanged,
    ),
    (
        "one_of_many_first_writers_wins",
        pointers::one_of_many_first_writers_wins,
    ),
    ("no_update_is_lost", pointers::no_update_is_lost),
    (
        "readers_see_whole_versions",
        pointers::readers_see_whole_versions,
    ),
];

/// The part of a store one promise may use.
#[derive(Debug, Clone)]
pub struct Prefix(Key);

impl Prefix {
    /// Takes a prefix nobody else uses.
    pub fn new(key: Key) -> Self {
        Self(key)
    }

    /// The prefix as a key.
    pub fn key(&self) -> &Key {
        &self.0
    }

    /// A key below the prefix.
    ///
    /// # Panics
    /// When `name` makes no key: a mistake in the suite.
    #[expect(clippy::expect_used, reason = "names are constants of the suite")]
    pub fn at(&self, name: &str) -> Key {
        Key::new(&format!("{}/{name}", self.0)).expect("the suite uses safe names")
    }
}

/// Runs every promise against one store, each under its own prefix below `prefix`.
///
/// # Panics
/// At the first broken promise.
pub fn run_all(store: &dyn Store, prefix: &Prefix) {
    for (name, promise) in ALL {
        promise(store, &Prefix(prefix.at(name)));
    }
}
