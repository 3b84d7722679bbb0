//! Buffers of two halves, and the threads that hand them over.
#![expect(unsafe_code, reason = "calls C callbacks")]

use std::cell::Cell;
use std::collections::HashMap;
use std::ops::Range;
use std::ptr;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::abi::{
    BUFFER_BUSY, BUFFER_NOT_FOUND, BufferCallback, DispatchRecord, FINALIZED, KERNEL_DISPATCH,
    POLICY_LOSSLESS, RecordHeader, SUCCESS, dispatch_word,
};
use crate::knobs;
use crate::state::{Data, state};
use crate::tools::crash;

pub(crate) struct Buffer {
    pub(crate) context: u64,
    pub(crate) size: usize,
    pub(crate) watermark: usize,
    pub(crate) policy: u32,
    pub(crate) callback: BufferCallback,
    pub(crate) data: Data,
    pub(crate) thread: u64,
    pub(crate) halves: [Vec<DispatchRecord>; 2],
    /// The half that is being filled.
    pub(crate) filling: usize,
    /// Cumulative, never reset.
    pub(crate) dropped: u64,
    /// Halves that are with the thread.
    pub(crate) on_the_way: u32,
}

impl Buffer {
    /// Bytes in the half that is being filled.
    fn used(&self) -> usize {
        self.halves[self.filling].len() * record_bytes()
    }

    /// The discarding policy never allocates the second.
    fn is_allocated(&self) -> bool {
        self.policy == POLICY_LOSSLESS || self.filling == 0
    }
}

/// The real size decides about room, whatever the record says.
fn record_bytes() -> usize {
    usize::try_from(knobs::get("record-bytes"))
        .unwrap_or(184)
        .clamp(184, 192)
}

/// Records for a callback.
pub(crate) struct Job {
    buffer: u64,
    records: Vec<DispatchRecord>,
    done: Sender<()>,
}

static THREADS: LazyLock<Mutex<HashMap<u64, Sender<Job>>>> = LazyLock::new(Mutex::default);

thread_local! {
    static IN_CALLBACK: Cell<bool> = const { Cell::new(false) };
}

/// The threads by their numbers. Taken after the state's lock where both are.
pub(crate) type Threads = MutexGuard<'static, HashMap<u64, Sender<Job>>>;

