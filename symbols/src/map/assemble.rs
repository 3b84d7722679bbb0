//! Entries to a document, by the producer's contract.

use super::entry::Entry;
use super::options::{BuildOptions, Labels, UNREADABLE_OBJECTS};
use kernrec_schemas::symbol_map::{MapError, MapObject, MapVersion, SymbolMap};
use std::collections::{BTreeMap, BTreeSet};

/// A version 2 map that holds nothing yet.
pub(crate) fn labelled(labels: &Labels) -> SymbolMap {
    let tool = format!("kernrec {}", env!("CARGO_PKG_VERSION"));
    SymbolMap {
        version: MapVersion::V2,
        backend: labels.backend,
        commit: labels.commit.clone(),
        variant: labels.variant.clone(),
        cuda: None,
        generated_at: labels.generated_at,
        incomplete: false,
        errors: Vec::new(),
        build_dirs: Vec::new(),
        objects: Vec::new(),
        reason: None,
        stats: None,
        tools: BTreeMap::from([("kernrec".to_owned(), tool)]),
        hipify_manifests: Vec::new(),
        offload_targets: Vec::new(),
    }
}

/// A map of a tree that could not be read at all.
pub(crate) fn empty(labels: &Labels, reason: &str, error: String) -> SymbolMap {
    let mut map = labelled(labels);
    map.incomplete = true;
    map.reason = Some(reason.to_owned());
    map.errors = vec![MapError {
        object: None,
        source: None,
        error,
    }];
    summarise(&mut map);
    map
}

/// The map of `entries`.
///
/// One object that cannot be read empties it. A partial map keeps all entries instead; it is
/// `incomplete` unless every entry with an error lists its full dependencies, since then a reader
/// knows which files must only select.
pub(crate) fn whole(
    options: &BuildOptions,
    build_dirs: Vec<String>,
    entries: Vec<Entry>,
) -> SymbolMap {
    let mut map = labelled(&options.labels);
    map.build_dirs = build_dirs;
    let errors = entries.iter().filter_map(|entry| error(&entry.object));
    map.errors = errors.collect();
    map.errors
        .sort_by(|a, b| (&a.object, &a.error).cmp(&(&b.object, &b.error)));
    let failed = !map.errors.is_empty();
    let unbounded = entries
        .iter()
        .any(|entry| entry.object.error.is_some() && !entry.complete_deps);
    map.objects = entries.into_iter().map(|entry| entry.object).collect();
    map.objects.sort();
    if failed && !options.partial {
        map.objects.clear();
        map.reason = Some(UNREADABLE_OBJECTS.to_owned());
    }
    map.incomplete = if options.partial { unbounded } else { failed };
    summarise(&mut map);
    map
}

fn error(object: &MapObject) -> Option<MapError> {
    Some(MapError {
        object: Some(object.object.clone()),
        source: Some(object.source.clone()),
        error: object.error.clone()?,
    })
}

/// Fills in what follows from the objects. No times: same inputs, same bytes.
pub(crate) fn summarise(map: &mut SymbolMap) {
    let targets: BTreeSet<&String> = map
        .objects
        .iter()
        .flat_map(|object| &object.offload_targets)
        .collect();
    map.offload_targets = targets.into_iter().cloned().collect();
    let count = |wanted: fn(&MapObject) -> bool| {
        map.objects.iter().filter(|object| wanted(object)).count() as u64
    };
    let numbers = [
        ("objects", map.objects.len() as u64),
        ("device_objects", count(|object| object.device)),
        (
            "objects_with_symbols",
            count(|object| !object.symbols.is_empty()),
        ),
        ("symbols", map.distinct_symbols()),
        ("errors", map.errors.len() as u64),
    ];
    let stats = numbers
        .into_iter()
        .map(|(name, number)| (name.to_owned(), number.into()));
    map.stats = Some(stats.collect());
}
