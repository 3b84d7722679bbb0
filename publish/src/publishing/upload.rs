//! Objects into the store, each proven to be there before the pointer may name them.

use super::PublishError;
use super::bundles::Bundles;
use super::record::{Document, Record};
use kernrec_store::objects::{self, Likely};
use kernrec_store::{Key, Store};
use rayon::prelude::*;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// Objects on their way at the same time: each waits for the network most of the time, and a record has hundreds.
const PARALLEL: usize = 8;

/// Stores documents and bundles. What stands there damaged is healed.
///
/// `moves`: a pointer will be moved next.
pub(super) fn upload(
    store: &dyn Store,
    record: &Record,
    bundles: &Bundles,
    moves: bool,
) -> Result<(), PublishError> {
    let Some((manifest, others)) = record.documents.split_last() else {
        return Ok(());
    };
    // The large documents need no answer of the store to be compressed.
    let (likely, frames) = thread::scope(|scope| {
        let compressing = scope.spawn(|| frames(others));
        let likely = begin(store, manifest);
        let frames = compressing.join();
        (likely, frames.unwrap_or_else(|panic| resume_unwind(panic)))
    });
    let likely = likely?;
    // The documents are the largest by far, so they go before the bundles. What the pointer's move has to know is small
    // and asked for while they are on their way.
    let documents = others.len();
    at_once(documents + 1 + bundles.len(), |number| {
        match others.get(number).zip(frames.get(number)) {
            Some((document, frame)) => put(store, document, frame, likely),
            None if number == documents && moves => Ok(store.prepare_swap()?),
            None if number == documents => Ok(()),
            None => bundles.upload(store, number - documents - 1, likely),
        }
    })
}

/// Stores the manifest, and says what is to be expected of all that it names.
///
/// The small one alone, so that the folders which a store on a disk needs are there before several need them.
fn begin(store: &dyn Store, manifest: &Document) -> Result<Likely, PublishError> {
    // Whoever stored the manifest stored, most likely, all that it names.
    let likely = match store.stat(&Key::object(&manifest.digest))? {
        Some(_) => Likely::Stored,
        None => Likely::New,
    };
    put(store, manifest, &objects::compress(&manifest.bytes), likely)?;
    Ok(likely)
}

fn frames(documents: &[Document]) -> Vec<Vec<u8>> {
    let compress = |document: &Document| objects::compress(&document.bytes);
    documents.par_iter().map(compress).collect()
}

fn put(
    store: &dyn Store,
    document: &Document,
    frame: &[u8],
    likely: Likely,
) -> Result<(), PublishError> {
    let (key, size) = (Key::object(&document.digest), document.bytes.len() as u64);
    Ok(objects::put_frame(
        store,
        &key,
        frame,
        &document.digest,
        size,
        likely,
    )?)
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
