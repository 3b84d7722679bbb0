//! Several pieces of work at a time, and work that is tried again.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::thread;
use std::time::Duration;

/// How many requests or programs run at once.
const AT_ONCE: usize = 8;
/// The pause before the second try; each further one doubles it.
const FIRST_PAUSE: Duration = Duration::from_secs(1);

/// Does the work for each item, at most [`AT_ONCE`] at a time; the answers in the order of the items.
pub(crate) fn each<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = Mutex::new(items.iter().enumerate());
    let take = || next.lock().unwrap_or_else(PoisonError::into_inner).next();
    let mut done: Vec<(usize, R)> = thread::scope(|scope| {
        let worker = || {
            let mut own = Vec::new();
            while let Some((index, item)) = take() {
                own.push((index, work(item)));
            }
            own
        };
        let workers: Vec<_> = (0..AT_ONCE.min(items.len()))
            .map(|_| scope.spawn(worker))
            .collect();
        workers
            .into_iter()
            .flat_map(|worker| {
                worker
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            })
            .collect()
    });
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, answer)| answer).collect()
}

/// How often and how patiently something is tried again.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// Tries after the first.
    pub retries: u32,
    /// No pause is longer.
    pub longest_pause: Duration,
}

/// A failure, and whether another try could end otherwise.
#[derive(Debug)]
pub(crate) enum Failed<E> {
    /// It may pass.
    ForNow(E),
    /// It stays.
    ForGood(E),
}

impl Patience {
    /// Tries until it works, fails for good, or no try is left.
    pub(crate) fn tried<T, E>(
        self,
        mut work: impl FnMut() -> Result<T, Failed<E>>,
    ) -> Result<T, E> {
        let mut made = 0;
        loop {
            match work() {
                Ok(done) => return Ok(done),
                Err(Failed::ForNow(_)) if made < self.retries => {
                    let pause = FIRST_PAUSE.saturating_mul(1 << made.min(16));
                    thread::sleep(pause.min(self.longest_pause));
                    made += 1;
                }
                Err(Failed::ForNow(error) | Failed::ForGood(error)) => return Err(error),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Failed, Patience, each};
    use std::time::Duration;

    #[test]
    fn answers_stand_in_the_order_of_the_items() {
        let items: Vec<usize> = (0..100).collect();
        assert_eq!(
            each(&items, |item| item * 2),
            (0..200).step_by(2).collect::<Vec<_>>()
        );
        assert_eq!(each(&[] as &[u8], |_| ()), []);
    }

    #[test]
    fn what_may_pass_is_tried_again_and_what_stays_is_not() {
        let patience = Patience {
            retries: 2,
            longest_pause: Duration::ZERO,
        };
        let mut tries = 0;
        let mut failing = |failure: fn(u32) -> Failed<u32>| {
            tries = 0;
            let ended: Result<(), u32> = patience.tried(|| {
                tries += 1;
                Err(failure(tries))
            });
            (ended, tries)
        };
        assert_eq!(failing(Failed::ForNow), (Err(3), 3));
        assert_eq!(failing(Failed::ForGood), (Err(1), 1));
    }
}
