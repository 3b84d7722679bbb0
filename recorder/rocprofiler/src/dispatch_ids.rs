//! The proof that no record is missing.
//!
//! The SDK numbers dispatches from 1, one by one, for the whole process. So records are complete when
//! every number up to the highest has come, once. They come out of order, by as much as kernels overlap;
//! the numbers that came early are kept as runs, as many as there are gaps at one time.

use std::collections::VecDeque;

/// As many gaps as may be open at one time; 512 KiB. Far above the kernels that are in flight together.
const MAX_RUNS: usize = 1 << 15;

/// A number came twice.
pub(crate) const REPEATED: &str = "repeated_dispatch_id";
/// No number has it.
pub(crate) const ZERO: &str = "invalid_dispatch_id";
/// There was no room to tell.
pub(crate) const SCATTERED: &str = "scattered_dispatch_ids";

#[derive(Clone, Copy, Debug)]
struct Run {
    first: u64,
    last: u64,
}

/// Which numbers have come.
#[derive(Debug, Default)]
pub(crate) struct DispatchIds {
    /// All up to this one.
    complete: u64,
    /// Those above it: ascending, with gaps between them.
    runs: VecDeque<Run>,
}

impl DispatchIds {
    /// Notes a number. The error word, if it cannot be one of a complete recording.
    #[inline]
    pub(crate) fn add(&mut self, id: u64) -> Result<(), &'static str> {
        if id == self.complete + 1 && self.runs.is_empty() {
            self.complete = id;
            return Ok(());
        }
        match self.runs.back_mut() {
            Some(last) if last.last.checked_add(1) == Some(id) => {
                last.last = id;
                Ok(())
            }
            _ => self.insert(id),
        }
    }

    /// How many numbers up to the highest have not come.
    pub(crate) fn missing(&self) -> u64 {
        let came: u64 = self.runs.iter().map(|run| run.last - run.first + 1).sum();
        self.highest() - self.complete - came
    }

    /// The highest number that has come.
    fn highest(&self) -> u64 {
        self.runs.back().map_or(self.complete, |run| run.last)
    }

    fn insert(&mut self, id: u64) -> Result<(), &'static str> {
        if id == 0 {
            return Err(ZERO);
        }
        // The first run that ends at the number or behind it.
        let at = self.runs.partition_point(|run| run.last < id);
        let next = self.runs.get(at).copied();
        if id <= self.complete || next.is_some_and(|run| run.first <= id) {
            return Err(REPEATED);
        }
        let extends_next = next.is_some_and(|run| run.first - 1 == id);
        if id == self.complete + 1 {
            self.complete = id;
            if extends_next && let Some(run) = self.runs.pop_front() {
                self.complete = run.last;
            }
            return Ok(());
        }
        let before = at.checked_sub(1);
        let extends_before = before
            .and_then(|before| self.runs.get(before))
            .is_some_and(|run| run.last + 1 == id);
        match (before.filter(|_| extends_before), extends_next) {
            (Some(before), true) => {
                let next = self.runs.remove(at);
                if let (Some(run), Some(next)) = (self.runs.get_mut(before), next) {
                    run.last = next.last;
                }
            }
            (Some(before), false) => {
                if let Some(run) = self.runs.get_mut(before) {
                    run.last = id;
                }
            }
            (None, true) => {
                if let Some(run) = self.runs.get_mut(at) {
                    run.first = id;
                }
            }
            (None, false) => return self.insert_run(at, id),
        }
        Ok(())
    }

    fn insert_run(&mut self, at: usize, id: u64) -> Result<(), &'static str> {
        if self.runs.len() >= MAX_RUNS || self.runs.try_reserve(1).is_err() {
            return Err(SCATTERED);
        }
        self.runs.insert(
            at,
            Run {
                first: id,
                last: id,
            },
        );
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn missing(seen: &BTreeSet<u64>) -> u64 {
        seen.last().copied().unwrap_or(0) - seen.len() as u64
    }

    proptest! {
        #[test]
        fn what_is_missing_is_what_a_set_says(ids in prop::collection::vec(0_u64..60, 0..200)) {
            let (mut ours, mut theirs) = (DispatchIds::default(), BTreeSet::new());
            for id in ids {
                let expected = match id {
                    0 => Err(ZERO),
                    id if theirs.insert(id) => Ok(()),
                    _ => Err(REPEATED),
                };
                prop_assert_eq!(ours.add(id), expected);
                prop_assert_eq!(ours.missing(), missing(&theirs));
                prop_assert_eq!(ours.highest(), theirs.last().copied().unwrap_or(0));
            }
        }

        #[test]
        fn any_order_of_all_numbers_is_complete(ids in Just((1_u64..500).collect::<Vec<_>>()).prop_shuffle()) {
            let mut ours = DispatchIds::default();
            for id in ids {
                prop_assert_eq!(ours.add(id), Ok(()));
            }
            prop_assert_eq!((ours.missing(), ours.highest()), (0, 499));
            prop_assert!(ours.runs.is_empty());
        }
    }

    #[test]
    fn the_largest_number_is_one() {
        let mut ours = DispatchIds::default();
        assert_eq!(ours.add(u64::MAX), Ok(()));
        assert_eq!(ours.add(u64::MAX), Err(REPEATED));
        assert_eq!(ours.add(1), Ok(()));
        assert_eq!(ours.missing(), u64::MAX - 2);
    }

    #[test]
    fn room_for_gaps_ends() {
        let mut ours = DispatchIds::default();
        let results: Vec<_> = (1..=MAX_RUNS as u64 + 1).map(|n| ours.add(2 * n)).collect();
        assert_eq!(results.last(), Some(&Err(SCATTERED)));
        assert!(results[..MAX_RUNS].iter().all(Result::is_ok));
        // A gap that closes makes room.
        assert_eq!(ours.add(1), Ok(()));
        assert_eq!(ours.add(2 * (MAX_RUNS as u64 + 1)), Ok(()));
    }
}
