//! From a file to the objects that were compiled from it or include it.

use crate::change::lexical;
use foldhash::fast::RandomState;
use kernrec_schemas::symbol_map::MapObject;
use std::collections::HashMap;
use std::sync::Arc;

/// Object numbers by path.
#[derive(Debug, Default)]
pub(super) struct Paths<'a> {
    numbers: HashMap<&'a str, usize, RandomState>,
    /// By the path's number, the objects that use it, ascending.
    users: Vec<Vec<u32>>,
    /// Odd spellings (`./a.cu`, `src/../a.cuh`) under the plain path they mean: an object missed because of its
    /// spelling would be a step skipped wrongly.
    odd: HashMap<String, Vec<&'a str>, RandomState>,
}

impl<'a> Paths<'a> {
    /// Indexes objects in the order given; their numbers count from 0.
    pub(super) fn build(objects: impl Iterator<Item = &'a MapObject>) -> Self {
        let mut paths = Self::default();
        // A map names each header in hundreds of objects and the loader keeps one copy of the text: knowing the copy
        // saves hashing the text again. Two copies of one text are still one path.
        let mut copies: HashMap<(usize, usize), usize, RandomState> = HashMap::default();
        for (number, object) in (0_u32..).zip(objects) {
            let source = paths.number(&object.source);
            paths.add_user(source, number);
            for dep in &object.deps {
                let copy = (Arc::as_ptr(dep).cast::<u8>().addr(), dep.len());
                let path = *copies.entry(copy).or_insert_with(|| paths.number(dep));
                paths.add_user(path, number);
            }
        }
        paths.find_odd_spellings();
        paths
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
            .flat_map(|&path| &self.users[path])
            .copied()
            .collect();
        objects.sort_unstable();
        objects.dedup();
        objects
    }

    fn number(&mut self, path: &'a str) -> usize {
        *self.numbers.entry(path).or_insert_with(|| {
            self.users.push(Vec::new());
            self.users.len() - 1
        })
    }

    fn add_user(&mut self, path: usize, object: u32) {
        let users = &mut self.users[path];
        if users.last() != Some(&object) {
            users.push(object);
        }
    }

    fn find_odd_spellings(&mut self) {
        for &path in self.numbers.keys().filter(|path| is_odd(path)) {
            if let Some(plain) = lexical(path) {
                self.odd.entry(plain).or_default().push(path);
            }
        }
    }
}

/// Whether a path has a component that says nothing: empty (not the leading one), `.` or `..`.
fn is_odd(path: &str) -> bool {
    let relative = path.strip_prefix('/').unwrap_or(path);
    relative
        .split('/')
        .any(|part| matches!(part, "" | "." | ".."))
}
