//! The bundles that go into the store with a record, so that anyone can fold it again.

use super::evidence::fold_options;
use super::{BundlePolicy, Evidence, PublishError, PublishRequest};
use crate::collect::{self, Interner, Origin, Unreadable};
use crate::fold::Filing;
use fs_err as fs;
use kernrec_schemas::Digest;
use kernrec_schemas::manifest::BundleRef;
use kernrec_schemas::table::KernelTable;
use kernrec_store::bundle::{self, BundleError, JobFolder, PackOptions};
use kernrec_store::fsio::FsError;
use kernrec_store::{Key, Store, objects};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::path::PathBuf;
use tempfile::TempDir;

/// Bundle files to store, by digest.
#[derive(Default)]
pub(super) struct Bundles {
    files: BTreeMap<Digest, BundleFile>,
    /// Jobs that no bundle can hold.
    left_out: Vec<Unreadable>,
    /// Holds those packed here; removed when this is dropped.
    _folder: Option<TempDir>,
}

struct BundleFile {
    path: PathBuf,
    size: u64,
}

/// Finds or packs the bundles of every job of the table's steps, of whatever backend: whether a listed job
/// delivered anything is part of a row.
pub(super) fn prepare(
    request: &PublishRequest<'_>,
    table: &KernelTable,
) -> Result<Bundles, PublishError> {
    let (Evidence::Recordings(collected), BundlePolicy::Store) =
        (request.evidence, request.bundles)
    else {
        return Ok(Bundles::default());
    };
    let temp = std::env::temp_dir();
    let folder =
        tempfile::tempdir().map_err(|e| FsError::new("create a temporary folder in", &temp, e))?;
    let options = fold_options(request);
    let filing = Filing::new(collected, options.jobs.as_ref());
    let origins: Vec<&Origin> = filing
        .steps
        .iter()
        .filter(|(step, _)| table.rows.contains_key(**step))
        .flat_map(|(_, jobs)| jobs)
        .flat_map(|filed| &filed.job.origins)
        .collect();
    let bundles: Result<Vec<_>, PublishError> = origins
        .into_par_iter()
        .map(|origin| bundle_of(origin, folder.path()))
        .collect();
    let mut prepared = Bundles {
        _folder: Some(folder),
        ..Bundles::default()
    };
    for bundle in bundles? {
        match bundle {
            Ok((digest, file)) => _ = prepared.files.insert(digest, file),
            Err(left_out) => prepared.left_out.push(left_out),
        }
    }
    Ok(prepared)
}

/// The bundle of a job, or why none can hold it. One odd file in one job spoils its row, not the record.
fn bundle_of(
    origin: &Origin,
    folder: &std::path::Path,
) -> Result<Result<(Digest, BundleFile), Unreadable>, PublishError> {
    match origin {
        Origin::Bundle {
            path, digest, size, ..
        } => {
            let file = BundleFile {
                path: path.clone(),
                size: *size,
            };
            Ok(Ok((*digest, file)))
        }
        Origin::Folder {
            folder: job,
            content,
        } => match bundle::pack(job, folder, &PackOptions::default()) {
            Ok(packed) => checked(job, *content, packed).map(Ok),
            Err(error @ (BundleError::NotRegular { .. } | BundleError::Unpackable { .. })) => {
                Ok(Err(Unreadable {
                    path: job.path.clone(),
                    reason: error.reason(),
                    message: error.to_string(),
                }))
            }
            Err(error) => Err(error.into()),
        },
    }
}

/// What is stored must be what was folded: reads back what was packed.
fn checked(
    job: &JobFolder,
    content: Digest,
    packed: bundle::PackedBundle,
) -> Result<(Digest, BundleFile), PublishError> {
    let interner = Interner::default();
    let file = fs::File::open(&packed.path).map_err(FsError::on("open", &packed.path))?;
    let again = collect::read_bundle(packed.path.clone(), file, &interner)?;
    if again.content() != Some(content) {
        return Err(PublishError::RecordingsChanged {
            path: job.path.clone(),
        });
    }
    let file = BundleFile {
        path: packed.path,
        size: packed.size,
    };
    Ok((packed.digest, file))
}

impl Bundles {
    /// How the manifest names them.
    pub(super) fn refs(&self) -> Vec<BundleRef> {
        let to_ref = |(digest, file): (&Digest, &BundleFile)| BundleRef {
            digest: *digest,
            size: file.size,
        };
        self.files.iter().map(to_ref).collect()
    }

    /// Jobs whose bundle is not stored, sorted by folder.
    pub(super) fn left_out(&self) -> Vec<Unreadable> {
        let mut left_out = self.left_out.clone();
        left_out.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        left_out
    }

    /// Stores them and proves that they are there.
    pub(super) fn upload(&self, store: &dyn Store) -> Result<(), PublishError> {
        self.files
            .par_iter()
            .try_for_each(|(digest, file)| upload_one(store, digest, file))
    }
}

fn upload_one(store: &dyn Store, digest: &Digest, file: &BundleFile) -> Result<(), PublishError> {
    let frame = fs::read(&file.path).map_err(FsError::on("read", &file.path))?;
    // Not every store reads back what it was given, so what is given must be right.
    let name = file.path.display().to_string();
    let is_whole = bundle::read(&name, frame.as_slice(), &mut |_, _| ())
        .is_ok_and(|found| found.digest == *digest && found.size == file.size);
    if !is_whole {
        return Err(PublishError::RecordingsChanged {
            path: file.path.clone(),
        });
    }
    let key = Key::bundle(digest);
    Ok(objects::put_frame(store, &key, &frame, digest, file.size)?)
}
