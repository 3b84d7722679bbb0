//! Names of kernels and of functions as numbers.
//!
//! Eighteen thousand recordings repeat a few thousand names. All readers share one table, and take its write
//! lock only for a name that nobody has met before.

use hashbrown::HashTable;
use kernrec_schemas::KernelName;
use kernrec_schemas::function_table::{CodePath, FunctionName, TableFunction};
use std::hash::BuildHasher;
use std::sync::{PoisonError, RwLock};

/// The tables of both kinds of names.
#[derive(Default)]
pub(crate) struct Interners {
    pub(super) kernels: Interner<KernelName>,
    pub(super) functions: Interner<FunctionKey>,
}

/// What is interned, by its text.
pub(crate) trait Name: Ord + Sized {
    /// Checks the text and takes it.
    fn of(text: &str) -> Option<Self>;
    /// The text.
    fn text(&self) -> &str;
}

impl Name for KernelName {
    fn of(text: &str) -> Option<Self> {
        Self::new(text).ok()
    }

    fn text(&self) -> &str {
        self.as_str()
    }
}

/// A function as one text: its file, a tab, its name. Neither has a tab in it, and a tab sorts before all that they have.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FunctionKey(Box<str>);

impl FunctionKey {
    /// Writes the text into `out`.
    pub(super) fn write(file: &CodePath, name: &str, out: &mut String) {
        out.clear();
        out.push_str(file.as_str());
        out.push('\t');
        out.push_str(name);
    }

    /// The functions of sorted keys, which share their files.
    pub(super) fn functions(keys: &[Self]) -> Vec<TableFunction> {
        let mut functions: Vec<TableFunction> = Vec::with_capacity(keys.len());
        for key in keys {
            let Some((file, name)) = key.0.split_once('\t') else {
                continue;
            };
            let before = functions.last().map(|function| &function.file);
            let file = match before.filter(|before| before.as_str() == file) {
                Some(same) => Ok(same.clone()),
                None => CodePath::new(file),
            };
            if let (Ok(file), Ok(name)) = (file, FunctionName::new(name)) {
                functions.push(TableFunction { file, name });
            }
        }
        functions
    }
}

impl Name for FunctionKey {
    /// Only names that a table can hold, so that keys and functions have the same numbers.
    fn of(text: &str) -> Option<Self> {
        let (file, name) = text.split_once('\t')?;
        let valid = CodePath::new(file).is_ok() && FunctionName::new(name).is_ok();
        valid.then(|| Self(text.into()))
    }

    fn text(&self) -> &str {
        &self.0
    }
}

/// A table of names, each with the number of its first meeting.
pub(crate) struct Interner<N> {
    hasher: foldhash::fast::RandomState,
    table: RwLock<Table<N>>,
}

struct Table<N> {
    /// Numbers, found by the hash of their name.
    numbers: HashTable<u32>,
    names: Vec<N>,
}

impl<N> Default for Interner<N> {
    fn default() -> Self {
        Self {
            hasher: foldhash::fast::RandomState::default(),
            table: RwLock::new(Table {
                numbers: HashTable::new(),
                names: Vec::new(),
            }),
        }
    }
}

impl<N: Name> Interner<N> {
    /// The numbers of these names, in any order. A text that is no name has none.
    pub(crate) fn intern(&self, names: &[impl AsRef<str>]) -> Vec<u32> {
        let mut numbers = Vec::with_capacity(names.len());
        let mut new = Vec::new();
        {
            let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
            for name in names.iter().map(AsRef::as_ref) {
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
    pub(crate) fn into_sorted(self) -> (Vec<N>, Vec<u32>) {
        let names = self
            .table
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
            .names;
        let mut order: Vec<(N, u32)> = names.into_iter().zip(0..).collect();
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

impl<N: Name> Table<N> {
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
        let checked = N::of(name)?;
        let number = u32::try_from(self.names.len()).ok()?;
        self.names.push(checked);
        let names = &self.names;
        self.numbers.insert_unique(hash, number, |&number| {
            hasher.hash_one(names[number as usize].text().as_bytes())
        });
        Some(number)
    }

    fn name(&self, number: u32) -> &str {
        self.names[number as usize].text()
    }
}
