//! What the callbacks know and note: kernels, their names, and what is to be written.
//!
//! Behind one lock that is held for a look-up at a time, or for one call back of records, and never
//! while a file is written.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use kernrec_trace_writer::{NameRef, NameSet, Trace};

use crate::dispatch_ids::DispatchIds;
use crate::ffi::records::{Dispatch, Symbol};

/// Far above any real program's; keeps a runaway one from eating the host's memory. A table of a million places,
/// 41 MiB, is as full then as it gets.
pub(crate) const MAX_KERNELS: usize = 7 << 17;
/// Error words queued at one time; more are written by the next visit of the writer.
const MAX_WORDS: usize = 32;

/// One kernel of the process.
#[derive(Clone, Copy, Debug, Default)]
struct Kernel {
    /// `None` until it was registered. Kept when it is unloaded: records may come later.
    name: Option<NameRef>,
    /// The name was queued for the file.
    written: bool,
    /// Dispatches that came before the name.
    waiting: u64,
}

/// Kernels, dispatches, and the queue for the writer.
#[derive(Default)]
pub(crate) struct Kernels {
    names: NameSet,
    by_id: HashMap<u64, Kernel, BuildHasherDefault<IdHasher>>,
    ids: DispatchIds,
    drop_count: u64,
    /// Dispatches without a kernel that could ever get a name.
    nameless: u64,
    queue: Queue,
}

/// What the file does not have yet.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    /// Names of kernels that were dispatched, each with a line's end.
    names: Vec<u8>,
    new: u64,
    /// Dispatches whose kernels have names, those of the new ones included.
    records: u64,
    dropped: u64,
    words: Words,
}

impl Queue {
    /// Whether something waits that a killed process should leave behind.
    pub(crate) fn is_urgent(&self) -> bool {
        self.new > 0 || self.dropped > 0 || self.words.len > 0
    }

    /// The error words.
    pub(crate) fn words(&self) -> impl Iterator<Item = &'static str> {
        self.words.iter()
    }

    /// Moves everything into the trace.
    pub(crate) fn write_to(&self, trace: &mut Trace) {
        for name in self.names.split(|byte| *byte == b'\n') {
            if !name.is_empty() {
                trace.observe(name);
            }
        }
        trace.count(self.records.saturating_sub(self.new), 0);
        trace.dropped(self.dropped);
        for word in self.words() {
            trace.error(word);
        }
    }
}

impl Kernels {
    /// A kernel was registered.
    pub(crate) fn register(&mut self, symbol: Symbol<'_>) {
        if let Err(word) = self.name(symbol) {
            self.error(word);
        }
    }

    fn name(&mut self, symbol: Symbol<'_>) -> Result<(), &'static str> {
        let name = self.names.intern(without_suffix(symbol.name))?;
        let kernel = self.kernel(symbol.kernel_id)?;
        let known = kernel.name.replace(name);
        if known == Some(name) {
            return Ok(());
        }
        // Later dispatches are of the new name; the old one, if it was dispatched, is in the file.
        kernel.written = false;
        if kernel.waiting > 0 {
            self.write_name(symbol.kernel_id)?;
            self.resolve(symbol.kernel_id);
        }
        if known.is_some() {
            return Err("conflicting_kernel_symbol");
        }
        Ok(())
    }

    /// Counts what waited for a name that is written now.
    fn resolve(&mut self, kernel_id: u64) {
        if let Some(kernel) = self.by_id.get_mut(&kernel_id) {
            self.queue.records += std::mem::take(&mut kernel.waiting);
        }
    }

    /// A kernel ran.
    #[inline]
    pub(crate) fn dispatched(&mut self, dispatch: Dispatch) {
        if let Err(word) = self.ids.add(dispatch.dispatch_id) {
            self.error(word);
        }
        match self.by_id.get(&dispatch.kernel_id) {
            Some(kernel) if kernel.written => self.queue.records += 1,
            _ => self.dispatched_first(dispatch.kernel_id),
        }
    }

    #[cold]
    fn dispatched_first(&mut self, kernel_id: u64) {
        if kernel_id == 0 {
            // What the SDK gives a kernel whose code was loaded unseen.
            self.nameless += 1;
            return;
        }
        if let Err(word) = self.note_first(kernel_id) {
            self.nameless += 1;
            self.error(word);
        }
    }

    fn note_first(&mut self, kernel_id: u64) -> Result<(), &'static str> {
        let kernel = self.kernel(kernel_id)?;
        if kernel.name.is_none() {
            kernel.waiting += 1;
            return Ok(());
        }
        self.write_name(kernel_id)?;
        self.queue.records += 1;
        Ok(())
    }

