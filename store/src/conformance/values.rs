//! Promises about immutable values.
#![expect(clippy::expect_used, reason = "a broken promise ends the test")]

use super::Prefix;
use crate::store::{PutNew, Removal};
use crate::{Key, Store, StoreError};
use kernrec_schemas::{Nonce, Timestamp};
use std::io::Read;

pub(super) fn read(store: &dyn Store, key: &Key) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut reader = store.read(key).expect("what was stored opens");
    reader
        .read_to_end(&mut bytes)
        .expect("what was stored reads");
    bytes
}

pub(super) fn a_new_value_reads_back(store: &dyn Store, prefix: &Prefix) {
    let key = prefix.at("value");
    assert_eq!(
        store.put_new(&key, b"first").expect("put_new"),
        PutNew::Created
    );
    assert_eq!(read(store, &key), b"first");
}

pub(super) fn a_taken_key_is_left_as_it_is(store: &dyn Store, prefix: &Prefix) {
    let key = prefix.at("value");
    store.put_new(&key, b"first").expect("put_new");
    assert_eq!(
        store.put_new(&key, b"second").expect("put_new"),
        PutNew::Exists
    );
    assert_eq!(read(store, &key), b"first");
}

pub(super) fn one_of_many_creators_wins(store: &dyn Store, prefix: &Prefix) {
    let key = prefix.at("value");
    let bodies: Vec<Vec<u8>> = (0..8_u8).map(|writer| vec![writer; 4096]).collect();
    let wins: Vec<usize> = std::thread::scope(|scope| {
        let writers: Vec<_> = bodies
            .iter()
            .map(|body| scope.spawn(|| store.put_new(&key, body).expect("put_new")))
            .collect();
        let ends = writers
            .into_iter()
            .map(|writer| writer.join().expect("a writer ends"));
        ends.enumerate()
            .filter(|(_, end)| *end == PutNew::Created)
            .map(|(at, _)| at)
            .collect()
    });
    assert_eq!(wins.len(), 1, "exactly one creator wins");
    assert_eq!(
        read(store, &key),
        bodies[wins[0]],
        "the winner's bytes stand there"
    );
}

pub(super) fn put_replaces_what_stands_there(store: &dyn Store, prefix: &Prefix) {
    let key = prefix.at("value");
    store.put_new(&key, b"damaged and longer").expect("put_new");
    store.put(&key, b"healed").expect("put");
    assert_eq!(read(store, &key), b"healed");
}

pub(super) fn absence_is_not_found(store: &dyn Store, prefix: &Prefix) {
    let key = prefix.at("missing");
    let found = store
        .read(&key)
        .map(|_| ())
        .expect_err("nothing stands there");
    assert!(
        matches!(found, StoreError::NotFound { .. }),
        "expected NotFound, found {found:?}"
    );
    assert_eq!(store.stat(&key).expect("stat of nothing is no error"), None);
}

pub(super) fn empty_and_large_values_survive(store: &dyn Store, prefix: &Prefix) {
    let large: Vec<u8> = (0..12_u32 << 20)
        .map(|at| (at / 251).to_le_bytes()[0])
        .collect();
    for (name, body) in [("empty", &[][..]), ("large", &large[..])] {
        let key = prefix.at(name);
        store.put_new(&key, body).expect("put_new");
        assert!(read(store, &key) == body, "the {name} value reads back");
    }
}

pub(super) fn stat_tells_the_stored_size(store: &dyn Store, prefix: &Prefix) {
    let key = prefix.at("value");
    store.put_new(&key, b"12345").expect("put_new");
    let stat = store.stat(&key).expect("stat").expect("the value is there");
    assert_eq!(stat.size, 5);
}

