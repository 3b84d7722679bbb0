//! The memory lent to CUPTI for its records.
//!
//! One buffer per launching thread is out at a time, plus those being read. Buffers come from the
//! process's own `malloc`, are zeroed, and are kept for the next request: another client that receives
//! one of ours after taking the callbacks may free it, and some do.

use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};

use crate::ffi::memory;

/// Within CUPTI's advised range of 1 to 10 MB; about 9,000 kernel records.
pub(crate) const BUFFER_BYTES: usize = 2 << 20;
/// The most that is ever out: 2 GiB, reached by a thousand threads that launch at the same time.
const MAX_BUFFERS: usize = 1 << 10;

#[derive(Debug)]
struct Slot {
    start: AtomicPtr<u8>,
    out: AtomicBool,
}

/// The buffers of a process. Lock-free: requests come from many threads at once.
#[derive(Debug)]
pub(crate) struct Buffers {
    slots: [Slot; MAX_BUFFERS],
    /// Slots from this index on were never used.
    used: AtomicUsize,
    out: AtomicUsize,
}

impl Buffers {
    pub(crate) const fn new() -> Self {
        Self {
            slots: [const {
                Slot {
                    start: AtomicPtr::new(ptr::null_mut()),
                    out: AtomicBool::new(false),
                }
            }; MAX_BUFFERS],
            used: AtomicUsize::new(0),
            out: AtomicUsize::new(0),
        }
    }

    /// A zeroed buffer of [`BUFFER_BYTES`]; `None` when memory or the limit is exhausted.
    pub(crate) fn lend(&self) -> Option<NonNull<u8>> {
        let free = self.in_use().iter().find(|slot| {
            !slot.out.load(Ordering::Relaxed) && !slot.out.swap(true, Ordering::AcqRel)
        });
        let slot = match free {
            Some(slot) => slot,
            None => self.claim()?,
        };
        let start = match NonNull::new(slot.start.load(Ordering::Acquire)) {
            Some(start) => start,
            None => allocate(slot)?,
        };
        self.out.fetch_add(1, Ordering::AcqRel);
        Some(start)
    }

    /// Takes a buffer back, zeroes it and keeps it. `false` for one that was not lent by us, which is
    /// left alone.
    pub(crate) fn take_back(&self, start: *mut u8) -> bool {
        let lent = self.in_use().iter().find(|slot| {
            slot.start.load(Ordering::Acquire) == start && slot.out.load(Ordering::Acquire)
        });
        let (Some(slot), Some(start)) = (lent, NonNull::new(start)) else {
            return false;
        };
        memory::zero(start, BUFFER_BYTES);
        slot.out.store(false, Ordering::Release);
        self.out.fetch_sub(1, Ordering::AcqRel);
        true
    }

    /// How many are with CUPTI.
    pub(crate) fn outstanding(&self) -> usize {
        self.out.load(Ordering::Acquire)
    }

    fn in_use(&self) -> &[Slot] {
        let used = self.used.load(Ordering::Acquire).min(MAX_BUFFERS);
        self.slots.get(..used).unwrap_or(&self.slots)
    }

    /// A slot never used before, marked as out.
    fn claim(&self) -> Option<&Slot> {
        let index = self.used.fetch_add(1, Ordering::AcqRel);
        if index >= MAX_BUFFERS {
            self.used.store(MAX_BUFFERS, Ordering::Release);
            return None;
        }
        let slot = self.slots.get(index)?;
        // Another thread may have found the slot, still without memory, before this one marked it.
        if slot.out.swap(true, Ordering::AcqRel) {
            return self.claim();
        }
        Some(slot)
    }
}

fn allocate(slot: &Slot) -> Option<NonNull<u8>> {
    let Some(start) = memory::zeroed(BUFFER_BYTES) else {
        slot.out.store(false, Ordering::Release);
        return None;
    };
    slot.start.store(start.as_ptr(), Ordering::Release);
    Some(start)
}
