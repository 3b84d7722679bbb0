//! From a file to the objects that were compiled from it or include it.

use super::elsewhere::{Elsewhere, may_be_same};
use super::lists::Lists;
use crate::change::lexical;
use crate::lineage::Moved;
use foldhash::fast::RandomState;
use kernrec_schemas::symbol_map::MapObject;
use std::collections::{HashMap, HashSet};
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
    elsewhere: Elsewhere<'a>,
    /// Some object does not list even its own source among what was read: the list was cut short, or never made.
    has_short_deps: bool,
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
        let mut has_short_deps = false;
        for (user, object) in (0_u32..).zip(objects) {
            let source = number(&mut numbers, &object.source);
            let compiled = object.compiled_source.as_deref();
            let compiled = compiled.map_or(source, |compiled| number(&mut numbers, compiled));
            pairs.extend([(source, user), (compiled, user)]);
            let mut is_listed = false;
            for dep in &object.deps {
                let copy = (Arc::as_ptr(dep).cast::<u8>().addr(), dep.len());
                let path = *copies
                    .entry(copy)
                    .or_insert_with(|| number(&mut numbers, dep));
                is_listed |= path == source || path == compiled;
                pairs.push((path, user));
            }
            has_short_deps |= !is_listed && !lists_its_source_oddly(object);
        }
        Self {
            users: Lists::of_pairs(numbers.len(), &pairs),
            odd: odd_spellings(&numbers),
            elsewhere: Elsewhere::of(numbers.keys().copied()),
            has_short_deps,
            numbers,
        }
    }

    /// Some object may use any file.
    pub(super) fn has_short_deps(&self) -> bool {
        self.has_short_deps
    }

    /// The objects of a plain path, ascending, each once.
    pub(super) fn objects_of(&self, path: &str) -> Vec<u32> {
        let odd = self.odd.get(path).into_iter().flatten().copied();
        self.users_of(odd.chain([path]))
    }

    /// Objects that use a file which may be this one under a path that starts elsewhere; see [`Elsewhere`].
    pub(super) fn objects_elsewhere(&self, path: &str) -> Vec<u32> {
        if path.starts_with('/') {
            let keys = self.numbers.keys().copied();
            return self.users_of(keys.filter(|other| may_be_same(path, other)));
        }
        self.users_of(self.elsewhere.like(path))
    }

    /// The objects that use a file which moved, or one below a folder that did.
    pub(super) fn users_of_moved(&self, moved: &Moved) -> HashSet<u32, RandomState> {
        let mut objects = HashSet::default();
        for path in moved.files() {
            objects.extend(self.objects_of(path));
            objects.extend(self.objects_elsewhere(path));
        }
        for folder in moved.folders() {
            let is_below = |path: &&str| {
                path.starts_with(folder.as_str())
                    || lexical(path).is_some_and(|path| path.starts_with(folder.as_str()))
            };
            objects.extend(self.users_of(self.numbers.keys().copied().filter(is_below)));
        }
        objects
    }

    fn users_of<'p>(&self, spellings: impl Iterator<Item = &'p str>) -> Vec<u32> {
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

/// Whether another spelling of its source stands among what the compiler read.
fn lists_its_source_oddly(object: &MapObject) -> bool {
    let plain = lexical(&object.source);
    plain.is_some() && object.deps.iter().any(|dep| lexical(dep) == plain)
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