pub(super) fn listing_is_sorted_and_whole(store: &dyn Store, prefix: &Prefix) {
    // More than one page of any real service, and names whose order differs by separator handling.
    let mut names: Vec<String> = (0..40).map(|n| format!("many/{n:04}")).collect();
    names.extend(["a/b.zst", "a/b/c", "a-b", "a.b"].map(str::to_owned));
    for name in &names {
        store
            .put_new(&prefix.at(name), name.as_bytes())
            .expect("put_new");
    }
    let mut expected: Vec<Key> = names.iter().map(|name| prefix.at(name)).collect();
    expected.sort();
    let listed = store.list(prefix.key()).expect("list");
    assert_eq!(
        listed
            .iter()
            .map(|entry| entry.key.clone())
            .collect::<Vec<_>>(),
        expected
    );
    assert!(listed.iter().all(|entry| entry.stat.size > 0));
    let below = store.list(&prefix.at("a")).expect("list");
    let expected = ["a/b.zst", "a/b/c"].map(|name| prefix.at(name));
    assert_eq!(
        below.into_iter().map(|entry| entry.key).collect::<Vec<_>>(),
        expected
    );
    assert_eq!(
        store.list(&prefix.at("nothing")).expect("an empty listing"),
        []
    );
}

pub(super) fn delete_is_idempotent(store: &dyn Store, prefix: &Prefix) {
    let key = prefix.at("value");
    store.put_new(&key, b"x").expect("put_new");
    store.delete(&key).expect("delete");
    store.delete(&key).expect("delete of nothing");
    assert_eq!(store.stat(&key).expect("stat"), None);
    assert_eq!(
        store.put_new(&key, b"y").expect("put_new after delete"),
        PutNew::Created
    );
}

pub(super) fn reading_from_the_middle_gives_the_rest(store: &dyn Store, prefix: &Prefix) {
    let key = prefix.at("value");
    let body: Vec<u8> = (0..100_000_u32)
        .map(|at| (at / 7).to_le_bytes()[0])
        .collect();
    store.put_new(&key, &body).expect("put_new");
    for offset in [0, 1, 4096, body.len() - 1] {
        let mut rest = Vec::new();
        let mut reader = store.read_from(&key, offset as u64).expect("read_from");
        reader.read_to_end(&mut rest).expect("the rest reads");
        assert!(rest == body[offset..], "the rest from byte {offset}");
    }
    let absent = store.read_from(&prefix.at("absent"), 1).map(|_| ());
    assert!(
        matches!(absent, Err(StoreError::NotFound { .. })),
        "{absent:?}"
    );
}

pub(super) fn what_is_young_is_not_deleted_as_old(store: &dyn Store, prefix: &Prefix) {
    let key = prefix.at("value");
    let gone = store.delete_old(&key, Timestamp::now());
    assert_eq!(gone.expect("nothing there is no error"), Removal::Gone);
    store.put_new(&key, b"x").expect("put_new");
    let stored = store.stat(&key).expect("stat").expect("it is there");
    let before = Timestamp::from_unix(stored.modified.unix() - 1).expect("a second earlier");
    let young = store.delete_old(&key, before).expect("delete_old");
    assert_eq!(young, Removal::Younger);
    assert_eq!(read(store, &key), b"x");
    let old = store.delete_old(&key, stored.modified).expect("delete_old");
    assert_eq!(old, Removal::Removed);
    assert_eq!(store.stat(&key).expect("stat"), None);
}

pub(super) fn a_scratch_prefix_is_discarded_whole(store: &dyn Store, prefix: &Prefix) {
    let scratch = |mark: &str| {
        let mark = kernrec_schemas::Digest::of(format!("{}{mark}", prefix.key()).as_bytes());
        let nonce = mark.hex().get(..32).map(str::to_owned).unwrap_or_default();
        Key::scratch(&Nonce::new(nonce).expect("32 hex digits"))
    };
    let (mine, other) = (scratch("mine"), scratch("other"));
    let at = |scratch: &Key| Key::new(&format!("{scratch}/a/b")).expect("a safe name");
    for scratch in [&mine, &other] {
        store.put_new(&at(scratch), b"x").expect("put_new");
        let pointer = Key::new(&format!("{scratch}/p.json")).expect("a safe name");
        store.swap_pointer(&pointer, None, b"x").expect("swap");
    }
    store.discard(&mine).expect("discard");
    assert_eq!(store.list(&mine).expect("list"), []);
    assert_eq!(read(store, &at(&other)), b"x");
    store.discard(&other).expect("discard");
}

pub(super) fn a_wrong_checksum_is_refused(store: &dyn Store, prefix: &Prefix) {
    let key = prefix.at("value");
    if let Some(refused) = store.refuses_wrong_checksum(&key).expect("an answer") {
        assert!(refused, "bytes with the checksum of others were stored");
    }
    assert_eq!(store.stat(&key).expect("stat"), None);
}