    /// A record that could not be read.
    pub(crate) fn unreadable(&mut self, word: &'static str) {
        self.nameless += 1;
        self.error(word);
    }

    /// The SDK's count of lost records, which it never resets.
    pub(crate) fn lost(&mut self, drop_count: u64) {
        match drop_count.checked_sub(self.drop_count) {
            Some(more) => self.queue.dropped = self.queue.dropped.saturating_add(more),
            None => self.error("drop_counter_regressed"),
        }
        self.drop_count = drop_count;
    }

    /// Queues an error word.
    pub(crate) fn error(&mut self, word: &'static str) {
        self.queue.words.add(word);
    }

    /// Whether something waits that a killed process should leave behind.
    pub(crate) fn is_urgent(&self) -> bool {
        self.queue.is_urgent()
    }

    /// Takes what is queued.
    pub(crate) fn take(&mut self) -> Queue {
        std::mem::take(&mut self.queue)
    }

    /// Dispatches whose kernels have no name.
    pub(crate) fn unresolved(&self) -> u64 {
        let waiting = self.by_id.values().map(|kernel| kernel.waiting);
        waiting.fold(self.nameless, u64::saturating_add)
    }

    /// Which dispatches have come.
    pub(crate) fn ids(&self) -> &DispatchIds {
        &self.ids
    }

    fn kernel(&mut self, id: u64) -> Result<&mut Kernel, &'static str> {
        if !self.by_id.contains_key(&id) {
            if self.by_id.len() >= MAX_KERNELS {
                return Err("set-capacity");
            }
            self.by_id.try_reserve(1).map_err(|_| "set-allocation")?;
        }
        Ok(self.by_id.entry(id).or_default())
    }

    /// Queues the name of a kernel that has one.
    fn write_name(&mut self, kernel_id: u64) -> Result<(), &'static str> {
        let Some(kernel) = self.by_id.get_mut(&kernel_id) else {
            return Ok(());
        };
        let Some(name) = kernel.name else {
            return Ok(());
        };
        let name = self.names.get(name);
        let lines = &mut self.queue.names;
        lines
            .try_reserve(name.len() + 1)
            .map_err(|_| "name-allocation")?;
        lines.extend_from_slice(name);
        lines.push(b'\n');
        self.queue.new += 1;
        kernel.written = true;
        Ok(())
    }
}

/// Takes one `.kd` off the end, the suffix of a kernel's descriptor, if something is left.
fn without_suffix(symbol: &[u8]) -> &[u8] {
    match symbol.strip_suffix(b".kd") {
        Some(name) if !name.is_empty() => name,
        _ => symbol,
    }
}

/// Error words without allocation, each with how often it came.
#[derive(Debug, Default)]
struct Words {
    words: [(&'static str, u32); MAX_WORDS],
    len: usize,
}

impl Words {
    fn add(&mut self, word: &'static str) {
        let known = self.words.get_mut(..self.len).unwrap_or_default();
        if let Some((_, times)) = known.iter_mut().find(|(known, _)| *known == word) {
            *times = times.saturating_add(1);
        } else if let Some(place) = self.words.get_mut(self.len) {
            *place = (word, 1);
            self.len += 1;
        }
    }

    fn iter(&self) -> impl Iterator<Item = &'static str> {
        /// A recording is as failed after a thousand errors as after a million.
        const MOST: u32 = 1_000;
        let words = self.words.iter().take(self.len);
        words.flat_map(|(word, times)| std::iter::repeat_n(*word, (*times).min(MOST) as usize))
    }
}

/// Spreads small consecutive numbers. They come from the SDK, so nobody gains by colliding them.
#[derive(Default)]
pub(crate) struct IdHasher(u64);

impl Hasher for IdHasher {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    #[inline]
    fn write_u64(&mut self, id: u64) {
        let product = (self.0 ^ id).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = product ^ (product >> 32);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