pub(crate) fn threads() -> Threads {
    THREADS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Adds a record. Blocks while a lossless buffer is full.
pub(crate) fn store(id: u64, record: DispatchRecord) {
    loop {
        let mut state = state();
        let Some(buffer) = state.buffer(id) else {
            return;
        };
        if !buffer.is_allocated() {
            // Lost, and not counted.
            return;
        }
        if buffer.used() + record_bytes() <= buffer.size {
            let filling = buffer.filling;
            buffer.halves[filling].push(record);
            let full = buffer.used() >= buffer.watermark;
            drop(state);
            if full {
                flush_without_waiting(id);
            }
            return;
        }
        if buffer.policy != POLICY_LOSSLESS {
            buffer.dropped += 1;
            return;
        }
        drop(state);
        flush_without_waiting(id);
        thread::sleep(Duration::from_micros(20));
    }
}

/// What the SDK does at the watermark. While the other half is on its way this one stays.
fn flush_without_waiting(id: u64) {
    let records = {
        let mut state = state();
        match state.buffer(id) {
            Some(buffer) if buffer.on_the_way == 0 => take_filling(buffer),
            _ => return,
        }
    };
    hand_over(id, records);
}

/// `rocprofiler_flush_buffer`.
pub(crate) fn flush(id: u64) -> i32 {
    if IN_CALLBACK.get() {
        // The real one waits for ever, for itself.
        crash("flushed from a callback");
    }
    let taken = {
        let mut state = state();
        if state.finalized == 1 {
            return FINALIZED;
        }
        let Some(buffer) = state.buffer(id) else {
            return BUFFER_NOT_FOUND;
        };
        if knobs::spend("busy") {
            return BUFFER_BUSY;
        }
        if knobs::spend("skip-half") {
            buffer.filling ^= 1;
            return SUCCESS;
        }
        let other = buffer.filling ^ 1;
        let older = std::mem::take(&mut buffer.halves[other]);
        buffer.on_the_way += u32::from(!older.is_empty());
        [older, take_filling(buffer)]
    };
    for records in taken {
        if !records.is_empty()
            && let Some(done) = hand_over(id, records)
        {
            // An error is the end of the thread.
            let _ = done.recv();
        }
    }
    wait(id);
    SUCCESS
}

/// Until what was handed over earlier has been called back.
fn wait(id: u64) {
    while state()
        .buffer(id)
        .is_some_and(|buffer| buffer.on_the_way > 0)
    {
        thread::sleep(Duration::from_micros(20));
    }
}

fn take_filling(buffer: &mut Buffer) -> Vec<DispatchRecord> {
    let records = std::mem::take(&mut buffer.halves[buffer.filling]);
    buffer.filling ^= 1;
    buffer.on_the_way += u32::from(!records.is_empty());
    records
}

/// Gives records to the buffer's thread, whose answer comes when they were called back.
fn hand_over(id: u64, records: Vec<DispatchRecord>) -> Option<Receiver<()>> {
    if records.is_empty() {
        return None;
    }
    let number = state().buffer(id)?.thread;
    let (done, wait) = channel();
    let job = Job {
        buffer: id,
        records,
        done,
    };
    let mut threads = threads();
    let sender = threads.entry(number).or_insert_with(|| {
        let (sender, jobs) = channel::<Job>();
        let work = move || {
            IN_CALLBACK.set(true);
            jobs.iter().for_each(call_back);
        };
        // Without it nothing is called back, which the sender notices.
        let _ = thread::Builder::new()
            .name("fake-sdk".to_owned())
            .spawn(work);
        sender
    });
    sender.send(job).ok()?;
    Some(wait)
}

fn call_back(mut job: Job) {
    deliver(job.buffer, &mut job.records);
    // What is read afterwards is read wrongly: payloads are the SDK's again.
    job.records.fill([0xdead_dead_dead_dead; 24]);
    if let Some(buffer) = state().buffer(job.buffer) {
        buffer.on_the_way -= 1;
    }
    // Nobody waits for those of the watermark.
    let _ = job.done.send(());
}

/// Calls the tool back, and says how long that took.
fn deliver(id: u64, records: &mut [DispatchRecord]) -> Duration {
    let Some((context, callback, data, dropped)) = state()
        .buffer(id)
        .map(|buffer| (buffer.context, buffer.callback, buffer.data, buffer.dropped))
    else {
        return Duration::ZERO;
    };
    let kind = match knobs::get("header-kind") {
        0 => u64::from(KERNEL_DISPATCH),
        other => other,
    };
    let mut headers: Vec<RecordHeader> = records
        .iter_mut()
        .map(|record| RecordHeader {
            hash: 1 | kind << 32,
            payload: record.as_mut_ptr().cast(),
        })
        .collect();
    let mut pointers: Vec<*mut RecordHeader> = headers.iter_mut().map(ptr::from_mut).collect();
    let count = pointers.len();
    let start = if knobs::is_set("null-headers") {
        ptr::null_mut()
    } else {
        pointers.as_mut_ptr()
    };
    let before = Instant::now();
    // SAFETY: the tool's callback, with headers and records that live until it returns.
    unsafe { callback(context, id, start, count, data.pointer(), dropped) };
    before.elapsed()
}

/// Calls the tool of the first buffer back on this thread.
pub(crate) fn measure(dispatches: Range<u64>, kernels: u64, group: u64) -> Duration {
    let mut records: Vec<DispatchRecord> = dispatches
        .map(|number| record(1 + number % kernels.max(1), number, 1))
        .collect();
    let group = usize::try_from(group.max(1)).unwrap_or(1);
    records
        .chunks_mut(group)
        .for_each(<[DispatchRecord]>::reverse);
    deliver(1, &mut records)
}

/// A dispatch record as this version writes it.
pub(crate) fn record(kernel_id: u64, dispatch_id: u64, thread: u64) -> DispatchRecord {
    let mut record = [0; 24];
    record[dispatch_word::SIZE] = knobs::get("record-bytes");
    record[dispatch_word::KIND] = u64::from(KERNEL_DISPATCH) | 2 << 32;
    record[dispatch_word::THREAD] = thread;
    record[dispatch_word::INFO_SIZE] = 72;
    record[dispatch_word::KERNEL_ID] = kernel_id;
    record[dispatch_word::DISPATCH_ID] = dispatch_id;
    record
}
