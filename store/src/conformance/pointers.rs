//! Promises about pointers.
#![expect(clippy::expect_used, reason = "a broken promise ends the test")]

use super::Prefix;
use crate::store::{PointerRead, Swap, Version};
use crate::{Key, Store};

fn current(store: &dyn Store, key: &Key) -> (Vec<u8>, Version) {
    match store.read_pointer(key, None).expect("read_pointer") {
        PointerRead::Found { bytes, version } => (bytes, version),
        other => panic!("expected a pointer, found {other:?}"),
    }
}

fn moved(swap: Swap) -> Version {
    match swap {
        Swap::Moved(version) => version,
        other => panic!("expected the pointer to move, found {other:?}"),
    }
}

fn assert_conflict(swap: &Swap) {
    assert!(
        matches!(swap, Swap::Conflict),
        "expected a conflict, found {swap:?}"
    );
}

pub(super) fn an_absent_pointer_reads_as_absent(store: &dyn Store, prefix: &Prefix) {
    let key = prefix.at("p.json");
    assert_eq!(
        store.read_pointer(&key, None).expect("read_pointer"),
        PointerRead::Absent
    );
    let known = Version::new("\"gone\"");
    assert_eq!(
        store
            .read_pointer(&key, Some(&known))
            .expect("read_pointer"),
        PointerRead::Absent
    );
}

pub(super) fn the_first_write_needs_absence(store: &dyn Store, prefix: &Prefix) {
    let key = prefix.at("p.json");
    let version = moved(store.swap_pointer(&key, None, b"one").expect("swap"));
    assert_eq!(current(store, &key), (b"one".to_vec(), version));
    assert_conflict(&store.swap_pointer(&key, None, b"two").expect("swap"));
    assert_eq!(current(store, &key).0, b"one");
}

pub(super) fn a_stale_version_conflicts(store: &dyn Store, prefix: &Prefix) {
    let key = prefix.at("p.json");
    let first = moved(store.swap_pointer(&key, None, b"one").expect("swap"));
    let second = moved(
        store
            .swap_pointer(&key, Some(&first), b"two")
            .expect("swap"),
    );
    assert_conflict(
        &store
            .swap_pointer(&key, Some(&first), b"three")
            .expect("swap"),
    );
    assert_eq!(current(store, &key), (b"two".to_vec(), second));
    let absent = prefix.at("absent.json");
    assert_conflict(
        &store
            .swap_pointer(&absent, Some(&first), b"x")
            .expect("swap"),
    );
    assert_eq!(
        store.read_pointer(&absent, None).expect("read_pointer"),
        PointerRead::Absent
    );
}

pub(super) fn a_known_version_is_unchanged(store: &dyn Store, prefix: &Prefix) {
    let key = prefix.at("p.json");
    let first = moved(store.swap_pointer(&key, None, b"one").expect("swap"));
    let read = store
        .read_pointer(&key, Some(&first))
        .expect("read_pointer");
    assert_eq!(read, PointerRead::Unchanged);
    let second = moved(
        store
            .swap_pointer(&key, Some(&first), b"two")
            .expect("swap"),
    );
    let read = store
        .read_pointer(&key, Some(&first))
        .expect("read_pointer");
    assert_eq!(
        read,
        PointerRead::Found {
            bytes: b"two".to_vec(),
            version: second
        }
    );
}

pub(super) fn one_of_many_first_writers_wins(store: &dyn Store, prefix: &Prefix) {
    let key = prefix.at("p.json");
    let bodies: Vec<String> = (0..8).map(|writer| format!("writer {writer}")).collect();
    let wins: Vec<usize> = std::thread::scope(|scope| {
        let writers: Vec<_> = bodies
            .iter()
            .map(|body| scope.spawn(|| store.swap_pointer(&key, None, body.as_bytes())))
            .collect();
        let ends = writers
            .into_iter()
            .map(|writer| writer.join().expect("a writer ends"));
        ends.enumerate()
            .filter(|(_, end)| matches!(end, Ok(Swap::Moved(_))))
            .map(|(at, _)| at)
            .collect()
    });
    assert_eq!(wins.len(), 1, "exactly one first writer wins");
    assert_eq!(current(store, &key).0, bodies[wins[0]].as_bytes());
}

/// Writers add their mark to the pointer's text until each has succeeded so often; every acknowledged mark
/// must be in the end text, once.
pub(super) fn no_update_is_lost(store: &dyn Store, prefix: &Prefix) {
    const WRITERS: usize = 4;
    const ROUNDS: usize = 5;
    let key = prefix.at("p.json");
    let acknowledged: Vec<String> = std::thread::scope(|scope| {
        let key = &key;
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| scope.spawn(move || append_marks(store, key, writer, ROUNDS)))
            .collect();
        writers
            .into_iter()
            .flat_map(|writer| writer.join().expect("a writer ends"))
            .collect()
    });
    let text = String::from_utf8(current(store, &key).0).expect("marks are text");
    let mut stored: Vec<&str> = text.lines().collect();
    let mut expected: Vec<&str> = acknowledged.iter().map(String::as_str).collect();
    stored.sort_unstable();
    expected.sort_unstable();
    assert_eq!(
        stored, expected,
        "every acknowledged update is there once, and no other"
    );
}

fn append_marks(store: &dyn Store, key: &Key, writer: usize, rounds: usize) -> Vec<String> {
    let mut acknowledged = Vec::new();
    let mut attempt = 0;
    while acknowledged.len() < rounds {
        attempt += 1;
        let (mut text, version) = match store.read_pointer(key, None).expect("read_pointer") {
            PointerRead::Found { bytes, version } => (bytes, Some(version)),
            PointerRead::Absent => (Vec::new(), None),
            PointerRead::Unchanged => panic!("no version was given"),
        };
        let mark = format!("{writer}.{attempt}");
        text.extend_from_slice(mark.as_bytes());
        text.push(b'\n');
        match store
            .swap_pointer(key, version.as_ref(), &text)
            .expect("swap")
        {
            Swap::Moved(_) => acknowledged.push(mark),
            Swap::Conflict => {}
            Swap::Unknown(error) => panic!("a healthy store loses no answer: {error}"),
        }
    }
    acknowledged
}

pub(super) fn readers_see_whole_versions(store: &dyn Store, prefix: &Prefix) {
    const VERSIONS: u8 = 20;
    let key = prefix.at("p.json");
    let mut version = moved(
        store
            .swap_pointer(&key, None, &vec![0; 64 * 1024])
            .expect("swap"),
    );
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut last = 0;
            while last < VERSIONS {
                let (bytes, _) = current(store, &key);
                assert_eq!(bytes.len(), 64 * 1024, "a version is read whole");
                assert!(
                    bytes.iter().all(|b| *b == bytes[0]),
                    "a version is never mixed"
                );
                assert!(bytes[0] >= last, "versions do not go back");
                last = bytes[0];
            }
        });
        for next in 1..=VERSIONS {
            let body = vec![next; 64 * 1024];
            version = moved(
                store
                    .swap_pointer(&key, Some(&version), &body)
                    .expect("swap"),
            );
        }
        reader.join().expect("the reader saw whole versions only");
    });
}
