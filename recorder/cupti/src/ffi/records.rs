//! Reading the records of a completed buffer.
//!
//! Offsets are those of every CUPTI from 11.8 to 13.5: `kind` at 0, a kernel's `name` at 104. Record sizes
//! differ between versions, so CUPTI steps from one to the next.

use std::ffi::c_char;
use std::ptr;
use std::slice;

use kernrec_trace_writer::MAX_NAME_BYTES;

use super::library::{Cupti, Status};

/// `CUPTI_ERROR_MAX_LIMIT_REACHED`: no more records.
const NO_MORE: Status = 12;

const KIND_SERIAL_KERNEL: u32 = 3;
const KIND_DRIVER: u32 = 4;
const KIND_CONCURRENT_KERNEL: u32 = 10;
const KIND_GRAPH: u32 = 51;
const KIND_DEVICE_GRAPH: u32 = 53;
const NAME_OFFSET: usize = 104;
const KERNEL_BYTES: usize = NAME_OFFSET + size_of::<*const c_char>();

/// One record, as far as the recorder cares.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Record {
    /// A kernel ran, alone or as a node of a graph.
    Kernel(NamePointer),
    /// A whole graph ran: the records of its kernels are missing.
    Graph,
    /// A call of the driver's interface: asked for by the recorder's own probe only.
    DriverCall,
    /// Anything else another client enabled.
    Other,
}

/// CUPTI's pointer to a kernel's name; null when it has none. Valid until the completion callback
/// returns; the same pointer is the same name until then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NamePointer(*const c_char);

impl NamePointer {
    pub(crate) const NULL: Self = Self(ptr::null());

    pub(crate) fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// A small number that differs for most pointers, to index a cache with.
    pub(crate) fn spread(self, buckets: usize) -> usize {
        // Names are allocated 16 bytes apart at least.
        let address = self.0.addr() >> 4;
        (address ^ (address >> 9)) % buckets
    }

    /// The name, cut off just above the longest that a recording takes, so that a missing end is not
    /// searched for through all memory.
    pub(crate) fn text(&self) -> &[u8] {
        if self.is_null() {
            return &[];
        }
        // SAFETY: only `Records` makes these, for the time of one completion callback, and CUPTI keeps
        // the string alive until that returns; strnlen stops at its end.
        unsafe {
            let len = libc::strnlen(self.0, MAX_NAME_BYTES + 1);
            slice::from_raw_parts(self.0.cast::<u8>(), len)
        }
    }
}

/// The records of one buffer. Ends at the first error.
pub(crate) struct Records<'a> {
    cupti: &'a Cupti,
    buffer: *mut u8,
    valid: usize,
    at: *mut u8,
    ended: bool,
}

impl<'a> Records<'a> {
    /// `buffer` holds `valid` bytes of records and belongs to us until the callback returns.
    pub(crate) fn new(cupti: &'a Cupti, buffer: *mut u8, valid: usize) -> Self {
        Self {
            cupti,
            buffer,
            valid,
            at: ptr::null_mut(),
            ended: buffer.is_null() || valid == 0,
        }
    }

    /// Whether `bytes` at the current record lie inside the buffer.
    fn holds(&self, bytes: usize) -> bool {
        self.at
            .addr()
            .checked_sub(self.buffer.addr())
            .is_some_and(|start| start < self.valid && self.valid - start >= bytes)
    }

    fn read(&self) -> Option<Record> {
        if !self.holds(size_of::<u32>()) {
            return None;
        }
        // SAFETY: inside the buffer; every record starts with its kind. Unaligned reads accept any address.
        let kind = unsafe { self.at.cast::<u32>().read_unaligned() };
        Some(match kind {
            KIND_CONCURRENT_KERNEL | KIND_SERIAL_KERNEL => {
                if !self.holds(KERNEL_BYTES) {
                    return None;
                }
                // SAFETY: inside the buffer, checked just above.
                let name = unsafe {
                    self.at
                        .add(NAME_OFFSET)
                        .cast::<*const c_char>()
                        .read_unaligned()
                };
                Record::Kernel(NamePointer(name))
            }
            KIND_GRAPH | KIND_DEVICE_GRAPH => Record::Graph,
            KIND_DRIVER => Record::DriverCall,
            _ => Record::Other,
        })
    }
}

/// A record that CUPTI could not step to, or that does not lie in the buffer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BadRecord;

impl Iterator for Records<'_> {
    type Item = Result<Record, BadRecord>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        // SAFETY: the buffer is the one CUPTI just completed, `at` null or the record it gave before.
        let status = unsafe { (self.cupti.next_record)(self.buffer, self.valid, &raw mut self.at) };
        let record = match status {
            0 => self.read(),
            NO_MORE => {
                self.ended = true;
                return None;
            }
            _ => None,
        };
        self.ended = record.is_none();
        Some(record.ok_or(BadRecord))
    }
}
