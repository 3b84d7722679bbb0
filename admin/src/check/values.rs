//! Proofs about values.

use super::fault::{Fault, holds, offered};
use super::{WRITERS, race};
use crate::scratch::Scratch;
use kernrec_schemas::Timestamp;
use kernrec_store::{Key, PutNew, Removal, Store, StoreError};
use std::io::Read;

/// Rounds of a race for a new key.
const CREATE_ROUNDS: usize = 3;
/// Nothing that was just stored is this old.
const AN_HOUR: i64 = 60 * 60;

pub(super) fn read_after_write(store: &dyn Store, scratch: &Scratch) -> Result<(), Fault> {
    for (salt, length) in [0, 1, 4096, 3 << 20].into_iter().enumerate() {
        let key = scratch.key(&format!("written/{salt}"));
        let first = scratch.content(salt, length);
        let created = store.put_new(&key, &first)?;
        holds(created == PutNew::Created, || {
            format!("`{key}` is said to exist before it was written")
        })?;
        stands(store, &key, &first)?;
        let second = scratch.content(salt + 100, length + 7);
        store.put(&key, &second)?;
        stands(store, &key, &second)?;
    }
    Ok(())
}

pub(super) fn absence(store: &dyn Store, scratch: &Scratch) -> Result<(), Fault> {
    let key = scratch.key("absent/nothing");
    let stat = store.stat(&key)?;
    holds(stat.is_none(), || {
        "a key that was never written has a size".to_owned()
    })?;
    match store.read(&key) {
        Err(StoreError::NotFound { .. }) => {}
        Err(error) => return Err(error.into()),
        Ok(_) => return broken("a key that was never written can be read"),
    }
    match store.read_pointer(&key, None)? {
        kernrec_store::PointerRead::Absent => Ok(()),
        _ => broken("a pointer that was never written can be read"),
    }
}

pub(super) fn create_if_absent(store: &dyn Store, scratch: &Scratch) -> Result<(), Fault> {
    for round in 0..CREATE_ROUNDS {
        let key = scratch.key(&format!("created/{round}"));
        let bodies: Vec<Vec<u8>> = (0..WRITERS)
            .map(|writer| scratch.content(writer, 4096))
            .collect();
        let ends = race::race(&bodies, |body| store.put_new(&key, body));
        let mut winners = Vec::new();
        for (writer, end) in ends.into_iter().enumerate() {
            if end? == PutNew::Created {
                winners.push(writer);
            }
        }
        holds(winners.len() == 1, || {
            format!(
                "{} of {WRITERS} writers were told that they created one key",
                winners.len()
            )
        })?;
        stands(store, &key, &bodies[winners[0]])?;
    }
    Ok(())
}

pub(super) fn ranges(store: &dyn Store, scratch: &Scratch) -> Result<(), Fault> {
    let key = scratch.key("range/value");
    let content = scratch.content(7, 300_000);
    store.put_new(&key, &content)?;
    for offset in [0, 1, 4095, 131_072, content.len() - 1] {
        let mut rest = Vec::new();
        let mut reader = offered(store.read_from(&key, offset as u64))?;
        read_all(store, &key, &mut reader, &mut rest)?;
        holds(rest == content[offset..], || {
            format!("reading from byte {offset} gave other bytes than stand there")
        })?;
    }
    Ok(())
}

pub(super) fn listing(store: &dyn Store, scratch: &Scratch) -> Result<(), Fault> {
    let mut keys: Vec<Key> = (0..20)
        .map(|n| scratch.key(&format!("listed/many/{n:03}")))
        .collect();
    keys.extend(
        ["a/b.zst", "a/b/c", "a-b", "a.b"].map(|name| scratch.key(&format!("listed/{name}"))),
    );
    for (at, key) in keys.iter().enumerate() {
        store.put_new(key, &scratch.content(at, 10 + at))?;
    }
    store.put_new(&scratch.key("listed-not/x"), b"x")?;
    let gone = keys.remove(3);
    store.delete(&gone)?;
    keys.sort();
    let listed = store.list(&scratch.key("listed"))?;
    let found: Vec<Key> = listed.iter().map(|entry| entry.key.clone()).collect();
    holds(found == keys, || {
        format!(
            "{} keys below a prefix were listed as {}",
            keys.len(),
            found.len()
        )
    })?;
    holds(listed.iter().all(|entry| entry.stat.size >= 10), || {
        "a listing has another size than was written".to_owned()
    })
}

