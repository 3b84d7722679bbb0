//! Objects that a map's producer could not read, and whether anything is missing that has no place.

use foldhash::fast::RandomState;
use kernrec_schemas::symbol_map::{MapError, MapObject, SymbolMap};
use std::collections::HashSet;

/// What the maps say about their own gaps.
#[derive(Debug, Default)]
pub(super) struct Unreadable {
    /// Numbers over all maps.
    objects: HashSet<u32, RandomState>,
    incomplete: bool,
}

impl Unreadable {
    pub(super) fn of(maps: &[SymbolMap]) -> Self {
        let mut found = Self::default();
        let mut first = 0_u32;
        for map in maps {
            let objects = || (first..).zip(&map.objects);
            let errors = Errors::of(map);
            found.incomplete |= map.incomplete || errors.unplaced;
            let unreadable =
                objects().filter(|(_, object)| object.error.is_some() || errors.name(object));
            found.objects.extend(unreadable.map(|(number, _)| number));
            first = first.saturating_add(u32::try_from(map.objects.len()).unwrap_or(u32::MAX));
        }
        found
    }

    pub(super) fn contains(&self, object: u32) -> bool {
        self.objects.contains(&object)
    }

    /// Something is missing, and nothing says which files that concerns.
    pub(super) fn is_incomplete(&self) -> bool {
        self.incomplete
    }
}

type Names<'a> = HashSet<&'a str, RandomState>;

/// A map's list of errors.
#[derive(Default)]
struct Errors<'a> {
    objects: Names<'a>,
    sources: Names<'a>,
    /// An error that no listed object answers to: what that object had read is not known.
    unplaced: bool,
}

impl<'a> Errors<'a> {
    fn of(map: &'a SymbolMap) -> Self {
        let mut found = Self::default();
        if map.errors.is_empty() {
            return found;
        }
        let objects: Names<'_> = map
            .objects
            .iter()
            .map(|object| object.object.as_str())
            .collect();
        let sources: Names<'_> = map
            .objects
            .iter()
            .map(|object| object.source.as_str())
            .collect();
        for error in &map.errors {
            found.add(error, &objects, &sources);
        }
        found
    }

    fn add(&mut self, error: &'a MapError, objects: &Names<'_>, sources: &Names<'_>) {
        match (error.object.as_deref(), error.source.as_deref()) {
            (Some(object), _) if objects.contains(object) => _ = self.objects.insert(object),
            (None, Some(source)) if sources.contains(source) => _ = self.sources.insert(source),
            _ => self.unplaced = true,
        }
    }

    fn name(&self, object: &MapObject) -> bool {
        self.objects.contains(object.object.as_str())
            || self.sources.contains(object.source.as_str())
    }
}
