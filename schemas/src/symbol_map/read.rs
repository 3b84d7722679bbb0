//! The loader of versions 1 and 2.

use super::paths::{Paths, Text};
use super::{DOCUMENT, MapError, MapObject, MapVersion, SymbolMap};
use crate::id::{Backend, Commit, KernelName, Variant};
use crate::json::{self, DocumentError};
use crate::time::Timestamp;
use serde::Deserialize;
use std::collections::BTreeMap;

const EXPECTED: &str = "1 or 2";

/// Both versions as read; what is absent takes its default.
#[derive(Deserialize)]
struct Wire<'a> {
    version: u64,
    backend: Option<Backend>,
    #[serde(default)]
    commit: String,
    #[serde(default)]
    variant: Variant,
    cuda: Option<String>,
    generated_at: Option<Timestamp>,
    #[serde(default)]
    build_dirs: Vec<String>,
    #[serde(default)]
    incomplete: bool,
    #[serde(default)]
    errors: Vec<MapError>,
    #[serde(default)]
    tools: BTreeMap<String, String>,
    #[serde(default)]
    hipify_manifests: Vec<String>,
    #[serde(borrow, default)]
    objects: Vec<WireObject<'a>>,
    reason: Option<String>,
    stats: Option<serde_json::Map<String, serde_json::Value>>,
    #[serde(default)]
    offload_targets: Vec<String>,
}

#[derive(Deserialize)]
struct WireObject<'a> {
    source: String,
    compiled_source: Option<String>,
    #[serde(default)]
    target: String,
    #[serde(default)]
    object: String,
    #[serde(default)]
    device: bool,
    #[serde(default)]
    symbols: Vec<KernelName>,
    #[serde(borrow, default)]
    deps: Vec<Text<'a>>,
    #[serde(default)]
    offload_targets: Vec<String>,
    error: Option<String>,
}

pub(super) fn parse(bytes: &[u8]) -> Result<SymbolMap, DocumentError> {
    let wire: Wire<'_> = json::read_versioned(DOCUMENT, bytes, &["1", "2"], EXPECTED)?;
    let version = match wire.version {
        1 => MapVersion::V1,
        2 => MapVersion::V2,
        other => {
            let found = other.to_string();
            return Err(DocumentError::version(DOCUMENT, &found, EXPECTED));
        }
    };
    let backend = backend(version, wire.backend)?;
    let commit = match wire.commit {
        text if text.is_empty() => None,
        text => {
            let commit = Commit::new(text);
            Some(commit.map_err(|e| DocumentError::rule(DOCUMENT, "commit", e.to_string()))?)
        }
    };
    Ok(SymbolMap {
        version,
        backend,
        commit,
        variant: wire.variant,
        cuda: wire.cuda,
        generated_at: wire.generated_at,
        incomplete: wire.incomplete,
        errors: wire.errors,
        build_dirs: wire.build_dirs,
        objects: objects(wire.objects),
        reason: wire.reason,
        stats: wire.stats,
        tools: wire.tools,
        hipify_manifests: wire.hipify_manifests,
        offload_targets: wire.offload_targets,
    })
}

fn objects(wire: Vec<WireObject<'_>>) -> Vec<MapObject> {
    let mut paths = Paths::default();
    wire.into_iter()
        .map(|object| MapObject {
            source: object.source,
            compiled_source: object.compiled_source,
            target: object.target,
            object: object.object,
            device: object.device,
            symbols: object.symbols,
            deps: paths.shared(&object.deps),
            offload_targets: object.offload_targets,
            error: object.error,
        })
        .collect()
}

/// Version 1 is CUDA whether it says so or not; version 2 must say.
fn backend(version: MapVersion, named: Option<Backend>) -> Result<Backend, DocumentError> {
    match (version, named) {
        (MapVersion::V1, None | Some(Backend::Cuda)) => Ok(Backend::Cuda),
        (MapVersion::V1, Some(other)) => {
            let problem = format!("version 1 is of `cuda` only, found `{other}`");
            Err(DocumentError::rule(DOCUMENT, "backend", problem))
        }
        (MapVersion::V2, Some(backend)) if backend.has_kernels() => Ok(backend),
        (MapVersion::V2, Some(other)) => {
            let problem = format!("`{other}` has no kernels");
            Err(DocumentError::rule(DOCUMENT, "backend", problem))
        }
        (MapVersion::V2, None) => Err(DocumentError::rule(
            DOCUMENT,
            "backend",
            "missing in version 2",
        )),
    }
}
