//! Kernel names as numbers.
//!
//! Eighteen thousand recordings repeat a few thousand names. All readers share one table, and take its write
//! lock only for a name that nobody has met before.

use hashbrown::HashTable;
use kernrec_schemas::KernelName;
use std::borrow::Cow;
use std::hash::BuildHasher;
use std::sync::{PoisonError, RwLock};

/// A table of names, each with the number of its first meeting.
#[derive(Default)]
pub(crate) struct Interner {
    hasher: foldhash::fast::RandomState,
    table: RwLock<Table>,
}

#[derive(Default)]
struct Table {
    /// Numbers, found by the hash of their name.
    numbers: HashTable<u32>,
    names: Vec<KernelName>,
}

impl Interner {
    /// The numbers of these names, in any order. A text that is no kernel name has none.
    pub(crate) fn intern(&self, names: &[Cow<'_, str>]) -> Vec<u32> {
        let mut numbers = Vec::with_capacity(names.len());
        let mut new = Vec::new();
        {
            let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
            for name in names {
                let hash = self.hasher.hash_one(name.as_bytes());
                match table.find(hash, name) {
                    Some(number) => numbers.push(number),
                    None => new.push((hash, name)),
                }
            }
        }
        if !new.is_empty() {
            let mut table = self.table.write().unwrap_or_else(PoisonError::into_inner);
            numbers.extend(
                new.into_iter()
                    .filter_map(|(hash, name)| table.insert(hash, name, &self.hasher)),
            );
        }
        numbers
    }

    /// All names sorted, and the new number of each old one.
    pub(crate) fn into_sorted(self) -> (Vec<KernelName>, Vec<u32>) {
        let names = self
            .table
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
            .names;
        let mut order: Vec<(KernelName, u32)> = names.into_iter().zip(0..).collect();
        order.sort_unstable();
        let mut new_number = vec![0; order.len()];
        for ((_, old), new) in order.iter().zip(0..) {
            new_number[*old as usize] = new;
        }
        (
            order.into_iter().map(|(name, _)| name).collect(),
            new_number,
        )
    }
}

impl Table {
    fn find(&self, hash: u64, name: &str) -> Option<u32> {
        self.numbers
            .find(hash, |&number| self.name(number) == name)
            .copied()
    }

    fn insert(
        &mut self,
        hash: u64,
        name: &str,
        hasher: &foldhash::fast::RandomState,
    ) -> Option<u32> {
        // Another reader may have met it between the two locks.
        if let Some(number) = self.find(hash, name) {
            return Some(number);
        }
        let checked = KernelName::new(name).ok()?;
        let number = u32::try_from(self.names.len()).ok()?;
        self.names.push(checked);
        let names = &self.names;
        self.numbers.insert_unique(hash, number, |&number| {
            hasher.hash_one(names[number as usize].as_str().as_bytes())
        });
        Some(number)
    }

    fn name(&self, number: u32) -> &str {
        self.names[number as usize].as_str()
    }
}
