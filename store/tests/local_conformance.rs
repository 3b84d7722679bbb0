//! The local backend keeps every promise of the suite, one test per promise.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use kernrec_store::conformance::{ALL, Prefix};
use kernrec_store::{Key, LocalStore};

fn keeps(name: &str) {
    let folder = tempfile::tempdir().unwrap();
    let store = LocalStore::create(folder.path()).unwrap();
    let (_, promise) = ALL.iter().find(|(promise, _)| *promise == name).unwrap();
    promise(&store, &Prefix::new(Key::new("suite").unwrap()));
}

macro_rules! promises {
    ($($name:ident),+ $(,)?) => {
        $(#[test] fn $name() { keeps(stringify!($name)); })+

        #[test]
        fn every_promise_has_a_test() {
            let tested = [$(stringify!($name)),+];
            let promised: Vec<&str> = ALL.iter().map(|(name, _)| *name).collect();
            assert_eq!(promised, tested);
        }
    };
}

promises!(
    a_new_value_reads_back,
    a_taken_key_is_left_as_it_is,
    one_of_many_creators_wins,
    put_replaces_what_stands_there,
    absence_is_not_found,
    empty_and_large_values_survive,
    stat_tells_the_stored_size,
    listing_is_sorted_and_whole,
    delete_is_idempotent,
    reading_from_the_middle_gives_the_rest,
    what_is_young_is_not_deleted_as_old,
    a_scratch_prefix_is_discarded_whole,
    a_wrong_checksum_is_refused,
    an_absent_pointer_reads_as_absent,
    the_first_write_needs_absence,
    a_stale_version_conflicts,
    a_known_version_is_unchanged,
    one_of_many_first_writers_wins,
    no_update_is_lost,
    readers_see_whole_versions,
);
