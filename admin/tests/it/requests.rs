//! What a publish asks of a store: on a bucket each operation is a request that somebody waits for and pays.

use crate::support::{publish_build, published};
use crate::wrapped::Wrapped;
use kernrec_store::Store;
use std::collections::BTreeMap;
use std::sync::Mutex;

/// How often objects and bundles were written and looked at while a build was published.
fn asked(store: &dyn Store, build: u64) -> (u32, u32) {
    let asked = Mutex::new(BTreeMap::new());
    let counting = Wrapped::new(store, |operation, key| {
        if key.digest().is_some() {
            let mut asked = asked.lock().unwrap();
            *asked.entry(operation.to_owned()).or_insert(0) += 1;
        }
    });
    publish_build(&counting, build);
    drop(counting);
    let asked: BTreeMap<String, u32> = asked.into_inner().unwrap();
    let times = |operation| asked.get(operation).copied().unwrap_or(0);
    (times("put_new") + times("put"), times("stat"))
}

/// A build has a table, a map, a manifest and a bundle.
#[test]
fn a_new_record_costs_a_write_and_a_look_for_each_object_and_one_look_beforehand() {
    let fixture = published(&[]);
    assert_eq!(asked(&fixture.store, 1), (4, 5));
}

#[test]
fn a_stored_record_is_only_looked_at() {
    let fixture = published(&[1]);
    assert_eq!(asked(&fixture.store, 1), (0, 5));
}
