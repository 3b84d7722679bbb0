//! The documents of one record and the manifest over them.

use super::{PublishError, PublishRequest, Table};
use kernrec_schemas::agreement;
use kernrec_schemas::function_table::FunctionTable;
use kernrec_schemas::installed::StoreLayout;
use kernrec_schemas::jobs::JobsList;
use kernrec_schemas::json;
use kernrec_schemas::manifest::{
    BundleRef, Counts, FileRef, MEDIA_JSON, ManifestParts, Producer, ROLE_FUNCTION_TABLE,
    ROLE_JOBS, ROLE_TABLE, RecordManifest, symbol_map_role,
};
use kernrec_schemas::symbol_map::SymbolMap;
use kernrec_schemas::table::KernelTable;
use kernrec_schemas::{Digest, DocumentError, Variant};
use kernrec_store::upstream::{self, Half};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// A record, ready to be stored.
pub(super) struct Record {
    /// Its documents: the table, the maps and, for our layout, jobs list and manifest.
    pub(super) documents: Vec<Document>,
    /// The digest of its manifest.
    pub(super) manifest: Digest,
    /// What the documents are, as long as nobody has held them against their loaders.
    unchecked: Option<Unchecked>,
}

/// What the documents of our layout are.
enum Unchecked {
    /// A kernel table and the maps of these variants.
    Kernels(Vec<Variant>),
    /// A function table.
    Functions,
}

/// A document as it is stored, uncompressed.
pub(super) struct Document {
    pub(super) bytes: Vec<u8>,
    pub(super) digest: Digest,
}

impl Document {
    fn new(bytes: Vec<u8>) -> Self {
        Self {
            digest: Digest::of(&bytes),
            bytes,
        }
    }

    fn file(&self) -> FileRef {
        FileRef {
            digest: self.digest,
            size: self.bytes.len() as u64,
            media_type: MEDIA_JSON.to_owned(),
        }
    }

    fn table(&self) -> Result<KernelTable, PublishError> {
        KernelTable::parse(&self.bytes).map_err(PublishError::NotAcceptable)
    }

    fn functions(&self) -> Result<FunctionTable, PublishError> {
        FunctionTable::parse(&self.bytes).map_err(PublishError::NotAcceptable)
    }

    fn map(&self) -> Result<SymbolMap, PublishError> {
        SymbolMap::load(&self.bytes).map_err(PublishError::NotAcceptable)
    }
}

impl Record {
    /// Table and map, of a record that has one map.
    pub(super) fn halves(&self) -> [(Half, &Vec<u8>); 2] {
        [
            (Half::Table, &self.documents[0].bytes),
            (Half::SymbolMap, &self.documents[1].bytes),
        ]
    }

    /// Holds the documents against the loaders and the check that their readers use. No pointer may name the record
    /// before; the documents may be on their way meanwhile.
    pub(super) fn check(&self) -> Result<(), PublishError> {
        let (Some(unchecked), [table, others @ .., manifest]) =
            (&self.unchecked, self.documents.as_slice())
        else {
            return Ok(());
        };
        let manifest =
            RecordManifest::parse(&manifest.bytes).map_err(PublishError::NotAcceptable)?;
        let Unchecked::Kernels(variants) = unchecked else {
            let table = table.functions()?;
            return Ok(agreement::check_functions(&manifest, &table)?);
        };
        let (table, maps) = rayon::join(
            || table.table(),
            || {
                let maps = others.par_iter().zip(variants);
                maps.map(|(map, variant)| Ok((variant.clone(), map.map()?)))
                    .collect::<Result<Vec<_>, PublishError>>()
            },
        );
        let (table, maps) = (table?, maps?);
        let maps: Vec<_> = maps.iter().map(|(v, map)| (v.clone(), map)).collect();
        Ok(agreement::check(&manifest, &table, &maps)?)
    }
}

/// Makes the documents. Our layout's are still to be checked, see [`Record::check`].
pub(super) fn assemble(
    request: &PublishRequest<'_>,
    table: &Table,
    counts: Counts,
    bundles: Vec<BundleRef>,
) -> Result<Record, PublishError> {
    let (table_document, maps) = rayon::join(
        || Document::new(table.to_canonical()),
        || map_documents(request),
    );
    if request.layout == StoreLayout::Upstream {
        return upstream_record(request, table_document, maps);
    }
    let role = match table {
        Table::Kernels(_) => ROLE_TABLE,
        Table::Functions(_) => ROLE_FUNCTION_TABLE,
    };
    let mut files = BTreeMap::from([(role.to_owned(), table_document.file())]);
    let mut documents = vec![table_document];
    let mut variants = Vec::new();
    for (variant, document) in maps {
        files.insert(symbol_map_role(&variant), document.file());
        variants.push(variant);
        documents.push(document);
    }
    if let Some(jobs) = request.jobs {
        let document = Document::new(canonical_jobs(jobs));
        read_jobs(&document.bytes).map_err(PublishError::NotAcceptable)?;
        files.insert(ROLE_JOBS.to_owned(), document.file());
        documents.push(document);
    }
    let manifest = RecordManifest::new(ManifestParts {
        pipeline: request.pipeline.clone(),
        backend: request.backend,
        commit: request.commit.clone(),
        build: request.build,
        recorded_at: table.source().recorded_at,
        files,
        counts,
        bundles,
        producer: Producer {
            name: "kernrec".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        },
    });
    let manifest = Document::new(manifest.to_canonical());
    Ok(Record {
        manifest: manifest.digest,
        unchecked: Some(match table {
            Table::Kernels(_) => Unchecked::Kernels(variants),
            Table::Functions(_) => Unchecked::Functions,
        }),
        documents: documents.into_iter().chain([manifest]).collect(),
    })
}

fn map_documents(request: &PublishRequest<'_>) -> Vec<(Variant, Document)> {
    let maps: Vec<_> = request.maps.of(request.backend).collect();
    maps.into_par_iter()
        .map(|(variant, file)| (variant.clone(), Document::new(file.map.to_canonical())))
        .collect()
}

/// The record as whoever reads its two files will see it: its manifest is not stored, and made of what they read.
fn upstream_record(
    request: &PublishRequest<'_>,
    table: Document,
    maps: Vec<(Variant, Document)>,
) -> Result<Record, PublishError> {
    if !request.backend.has_kernels() {
        let backend = request.backend;
        return Err(PublishError::NotInLayout { backend });
    }
    let names = upstream::Names {
        pipeline: &request.pipeline,
        backend: request.backend,
        commit: &request.commit,
    };
    let found = maps.len();
    let Ok([(variant, map)]) = <[_; 1]>::try_from(maps) else {
        return Err(PublishError::OneMap { found });
    };
    let (read_table, read_map) = rayon::join(|| table.table(), || map.map());
    let (read_table, read_map) = (read_table?, read_map?);
    let manifest = upstream::manifest(names, (&read_table, &table.bytes), (&read_map, &map.bytes));
    agreement::check(&manifest, &read_table, &[(variant, &read_map)])?;
    Ok(Record {
        manifest: Digest::of(&manifest.to_canonical()),
        documents: vec![table, map],
        unchecked: None,
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
