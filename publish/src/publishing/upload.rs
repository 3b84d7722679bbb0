//! Objects into the store, each proven to be there before the pointer may name them.

use super::PublishError;
use super::bundles::Bundles;
use super::record::Record;
use kernrec_store::objects::{self, Likely};
use kernrec_store::{Key, Store};
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Objects on their way at the same time: each waits for the network most of the time, and a record has hundreds.
const PARALLEL: usize = 8;

/// Stores documents and bundles. What stands there damaged is healed.
pub(super) fn upload(
    store: &dyn Store,
    record: &Record,
    bundles: &Bundles,
) -> Result<(), PublishError> {
    // Whoever stored the manifest stored, most likely, all that it names.
    let likely = match store.stat(&Key::object(&record.manifest))? {
        Some(_) => Likely::Stored,
        None => Likely::New,
    };
    let documents = record.documents.len();
    // The documents are the largest by far, so they go first.
    at_once(documents + bundles.len(), |number| {
        match record.documents.get(number) {
            Some(document) => objects::put_likely(store, document, likely)
                .map(drop)
                .map_err(PublishError::from),
            None => bundles.upload(store, number - documents, likely),
        }
    })
}

/// Does every piece of work, several at once. After a failure no other piece is begun.
fn at_once(
    pieces: usize,
    work: impl Fn(usize) -> Result<(), PublishError> + Sync,
) -> Result<(), PublishError> {
    let next = AtomicUsize::new(0);
    let worker = || -> Result<(), PublishError> {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= pieces {
                return Ok(());
            }
            work(number).inspect_err(|_| next.store(pieces, Ordering::Relaxed))?;
        }
    };
    thread::scope(|scope| {
        let others: Vec<_> = (1..pieces.min(PARALLEL))
            .map(|_| scope.spawn(worker))
            .collect();
        let own = worker();
        others
            .into_iter()
            .map(|other| other.join().unwrap_or_else(|panic| resume_unwind(panic)))
            .fold(own, Result::and)
    })
}
