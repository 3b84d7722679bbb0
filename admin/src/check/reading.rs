//! What readers rely on, tried on what is published.

use super::fault::{Fault, holds, offered, verdict};
use super::{Promise, Verdict, values};
use crate::scratch::Scratch;
use kernrec_schemas::json::MAX_SMALL_BYTES;
use kernrec_schemas::{Backend, Digest, Pipeline};
use kernrec_store::{Key, PointerRead, Store, StoreError, objects, pointers};
use std::io::Read;

/// Nothing that is published can be tried.
const NOTHING: &str = "nothing is published here under this pipeline";

pub(super) fn promises(
    store: &dyn Store,
    scratch: &Scratch,
    pipeline: &Pipeline,
) -> Vec<(Promise, Verdict)> {
    let absence = verdict(values::absence(store, scratch));
    let of_published = |proof: fn(&dyn Store, &Published) -> Result<(), Fault>| {
        let result = published(store, pipeline).and_then(|published| match published {
            Some(published) => proof(store, &published),
            None => Err(Fault::NotTried(NOTHING)),
        });
        verdict(result)
    };
    vec![
        (Promise::Absence, absence),
        (Promise::ConditionalRead, of_published(conditional_read)),
        (Promise::Ranges, of_published(ranges)),
    ]
}

struct Published {
    pointer: Key,
    manifest: Digest,
}

fn published(store: &dyn Store, pipeline: &Pipeline) -> Result<Option<Published>, Fault> {
    for backend in Backend::ALL {
        if let Some(found) = pointers::read(store, pipeline, backend)? {
            return Ok(Some(Published {
                pointer: Key::pointer(pipeline, backend),
                manifest: found.pointer.current.manifest,
            }));
        }
    }
    Ok(None)
}

fn conditional_read(store: &dyn Store, published: &Published) -> Result<(), Fault> {
    let PointerRead::Found { bytes, version } = store.read_pointer(&published.pointer, None)?
    else {
        return Err(Fault::NotTried(NOTHING));
    };
    match store.read_pointer(&published.pointer, Some(&version))? {
        PointerRead::Unchanged => Ok(()),
        // It may have moved meanwhile.
        PointerRead::Found { bytes: now, .. } => holds(now != bytes, || {
            "a pointer that did not move is not told to be unchanged".to_owned()
        }),
        PointerRead::Absent => Err(Fault::Broken("the pointer vanished".to_owned())),
    }
}

fn ranges(store: &dyn Store, published: &Published) -> Result<(), Fault> {
    let key = Key::object(&published.manifest);
    // Verified, so that what is compared with is right.
    objects::read_bounded(store, &published.manifest, MAX_SMALL_BYTES)?;
    let whole = read(store, &key, 0)?;
    for offset in [1, whole.len() / 2, whole.len().saturating_sub(1)] {
        let rest = read(store, &key, offset as u64)?;
        holds(whole.get(offset..) == Some(&rest), || {
            format!("reading from byte {offset} gave other bytes than stand there")
        })?;
    }
    Ok(())
}

fn read(store: &dyn Store, key: &Key, offset: u64) -> Result<Vec<u8>, Fault> {
    let mut bytes = Vec::new();
    let reader = match offset {
        0 => store.read(key)?,
        offset => offered(store.read_from(key, offset))?,
    };
    let read = reader.take(MAX_SMALL_BYTES).read_to_end(&mut bytes);
    match read {
        Ok(_) => Ok(bytes),
        Err(source) => Err(Fault::Store(StoreError::Unavailable {
            url: store.url().to_owned(),
            key: key.to_string(),
            action: "read",
            source: Box::new(source),
        })),
    }
}
