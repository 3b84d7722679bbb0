//! The document as written, in the map's own version: a map that was given is never upgraded.

use super::{MapError, MapObject, MapVersion, SymbolMap};
use crate::id::{Backend, Commit, Variant};
use crate::json;
use crate::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Both versions share one shape; version 1 leaves out what version 2 added.
#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(title = "kernrec symbol map, versions 1 and 2")]
pub(crate) struct Wire {
    version: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) backend: Option<Backend>,
    #[serde(default)]
    pub(super) commit: String,
    #[serde(default, skip_serializing_if = "Variant::is_default")]
    pub(super) variant: Variant,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) cuda: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) generated_at: Option<Timestamp>,
    #[serde(default)]
    pub(super) build_dirs: Vec<String>,
    #[serde(default)]
    pub(super) incomplete: bool,
    #[serde(default)]
    pub(super) errors: Vec<MapError>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) tools: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) hipify_manifests: Vec<String>,
    #[serde(default)]
    pub(super) objects: Vec<MapObject>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) stats: Option<serde_json::Map<String, serde_json::Value>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) offload_targets: Vec<String>,
}

pub(super) fn canonical(map: &SymbolMap) -> Vec<u8> {
    json::canonical(&Wire {
        version: match map.version {
            MapVersion::V1 => 1,
            MapVersion::V2 => 2,
        },
        backend: (map.version == MapVersion::V2).then_some(map.backend),
        commit: map.commit.as_ref().map_or("", Commit::as_str).to_owned(),
        variant: map.variant.clone(),
        cuda: map.cuda.clone(),
        generated_at: map.generated_at,
        build_dirs: map.build_dirs.clone(),
        incomplete: map.incomplete,
        errors: map.errors.clone(),
        tools: map.tools.clone(),
        hipify_manifests: map.hipify_manifests.clone(),
        objects: canonical_objects(&map.objects),
        reason: map.reason.clone(),
        stats: map.stats.clone(),
        offload_targets: sorted(&map.offload_targets),
    })
}

fn canonical_objects(objects: &[MapObject]) -> Vec<MapObject> {
    let mut objects: Vec<MapObject> = objects
        .iter()
        .map(|object| MapObject {
            symbols: sorted(&object.symbols),
            deps: sorted(&object.deps),
            offload_targets: sorted(&object.offload_targets),
            ..object.clone()
        })
        .collect();
    objects.sort();
    objects
}

fn sorted<T: Clone + Ord>(values: &[T]) -> Vec<T> {
    let mut values = values.to_vec();
    values.sort_unstable();
    values.dedup();
    values
}
