//! Proofs about pointers.

use super::fault::{Fault, holds};
use super::{WRITERS, race};
use crate::scratch::Scratch;
use kernrec_store::{Key, PointerRead, Store, Swap, Version};

/// Rounds of a race for one pointer. Each round builds on the one before, so a move that is lost shows.
const SWAP_ROUNDS: usize = 4;

pub(super) fn compare_and_swap(store: &dyn Store, scratch: &Scratch) -> Result<(), Fault> {
    let key = scratch.key("swapped.json");
    let mut text = scratch.content(0, 40);
    let first = moved(store.swap_pointer(&key, None, &text)?)?;
    refused(store, &key, None, "a pointer that exists was created")?;
    let mut version = first.clone();
    for round in 0..SWAP_ROUNDS {
        let bodies = bodies(&text, round);
        let winners = race_for(store, &key, &version, &bodies)?;
        holds(winners.len() == 1, || {
            let told = winners.len();
            format!(
                "{told} of {WRITERS} writers were told that they moved a pointer from one version"
            )
        })?;
        let (winner, at) = &winners[0];
        let (found, read) = current(store, &key)?;
        holds(found == bodies[*winner], || {
            "the pointer is not what the one writer wrote that was told so".to_owned()
        })?;
        holds(*at == read, || {
            "a move gives another version than reading the pointer does".to_owned()
        })?;
        (text, version) = (found, read);
    }
    refused(
        store,
        &key,
        Some(&first),
        "a pointer moved from a version that it had left",
    )?;
    let absent = scratch.key("swapped-absent.json");
    refused(
        store,
        &absent,
        Some(&first),
        "a pointer that does not exist moved",
    )?;
    let (found, _) = current(store, &key)?;
    holds(found == text, || {
        "a refused move changed the pointer".to_owned()
    })
}

pub(super) fn conditional_read(store: &dyn Store, scratch: &Scratch) -> Result<(), Fault> {
    let key = scratch.key("read.json");
    let first = moved(store.swap_pointer(&key, None, &scratch.content(1, 50))?)?;
    holds(
        store.read_pointer(&key, Some(&first))? == PointerRead::Unchanged,
        || "a pointer that did not move is not told to be unchanged".to_owned(),
    )?;
    let next = scratch.content(2, 60);
    moved(store.swap_pointer(&key, Some(&first), &next)?)?;
    match store.read_pointer(&key, Some(&first))? {
        PointerRead::Found { bytes, .. } if bytes == next => Ok(()),
        PointerRead::Unchanged => Err(Fault::Broken(
            "a pointer that moved is told to be unchanged".to_owned(),
        )),
        PointerRead::Found { .. } | PointerRead::Absent => Err(Fault::Broken(
            "a pointer that moved is read as something else".to_owned(),
        )),
    }
}

/// What each writer of a round wants to write: what stands there, and its mark.
fn bodies(text: &[u8], round: usize) -> Vec<Vec<u8>> {
    let body = |writer| [text, format!("\n{round}.{writer}").as_bytes()].concat();
    (0..WRITERS).map(body).collect()
}

/// All at once; who was told to have moved the pointer, and to which version.
fn race_for(
    store: &dyn Store,
    key: &Key,
    version: &Version,
    bodies: &[Vec<u8>],
) -> Result<Vec<(usize, Version)>, Fault> {
    let ends = race::race(bodies, |body| store.swap_pointer(key, Some(version), body));
    let mut winners = Vec::new();
    for (writer, end) in ends.into_iter().enumerate() {
        match end? {
            Swap::Moved(version) => winners.push((writer, version)),
            Swap::Conflict => {}
            Swap::Unknown(error) => return Err(error.into()),
        }
    }
    Ok(winners)
}

fn current(store: &dyn Store, key: &Key) -> Result<(Vec<u8>, Version), Fault> {
    match store.read_pointer(key, None)? {
        PointerRead::Found { bytes, version } => Ok((bytes, version)),
        PointerRead::Absent | PointerRead::Unchanged => Err(Fault::Broken(
            "a pointer that was written cannot be read".to_owned(),
        )),
    }
}

fn moved(swap: Swap) -> Result<Version, Fault> {
    match swap {
        Swap::Moved(version) => Ok(version),
        Swap::Conflict => Err(Fault::Broken(
            "a move that nobody else competed with was refused".to_owned(),
        )),
        Swap::Unknown(error) => Err(error.into()),
    }
}

fn refused(
    store: &dyn Store,
    key: &Key,
    expected: Option<&Version>,
    problem: &str,
) -> Result<(), Fault> {
    match store.swap_pointer(key, expected, b"must not be written")? {
        Swap::Conflict => Ok(()),
        Swap::Moved(_) => Err(Fault::Broken(problem.to_owned())),
        Swap::Unknown(error) => Err(error.into()),
    }
}
