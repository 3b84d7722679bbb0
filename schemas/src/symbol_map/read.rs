//! The loader of versions 1 and 2.

use super::write::Wire;
use super::{DOCUMENT, MapVersion, SymbolMap};
use crate::id::{Backend, Commit};
use crate::json::{self, DocumentError, MAX_RECORD_BYTES};
use serde::Deserialize;
use serde_json::value::RawValue;

#[derive(Deserialize)]
struct Versioned<'a> {
    #[serde(borrow)]
    version: &'a RawValue,
}

pub(super) fn parse(bytes: &[u8]) -> Result<SymbolMap, DocumentError> {
    json::check(DOCUMENT, bytes, MAX_RECORD_BYTES)?;
    let Versioned { version } = json::read_unchecked_keys(DOCUMENT, bytes)?;
    let version = match version.get() {
        "1" => MapVersion::V1,
        "2" => MapVersion::V2,
        other => {
            let found = other.chars().take(40).collect();
            return Err(DocumentError::Version {
                document: DOCUMENT,
                found,
                expected: "1 or 2",
            });
        }
    };
    let wire: Wire = json::read_unchecked_keys(DOCUMENT, bytes)?;
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
        objects: wire.objects,
        reason: wire.reason,
        stats: wire.stats,
        tools: wire.tools,
        hipify_manifests: wire.hipify_manifests,
        offload_targets: wire.offload_targets,
    })
}

/// Version 1 is CUDA whether it says so or not; version 2 must say.
fn backend(version: MapVersion, named: Option<Backend>) -> Result<Backend, DocumentError> {
    match (version, named) {
        (MapVersion::V1, None | Some(Backend::Cuda)) => Ok(Backend::Cuda),
        (MapVersion::V1, Some(other)) => {
            let problem = format!("version 1 is of `cuda` only, found `{other}`");
            Err(DocumentError::rule(DOCUMENT, "backend", problem))
        }
        (MapVersion::V2, Some(backend)) => Ok(backend),
        (MapVersion::V2, None) => Err(DocumentError::rule(
            DOCUMENT,
            "backend",
            "missing in version 2",
        )),
    }
}
