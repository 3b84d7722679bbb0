//! The map of objects alone.

use super::assemble::{labelled, summarise};
use super::options::{NO_SOURCES, ObjectsOptions};
use crate::input::with_causes;
use crate::object::{DeviceCode, ObjectError, ObjectReader};
use kernrec_schemas::KernelName;
use kernrec_schemas::symbol_map::{MapError, MapObject, SymbolMap};
use rayon::prelude::*;
use std::path::Path;

/// Lists the kernels of objects, shared libraries and archives whose build tree is gone.
///
/// The map is `incomplete` with the reason `no-sources`: it can be shown, and no loader accepts it
/// as evidence. Objects that cannot be read have an `error`.
pub fn map_objects(options: &ObjectsOptions) -> SymbolMap {
    let backend = options.labels.backend;
    let mut objects: Vec<MapObject> = options
        .objects
        .par_iter()
        .map_init(ObjectReader::default, |reader, path| {
            object(path, reader.read(path, backend))
        })
        .collect();
    objects.sort();
    let errors = objects.iter().filter_map(|object| {
        let error = object.error.clone()?;
        Some(MapError {
            object: Some(object.object.clone()),
            source: None,
            error,
        })
    });
    let mut map = labelled(&options.labels);
    map.errors = errors.collect();
    map.incomplete = true;
    map.reason = Some(NO_SOURCES.to_owned());
    map.objects = objects;
    summarise(&mut map);
    map
}

fn object(path: &Path, read: Result<DeviceCode, ObjectError>) -> MapObject {
    let name = path.to_string_lossy().into_owned();
    let (code, error) = match read {
        Ok(code) => (code, None),
        Err(error) => (DeviceCode::default(), Some(with_causes(&error))),
    };
    let symbols = code
        .symbols
        .into_iter()
        .filter_map(|name| KernelName::new(name).ok());
    MapObject {
        source: name.clone(),
        compiled_source: None,
        target: String::new(),
        object: name,
        device: code.device,
        symbols: symbols.collect(),
        deps: Vec::new(),
        offload_targets: code.offload_targets.into_iter().collect(),
        error,
    }
}
