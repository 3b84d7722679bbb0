//! The documents of one record and the manifest over them.

use super::{PublishError, PublishRequest};
use kernrec_schemas::agreement;
use kernrec_schemas::installed::StoreLayout;
use kernrec_schemas::jobs::JobsList;
use kernrec_schemas::json;
use kernrec_schemas::manifest::{
    BundleRef, Counts, FileRef, MEDIA_JSON, ManifestParts, Producer, ROLE_JOBS, ROLE_TABLE,
    RecordManifest, symbol_map_role,
};
use kernrec_schemas::symbol_map::SymbolMap;
use kernrec_schemas::table::KernelTable;
use kernrec_schemas::{Digest, DocumentError, Variant};
use kernrec_store::upstream::{self, Half};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// A record, ready to be stored.
pub(super) struct Record {
    /// Its documents, uncompressed: the table, the maps and, for our layout, jobs list and manifest.
    pub(super) documents: Vec<Vec<u8>>,
    /// The digest of its manifest.
    pub(super) manifest: Digest,
}

impl Record {
    /// Table and map, of a record that has one map.
    pub(super) fn halves(&self) -> [(Half, &Vec<u8>); 2] {
        [
            (Half::Table, &self.documents[0]),
            (Half::SymbolMap, &self.documents[1]),
        ]
    }
}

/// Makes the documents and holds them against the loaders and the check that their readers use.
pub(super) fn assemble(
    request: &PublishRequest<'_>,
    table: &KernelTable,
    counts: Counts,
    bundles: Vec<BundleRef>,
) -> Result<Record, PublishError> {
    let (table_document, map_documents) =
        rayon::join(|| TableDocument::of(table), || map_documents(request));
    let TableDocument {
        bytes,
        file,
        read: read_table,
    } = table_document?;
    let mut documents = vec![bytes];
    let mut read_maps = Vec::new();
    let mut files = BTreeMap::from([(ROLE_TABLE.to_owned(), file)]);
    for document in map_documents? {
        files.insert(symbol_map_role(&document.variant), document.file);
        read_maps.push((document.variant, document.read));
        documents.push(document.bytes);
    }
    if request.layout == StoreLayout::Upstream {
        return upstream_record(request, documents, &read_table, &read_maps);
    }
    if let Some(jobs) = request.jobs {
        let bytes = canonical_jobs(jobs);
        read_jobs(&bytes).map_err(PublishError::NotAcceptable)?;
        files.insert(ROLE_JOBS.to_owned(), file_ref(&bytes));
        documents.push(bytes);
    }
    let manifest = RecordManifest::new(ManifestParts {
        pipeline: request.pipeline.clone(),
        backend: request.backend,
        commit: request.commit.clone(),
        build: request.build,
        recorded_at: table.source.recorded_at,
        files,
        counts,
        bundles,
        producer: Producer {
            name: "kernrec".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        },
    });
    let bytes = manifest.to_canonical();
    let read = RecordManifest::parse(&bytes).map_err(PublishError::NotAcceptable)?;
    let read_maps: Vec<_> = read_maps.iter().map(|(v, map)| (v.clone(), map)).collect();
    agreement::check(&read, &read_table, &read_maps)?;
    let manifest = Digest::of(&bytes);
    documents.push(bytes);
    Ok(Record {
        documents,
        manifest,
    })
}

/// A table as it is stored, and as its readers will have it.
struct TableDocument {
    bytes: Vec<u8>,
    file: FileRef,
    read: KernelTable,
}

impl TableDocument {
    fn of(table: &KernelTable) -> Result<Self, PublishError> {
        let bytes = table.to_canonical();
        Ok(Self {
            read: KernelTable::parse(&bytes).map_err(PublishError::NotAcceptable)?,
            file: file_ref(&bytes),
            bytes,
        })
    }
}

/// A map as it is stored, and as its readers will have it.
struct MapDocument {
    variant: Variant,
    bytes: Vec<u8>,
    file: FileRef,
    read: SymbolMap,
}

fn map_documents(request: &PublishRequest<'_>) -> Result<Vec<MapDocument>, PublishError> {
    let maps: Vec<_> = request.maps.of(request.backend).collect();
    maps.into_par_iter()
        .map(|(variant, file)| {
            let bytes = file.map.to_canonical();
            Ok(MapDocument {
                variant: variant.clone(),
                read: SymbolMap::load(&bytes).map_err(PublishError::NotAcceptable)?,
                file: file_ref(&bytes),
                bytes,
            })
        })
        .collect()
}

/// The record as whoever reads its two files will see it: its manifest is not stored.
fn upstream_record(
    request: &PublishRequest<'_>,
    documents: Vec<Vec<u8>>,
    table: &KernelTable,
    maps: &[(Variant, SymbolMap)],
) -> Result<Record, PublishError> {
    let names = upstream::Names {
        pipeline: &request.pipeline,
        backend: request.backend,
        commit: &request.commit,
    };
    let ([(variant, map)], [table_bytes, map_bytes]) = (maps, documents.as_slice()) else {
        return Err(PublishError::OneMap { found: maps.len() });
    };
    let manifest = upstream::manifest(names, (table, table_bytes), (map, map_bytes));
    agreement::check(&manifest, table, &[(variant.clone(), map)])?;
    Ok(Record {
        manifest: Digest::of(&manifest.to_canonical()),
        documents,
    })
}

/// A jobs list as it is stored: sorted by id, compact.
fn canonical_jobs(jobs: &JobsList) -> Vec<u8> {
    json::canonical(&jobs.iter().collect::<Vec<_>>())
}

/// Reads a stored jobs list.
pub(crate) fn read_jobs(bytes: &[u8]) -> Result<JobsList, DocumentError> {
    JobsList::parse(bytes)
}

fn file_ref(bytes: &[u8]) -> FileRef {
    FileRef {
        digest: Digest::of(bytes),
        size: bytes.len() as u64,
        media_type: MEDIA_JSON.to_owned(),
    }
}
