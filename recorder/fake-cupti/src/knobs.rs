//! What a test can make go wrong, by number, so that the host program needs no types of ours.

use std::sync::atomic::{AtomicI64, Ordering};

/// One adjustable behaviour.
#[derive(Clone, Copy, Debug)]
#[repr(u32)]
pub(crate) enum Knob {
    /// Status of `cuptiActivityRegisterCallbacks`.
    RegisterStatus = 0,
    /// Status of `cuptiActivityEnable`.
    EnableStatus = 1,
    /// Status of `cuptiActivityFlushAll`, which then delivers nothing.
    FlushStatus = 2,
    /// The n-th step of `cuptiActivityGetNextRecord` fails; 0 never.
    BadRecordAt = 3,
    /// Records reported as lost, once.
    Dropped = 4,
    /// `cuptiActivityFlushAll` returns before the buffers are delivered, by another thread.
    LateDelivery = 5,
    /// The version number.
    Version = 6,
    /// Launches become records of this kind instead of the kernel kind; 0 does not change it.
    RecordKind = 7,
    /// Not zero: the kernels run on, so that only a forced flush delivers their records.
    Unfinished = 8,
    /// Status of `cuptiActivityGetNumDroppedRecords`.
    DroppedStatus = 9,
    /// Status of `cuptiActivityDisable`, which disables all the same.
    DisableStatus = 10,
    /// Status of `cuptiActivityGetEnabledKinds`.
    KindsStatus = 11,
    /// Not zero: a `cuptiActivityFlushAll` that delivers something does not come back.
    FlushHangs = 12,
}

const COUNT: usize = 13;

static VALUES: [AtomicI64; COUNT] = [const { AtomicI64::new(0) }; COUNT];

impl Knob {
    pub(crate) fn value(self) -> i64 {
        VALUES[self as usize].load(Ordering::SeqCst)
    }

    pub(crate) fn status(self) -> i32 {
        i32::try_from(self.value()).unwrap_or(i32::MAX)
    }

    /// Reads the value and sets it to zero.
    pub(crate) fn take(self) -> i64 {
        VALUES[self as usize].swap(0, Ordering::SeqCst)
    }

    /// Counts down to zero; `true` on the step that reaches it.
    pub(crate) fn count_down(self) -> bool {
        let value = &VALUES[self as usize];
        value.load(Ordering::SeqCst) > 0 && value.fetch_sub(1, Ordering::SeqCst) == 1
    }
}

pub(crate) fn set(number: u32, value: i64) {
    if let Some(knob) = VALUES.get(number as usize) {
        knob.store(value, Ordering::SeqCst);
    }
}
