//! The maps' objects as attribution reads them: plain paths, and symbols by number.

use crate::change::lexical;
use crate::index::Index;
use foldhash::fast::RandomState;
use kernrec_attribution::{Build, Object};
use kernrec_schemas::symbol_map::MapObject;
use std::collections::{HashMap, HashSet};

/// What every object was compiled from, and all symbols.
pub(super) struct Objects<'a> {
    /// By a path as the map spells it, the plain paths that it may mean.
    plain: HashMap<&'a str, Vec<String>, RandomState>,
    listed: Vec<(&'a MapObject, Vec<u32>)>,
    symbols: Vec<&'a str>,
}

impl<'a> Objects<'a> {
    pub(super) fn of(index: &Index<'a>) -> Self {
        let maps = &index.pair().maps;
        let objects: Vec<(&MapObject, Vec<u32>)> = (0_u32..)
            .zip(maps.iter().flat_map(|map| &map.objects))
            .map(|(number, object)| (object, index.symbol_numbers(number)))
            .collect();
        Self {
            plain: plain_paths(objects.iter().map(|(object, _)| *object)),
            listed: objects,
            symbols: index.symbol_names().collect(),
        }
    }

    pub(super) fn build(&self) -> Build<'_> {
        let objects = self.listed.iter().map(|(object, symbols)| Object {
            files: paths_of(object)
                .filter_map(|path| self.plain.get(path))
                .flatten()
                .map(String::as_str)
                .collect(),
            symbols: symbols.clone(),
        });
        Build {
            objects: objects.collect(),
            symbols: self.symbols.clone(),
        }
    }
}

/// The source and all that the compiler read. What a source was translated to (HIPify) says no more than the source.
fn paths_of(object: &MapObject) -> impl Iterator<Item = &str> {
    let translated = object
        .compiled_source
        .as_deref()
        .filter(|compiled| *compiled != object.source);
    let deps = object.deps.iter().map(|dep| &**dep);
    [object.source.as_str()]
        .into_iter()
        .chain(deps)
        .filter(move |path| Some(*path) != translated)
}

/// An absolute path may be a file of the source root under another mount: it counts as every relative one that it
/// ends in.
fn plain_paths<'a>(
    objects: impl Iterator<Item = &'a MapObject>,
) -> HashMap<&'a str, Vec<String>, RandomState> {
    let mut all: HashSet<&str, RandomState> = HashSet::default();
    for object in objects {
        all.extend(paths_of(object));
    }
    let spelled: Vec<(&str, String)> = all
        .into_iter()
        .map(|path| (path, lexical(path).unwrap_or_else(|| path.to_owned())))
        .collect();
    let relative: HashSet<&str, RandomState> = spelled
        .iter()
        .map(|(_, plain)| plain.as_str())
        .filter(|path| !path.starts_with('/'))
        .collect();
    let mut plain: HashMap<&str, Vec<String>, RandomState> = HashMap::default();
    for (path, spelling) in &spelled {
        let mut meant = vec![spelling.clone()];
        if spelling.starts_with('/') {
            let ends = spelling
                .match_indices('/')
                .map(|(at, _)| &spelling[at + 1..]);
            meant.extend(ends.filter(|end| relative.contains(end)).map(str::to_owned));
        }
        plain.insert(path, meant);
    }
    plain
}
