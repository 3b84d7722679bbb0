//! Many writers at the same moment.

use kernrec_store::StoreError;
use std::sync::Barrier;

/// Writes every body from a thread of its own, all at once; the ends, in the order of the bodies.
pub(super) fn race<T: Send>(
    bodies: &[Vec<u8>],
    write: impl Fn(&[u8]) -> Result<T, StoreError> + Sync,
) -> Vec<Result<T, StoreError>> {
    let (barrier, write) = (&Barrier::new(bodies.len()), &write);
    std::thread::scope(|scope| {
        let spawn = |body: &Vec<u8>| {
            let body = body.clone();
            scope.spawn(move || {
                barrier.wait();
                write(&body)
            })
        };
        let writers: Vec<_> = bodies.iter().map(spawn).collect();
        writers
            .into_iter()
            .map(|writer| {
                writer
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            })
            .collect()
    })
}
