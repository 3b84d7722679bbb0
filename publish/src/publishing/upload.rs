//! Objects into the store, each proven to be there before the pointer may name them.

use super::PublishError;
use super::bundles::Bundles;
use super::record::Record;
use kernrec_store::objects::{self, Likely};
use kernrec_store::{Key, Store};
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
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
    let Some((manifest, others)) = record.documents.split_last() else {
        return Ok(());
    };
    // The small one alone, so that the folders which a store on a disk needs are there before several need them.
    objects::put_likely(store, manifest, likely)?;
    // The documents are the largest by far, so they go before the bundles.
    let documents = others.len();
    at_once(documents + bundles.len(), |number| {
        match others.get(number) {
            Some(document) => objects::put_likely(store, document, likely)
                .map(drop)
                .map_err(PublishError::from),
            None => bundles.upload(store, number - documents, likely),
        }
    })
}

/// Does every piece of work, several at once. After a failure no other piece is begun.
///
/// Each thread has its pieces from the start, so that two runs make the same calls in the same threads.
fn at_once(
    pieces: usize,
    work: impl Fn(usize) -> Result<(), PublishError> + Sync,
) -> Result<(), PublishError> {
    let threads = pieces.clamp(1, PARALLEL);
    let failed = AtomicBool::new(false);
    let worker = |first: usize| -> Result<(), PublishError> {
        for number in (first..pieces).step_by(threads) {
            if failed.load(Ordering::Relaxed) {
                break;
            }
            work(number).inspect_err(|_| failed.store(true, Ordering::Relaxed))?;
        }
        Ok(())
    };
    thread::scope(|scope| {
        let worker = &worker;
        let others: Vec<_> = (1..threads)
            .map(|first| scope.spawn(move || worker(first)))
            .collect();
        let own = worker(0);
        others
            .into_iter()
            .map(|other| other.join().unwrap_or_else(|panic| resume_unwind(panic)))
            .fold(own, Result::and)
    })
}
