//! What a store promises, proven on the store itself.
//!
//! Servers differ, and some accept a conditional write without keeping its condition. So everything that a
//! publish relies on is tried, with random keys below a scratch prefix that is removed afterwards. A store that
//! can only be read is told apart: what its readers rely on is tried on what is published there.

mod fault;
mod pointers;
mod race;
mod reading;
mod values;

use crate::scratch::Scratch;
use fault::Fault;
use kernrec_schemas::Pipeline;
use kernrec_store::{Key, Store, StoreError};

/// Writers that race for one key.
const WRITERS: usize = 8;

/// Something that `publish`, `fetch` or `gc` relies on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Promise {
    /// What was written is read at once, whole, with its size.
    ReadAfterWrite,
    /// Nothing reads as nothing.
    Absence,
    /// Of many that create a key one wins, and its bytes stand there.
    CreateIfAbsent,
    /// Of many that move a pointer from one version one wins, and no move is lost.
    CompareAndSwap,
    /// A pointer that did not move is told so without its bytes, one that did with them.
    ConditionalRead,
    /// Reading from the middle gives the rest.
    Ranges,
    /// A listing has what is there, and nothing else.
    Listing,
    /// What was removed is gone, and what is young is not removed as old.
    Removal,
    /// Bytes with a checksum that is not theirs are refused.
    ChecksumRejection,
}

impl Promise {
    /// The stable word for machines.
    pub const fn word(self) -> &'static str {
        match self {
            Self::ReadAfterWrite => "read-after-write",
            Self::Absence => "absence",
            Self::CreateIfAbsent => "create-if-absent",
            Self::CompareAndSwap => "compare-and-swap",
            Self::ConditionalRead => "conditional-read",
            Self::Ranges => "ranges",
            Self::Listing => "listing",
            Self::Removal => "removal",
            Self::ChecksumRejection => "checksum-rejection",
        }
    }
}

/// What was found of a promise.
#[derive(Debug)]
pub enum Verdict {
    /// It was kept every time.
    Kept,
    /// It was broken.
    Broken {
        /// How.
        problem: String,
    },
    /// The store failed, so it cannot be told.
    NotTold {
        /// How the store failed.
        error: StoreError,
    },
    /// There was nothing to try it on.
    NotTried {
        /// Why.
        why: &'static str,
    },
}

impl Verdict {
    /// The stable word for machines.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Broken { .. } => "broken",
            Self::NotTold { .. } => "not-told",
            Self::NotTried { .. } => "not-tried",
        }
    }
}

/// What was found.
#[derive(Debug)]
pub struct Check {
    /// The store can only be read: what writers rely on was not tried.
    pub read_only: bool,
    /// Each promise that was looked at.
    pub promises: Vec<(Promise, Verdict)>,
    /// The scratch prefix, when it could not be removed, and why.
    pub left_behind: Option<(Key, String)>,
}

impl Check {
    /// Whether some promise was broken.
    pub fn is_broken(&self) -> bool {
        let broken = |verdict: &Verdict| matches!(verdict, Verdict::Broken { .. });
        self.promises.iter().any(|(_, verdict)| broken(verdict))
    }

    /// Whether a store that can only be read has nothing to try its promises on.
    pub fn is_untried(&self) -> bool {
        let untried = |verdict: &Verdict| matches!(verdict, Verdict::NotTried { .. });
        self.read_only && self.promises.iter().any(|(_, verdict)| untried(verdict))
    }

    /// Whether something could not be told, or not be cleaned up.
    pub fn is_unsettled(&self) -> bool {
        let untold = |verdict: &Verdict| matches!(verdict, Verdict::NotTold { .. });
        self.left_behind.is_some() || self.promises.iter().any(|(_, verdict)| untold(verdict))
    }
}

type Proof = fn(&dyn Store, &Scratch) -> Result<(), Fault>;

/// Proofs that write, in the order they are shown.
const PROOFS: [(Promise, Proof); 9] = [
    (Promise::ReadAfterWrite, values::read_after_write),
    (Promise::Absence, values::absence),
    (Promise::CreateIfAbsent, values::create_if_absent),
    (Promise::CompareAndSwap, pointers::compare_and_swap),
    (Promise::ConditionalRead, pointers::conditional_read),
    (Promise::Ranges, values::ranges),
    (Promise::Listing, values::listing),
    (Promise::Removal, values::removal),
    (Promise::ChecksumRejection, values::checksum_rejection),
];

/// Proves what a store promises. `pipeline` is where a read-only store is looked at.
///
/// An error means that nothing could be tried.
pub fn check(store: &dyn Store, pipeline: &Pipeline) -> Result<Check, StoreError> {
    let scratch = Scratch::new()?;
    match store.put_new(&scratch.key("first"), b"first") {
        Ok(_) => {}
        Err(StoreError::Unsupported { .. }) => {
            return Ok(Check {
                read_only: true,
                promises: reading::promises(store, &scratch, pipeline),
                left_behind: None,
            });
        }
        Err(error) => return Err(error),
    }
    let promises = PROOFS
        .iter()
        .map(|(promise, proof)| (*promise, fault::verdict(proof(store, &scratch))))
        .collect();
    Ok(Check {
        read_only: false,
        promises,
        left_behind: clean_up(store, &scratch),
    })
}

/// Removes everything below the prefix; says what could not be.
fn clean_up(store: &dyn Store, scratch: &Scratch) -> Option<(Key, String)> {
    let prefix = scratch.prefix();
    let problem = match store.discard(prefix) {
        Err(error) => error.to_string(),
        Ok(()) => match store.list(prefix) {
            Ok(rest) if rest.is_empty() => return None,
            Ok(rest) => format!("{} keys remain", rest.len()),
            Err(error) => error.to_string(),
        },
    };
    Some((prefix.clone(), problem))
}
