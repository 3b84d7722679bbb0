//! From a file to the objects that were compiled from it or include it.

use super::lists::Lists;
use crate::change::lexical;
use foldhash::fast::RandomState;
use kernrec_schemas::symbol_map::MapObject;
use std::collections::HashMap;
use std::sync::Arc;

/// Object numbers by path.
#[derive(Debug)]
pub(super) struct Paths<'a> {
    numbers: Numbers<'a>,
    /// By the path's number, the objects that use it, ascending.
    users: Lists<u32>,
    /// Odd spellings (`./a.cu`, `src/../a.cuh`) under the plain path they mean: an object missed because of its
    /// spelling would be a step skipped wrongly.
    odd: HashMap<String, Vec<&'a str>, RandomState>,
}

type Numbers<'a> = HashMap<&'a str, u32, RandomState>;

impl<'a> Paths<'a> {
    /// Indexes objects in the order given; their numbers count from 0.
    pub(super) fn build(objects: impl Iterator<Item = &'a MapObject>) -> Self {
        let mut numbers = Numbers::default();
        // A map names each header in hundreds of objects and the loader keeps one copy of the text: knowing the copy
        // saves hashing the text again. Two copies of one text are still one path.
        let mut copies: HashMap<(usize, usize), u32, RandomState> = HashMap::default();
        let mut pairs = Vec::new();
        for (user, object) in (0_u32..).zip(objects) {
            pairs.push((number(&mut numbers, &object.source), user));
            for dep in &object.deps {
                let copy = (Arc::as_ptr(dep).cast::<u8>().addr(), dep.len());
                let path = *copies
                    .entry(copy)
                    .or_insert_with(|| number(&mut numbers, dep));
                pairs.push((path, user));
            }
        }
        Self {
            users: Lists::of_pairs(numbers.len(), &pairs),
            odd: odd_spellings(&numbers),
            numbers,
        }
    }

    /// The objects of a plain path, ascending, each once.
    pub(super) fn objects_of(&self, path: &str) -> Vec<u32> {
        let spellings = self
            .odd
            .get(path)
            .into_iter()
            .flatten()
            .copied()
            .chain([path]);
        let numbers = spellings.filter_map(|spelling| self.numbers.get(spelling));
        let mut objects: Vec<u32> = numbers
            .flat_map(|&path| self.users.list(path))
            .copied()
            .collect();
        objects.sort_unstable();
        objects.dedup();
        objects
    }
}

fn number<'a>(numbers: &mut Numbers<'a>, path: &'a str) -> u32 {
    // A map of 4 billion paths is far beyond the loader's bound of 512 MiB.
    let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
    *numbers.entry(path).or_insert(next)
}

fn odd_spellings<'a>(numbers: &Numbers<'a>) -> HashMap<String, Vec<&'a str>, RandomState> {
    let mut odd: HashMap<String, Vec<&'a str>, RandomState> = HashMap::default();
    for &path in numbers.keys().filter(|path| is_odd(path)) {
        if let Some(plain) = lexical(path) {
            odd.entry(plain).or_default().push(path);
        }
    }
    odd
}

/// Whether a path has a component that says nothing: empty (not the leading one), `.` or `..`.
fn is_odd(path: &str) -> bool {
    let relative = path.strip_prefix('/').unwrap_or(path);
    relative
        .split('/')
        .any(|part| matches!(part, "" | "." | ".."))
}