pub(super) fn removal(store: &dyn Store, scratch: &Scratch) -> Result<(), Fault> {
    let key = scratch.key("removed/value");
    store.put_new(&key, b"there")?;
    let stored = stored_at(store, &key)?;
    let long_ago = Timestamp::from_unix(stored.unix() - AN_HOUR).unwrap_or(stored);
    let spared = store.delete_old(&key, long_ago)?;
    holds(spared == Removal::Younger, || {
        "what was just stored was removed as old".to_owned()
    })?;
    stands(store, &key, b"there")?;
    let removed = store.delete_old(&key, stored)?;
    holds(removed == Removal::Removed, || {
        "what is old was not removed".to_owned()
    })?;
    is_gone(store, &key)?;
    store.put_new(&key, b"again")?;
    stands(store, &key, b"again")?;
    store.delete(&key)?;
    is_gone(store, &key)?;
    // Removing nothing is no error.
    Ok(store.delete(&key)?)
}

pub(super) fn checksum_rejection(store: &dyn Store, scratch: &Scratch) -> Result<(), Fault> {
    let key = scratch.key("checksum/value");
    match store.refuses_wrong_checksum(&key)? {
        None => Err(Fault::NotTried(
            "uploads carry no checksum here; they are read back",
        )),
        Some(false) => broken("bytes with a checksum that is not theirs were stored"),
        Some(true) => is_gone(store, &key),
    }
}

/// Exactly these bytes stand under the key.
pub(super) fn stands(store: &dyn Store, key: &Key, expected: &[u8]) -> Result<(), Fault> {
    let mut found = Vec::new();
    let mut reader = match store.read(key) {
        Ok(reader) => reader,
        Err(StoreError::NotFound { .. }) => return broken("what was written cannot be found"),
        Err(error) => return Err(error.into()),
    };
    read_all(store, key, &mut reader, &mut found)?;
    holds(found == expected, || {
        let (expected, found) = (expected.len(), found.len());
        format!("other bytes were read than were written: {found}, expected {expected}")
    })?;
    let stat = store.stat(key)?;
    holds(
        stat.is_some_and(|stat| stat.size == expected.len() as u64),
        || "the size is not that of what was written".to_owned(),
    )
}

/// Reads to the end. A little more than the longest content of the proofs is enough to see that it is wrong.
fn read_all(
    store: &dyn Store,
    key: &Key,
    reader: &mut dyn Read,
    into: &mut Vec<u8>,
) -> Result<(), Fault> {
    let read = reader.take(4 << 20).read_to_end(into);
    let failed = |source| StoreError::Unavailable {
        url: store.url().to_owned(),
        key: key.to_string(),
        action: "read",
        source: Box::new(source),
    };
    read.map(|_| ())
        .map_err(|source| Fault::Store(failed(source)))
}

fn stored_at(store: &dyn Store, key: &Key) -> Result<Timestamp, Fault> {
    match store.stat(key)? {
        Some(stat) => Ok(stat.modified),
        None => broken("what was written cannot be found"),
    }
}

fn is_gone(store: &dyn Store, key: &Key) -> Result<(), Fault> {
    let stat = store.stat(key)?;
    holds(stat.is_none(), || {
        format!("`{key}` was removed or refused, and is there")
    })
}

fn broken<T>(problem: &str) -> Result<T, Fault> {
    Err(Fault::Broken(problem.to_owned()))
}
