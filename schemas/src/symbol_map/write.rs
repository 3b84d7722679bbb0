//! The document as written, in the map's own version: a map that was given is never upgraded.

use super::{MapError, MapObject, MapVersion, SymbolMap};
use crate::id::{Backend, Commit, Variant};
use crate::json;
use crate::time::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Both versions share one shape; version 1 leaves out what version 2 added.
#[derive(Serialize, JsonSchema)]
#[schemars(title = "kernrec symbol map, versions 1 and 2")]
pub(crate) struct Document<'a> {
    #[schemars(range(min = 1, max = 2))]
    version: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    backend: Option<Backend>,
    #[serde(default)]
    commit: String,
    #[serde(default, skip_serializing_if = "Variant::is_default")]
    variant: Variant,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cuda: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    generated_at: Option<Timestamp>,
    #[serde(default)]
    build_dirs: Vec<String>,
    #[serde(default)]
    incomplete: bool,
    #[serde(default)]
    errors: Vec<MapError>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    tools: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    hipify_manifests: Vec<String>,
    #[serde(default)]
    objects: Vec<Cow<'a, MapObject>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stats: Option<Map<String, Value>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    offload_targets: Vec<String>,
}

pub(super) fn canonical(map: &SymbolMap) -> Vec<u8> {
    json::canonical(&Document {
        version: match map.version {
            MapVersion::V1 => 1,
            MapVersion::V2 => 2,
        },
        backend: (map.version == MapVersion::V2).then_some(map.backend),
        commit: map.commit.as_ref().map_or("", Commit::as_str).to_owned(),
        variant: map.variant.clone(),
        cuda: map.cuda.clone(),
        generated_at: map.generated_at,
        build_dirs: sorted(&map.build_dirs),
        incomplete: map.incomplete,
        errors: sorted(&map.errors),
        tools: map.tools.clone(),
        hipify_manifests: sorted(&map.hipify_manifests),
        objects: canonical_objects(&map.objects),
        reason: map.reason.clone(),
        stats: map.stats.clone().map(sorted_stats),
        offload_targets: sorted(&map.offload_targets),
    })
}

fn canonical_objects(objects: &[MapObject]) -> Vec<Cow<'_, MapObject>> {
    let mut objects: Vec<_> = objects.iter().map(canonical_object).collect();
    objects.sort();
    objects
}

/// Copied only where it was written by somebody else: a map has hundreds of thousands of names.
fn canonical_object(object: &MapObject) -> Cow<'_, MapObject> {
    let is_canonical =
        is_sorted(&object.symbols) && is_sorted(&object.deps) && is_sorted(&object.offload_targets);
    if is_canonical {
        return Cow::Borrowed(object);
    }
    Cow::Owned(MapObject {
        symbols: sorted(&object.symbols),
        deps: sorted(&object.deps),
        offload_targets: sorted(&object.offload_targets),
        ..object.clone()
    })
}

/// Whether [`sorted`] would change nothing.
fn is_sorted<T: Ord>(values: &[T]) -> bool {
    values.is_sorted_by(|one, next| one < next)
}

fn sorted<T: Clone + Ord>(values: &[T]) -> Vec<T> {
    let mut values = values.to_vec();
    values.sort_unstable();
    values.dedup();
    values
}

/// Sorted whatever the map type of `serde_json` was built to keep.
fn sorted_stats(mut stats: Map<String, Value>) -> Map<String, Value> {
    stats.sort_keys();
    stats.values_mut().for_each(Value::sort_all_objects);
    stats
}
