//! The set of names already written.
//!
//! Open addressing over one arena: a known name costs one hash of its bytes, one probe and one
//! comparison, and growing can fail without aborting the process it runs in.

/// The longest name accepted, the readers' limit.
pub const MAX_NAME_BYTES: usize = 64 << 10;

/// Far above any real program (tens of thousands); keeps a runaway one from eating the host's memory.
const MAX_NAMES: usize = 1 << 20;
const MAX_ARENA_BYTES: usize = 256 << 20;
const FIRST_SLOTS: usize = 1 << 10;

/// Why a name could not be added. Each names its error word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AddError {
    /// No memory for the table or the name.
    Memory(&'static str),
    /// The set is at its limit.
    Full,
}

impl AddError {
    /// The error word.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Memory(word) => word,
            Self::Full => "set-capacity",
        }
    }
}

/// The error word of a name that no recording can hold.
pub(crate) const INVALID_NAME: &str = "invalid_kernel_name";

/// Whether a name would read back as itself.
pub(crate) fn is_recordable(name: &[u8]) -> bool {
    name.len() <= MAX_NAME_BYTES
        && name.first() != Some(&b'#')
        && !name.iter().any(|byte| matches!(byte, b'\n' | b'\r'))
}

/// The hash of a name, so that adding it does not compute it again.
#[derive(Clone, Copy)]
pub(crate) struct NameHash(u64);

#[derive(Clone, Copy)]
struct Slot {
    hash: u64,
    start: u32,
    /// Zero marks a free slot: the empty name is never added.
    len: u32,
}

const FREE: Slot = Slot {
    hash: 0,
    start: 0,
    len: 0,
};

impl Slot {
    fn name(self) -> NameRef {
        NameRef {
            start: self.start,
            len: self.len,
        }
    }
}

/// A set of names, each at a place of its own for good. Bounded: a million names, 256 MiB of them.
#[derive(Default)]
pub struct NameSet {
    slots: Vec<Slot>,
    arena: Vec<u8>,
    len: usize,
}

/// Where a name of a [`NameSet`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NameRef {
    start: u32,
    len: u32,
}

impl NameSet {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Keeps a name, once however often it comes. For backends that name kernels before they are
    /// launched. Equal names give equal references.
    ///
    /// # Errors
    /// The error word, when the name is empty or has no room.
    pub fn intern(&mut self, name: &[u8]) -> Result<NameRef, &'static str> {
        if name.is_empty() || !is_recordable(name) {
            return Err(INVALID_NAME);
        }
        let hash = hash(name);
        if let Some(slot) = self.find(hash, name) {
            return Ok(slot.name());
        }
        let added = self.add(NameHash(hash), name);
        added.map_err(AddError::word)?;
        // Just added.
        self.find(hash, name).map(Slot::name).ok_or(INVALID_NAME)
    }

    /// The name; empty for a reference of another set.
    pub fn get(&self, name: NameRef) -> &[u8] {
        let start = name.start as usize;
        let range = start..start + name.len as usize;
        self.arena.get(range).unwrap_or_default()
    }

    /// Whether a name that is not empty is there; if not, its hash for [`NameSet::add`].
    #[inline]
    pub(crate) fn look_up(&self, name: &[u8]) -> Result<(), NameHash> {
        let hash = hash(name);
        if self.find(hash, name).is_some() {
            Ok(())
        } else {
            Err(NameHash(hash))
        }
    }

    /// Adds a name that [`NameSet::look_up`] did not find.
    #[cold]
    pub(crate) fn add(&mut self, hash: NameHash, name: &[u8]) -> Result<(), AddError> {
        if self.len >= MAX_NAMES || self.arena.len() + name.len() > MAX_ARENA_BYTES {
            return Err(AddError::Full);
        }
        // At most half full, so that a probe ends soon.
        if (self.len + 1) * 2 > self.slots.len() {
            self.grow()?;
        }
        let (Ok(start), Ok(len)) = (u32::try_from(self.arena.len()), u32::try_from(name.len()))
        else {
            return Err(AddError::Full);
        };
        self.arena
            .try_reserve(name.len())
            .map_err(|_| AddError::Memory("name-allocation"))?;
        self.arena.extend_from_slice(name);
        place(
            &mut self.slots,
            Slot {
                hash: hash.0,
                start,
                len,
            },
        );
        self.len += 1;
        Ok(())
    }

    #[inline]
    fn find(&self, hash: u64, name: &[u8]) -> Option<Slot> {
        let mask = self.slots.len().checked_sub(1)?;
        let mut at = index(hash) & mask;
        while let Some(slot) = self.slots.get(at) {
            if slot.len == 0 {
                return None;
            }
            if slot.hash == hash && self.text(*slot) == Some(name) {
                return Some(*slot);
            }
            at = (at + 1) & mask;
        }
        None
    }

    fn text(&self, slot: Slot) -> Option<&[u8]> {
        let start = slot.start as usize;
        self.arena.get(start..start + slot.len as usize)
    }

    fn grow(&mut self) -> Result<(), AddError> {
        let wanted = (self.slots.len() * 2).max(FIRST_SLOTS);
        let mut larger = Vec::new();
        larger
            .try_reserve_exact(wanted)
            .map_err(|_| AddError::Memory("set-allocation"))?;
        larger.resize(wanted, FREE);
        for slot in self.slots.iter().filter(|slot| slot.len > 0) {
            place(&mut larger, *slot);
        }
        self.slots = larger;
        Ok(())
    }
}

/// Puts a slot into a table that has room.
fn place(slots: &mut [Slot], new: Slot) {
    let mask = slots.len() - 1;
    let mut at = index(new.hash) & mask;
    while slots[at].len > 0 {
        at = (at + 1) & mask;
    }
    slots[at] = new;
}

fn index(hash: u64) -> usize {
    (hash >> 20) as usize
}

/// Eight bytes a step, multiplied and folded. Names come from the workload itself, so nobody gains by
/// colliding them.
#[inline]
fn hash(name: &[u8]) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut state = FACTOR ^ name.len() as u64;
    let (words, rest) = name.as_chunks::<8>();
    for word in words {
        state = mix(state, u64::from_le_bytes(*word));
    }
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    mix(state, u64::from_le_bytes(last))
}

#[inline]
fn mix(state: u64, word: u64) -> u64 {
    let product = u128::from(state ^ word) * u128::from(0xd6e8_feb8_6659_fd93_u64);
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the two halves are folded together"
    )]
    let folded = (product as u64) ^ ((product >> 64) as u64);
    folded
}
