//! The bundles that go into the store with a record, so that anyone can fold it again.

use super::evidence::fold_options;
use super::{BundlePolicy, Evidence, PublishError, PublishRequest, Table};
use crate::collect::{self, Interners, Origin, Parsed, Unreadable};
use crate::fold::Filing;
use fs_err as fs;
use kernrec_schemas::installed::StoreLayout;
use kernrec_schemas::manifest::BundleRef;
use kernrec_schemas::{Backend, Digest};
use kernrec_store::bundle::{self, BundleError, JobFolder, PackOptions, PackedBundle};
use kernrec_store::fsio::FsError;
use kernrec_store::objects::{self, Likely};
use kernrec_store::{Key, Store};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Bundle files to store, by digest.
#[derive(Default)]
pub(super) struct Bundles {
    files: BTreeMap<Digest, BundleFile>,
    /// Job folders that no bundle can hold.
    pub(super) left_out: Vec<Unreadable>,
    /// Holds those packed here; removed when this is dropped.
    _folder: Option<TempDir>,
}

struct BundleFile {
    path: PathBuf,
    size: u64,
}

/// Finds or packs the bundles of every job of the table's steps, of whatever backend of kernels: whether a listed job
/// delivered anything is part of a row.
pub(super) fn prepare(
    request: &PublishRequest<'_>,
    table: &Table,
) -> Result<Bundles, PublishError> {
    let (Evidence::Recordings(collected), BundlePolicy::Store, StoreLayout::Native) =
        (request.evidence, request.bundles, request.layout)
    else {
        return Ok(Bundles::default());
    };
    let temp = std::env::temp_dir();
    let folder =
        tempfile::tempdir().map_err(|e| FsError::new("create a temporary folder in", &temp, e))?;
    let options = fold_options(request);
    let filing = Filing::new(collected, &options);
    let origins: Vec<&Origin> = filing
        .steps
        .iter()
        .filter(|(step, _)| table.has_row(step))
        .flat_map(|(_, jobs)| jobs)
        .flat_map(|filed| &filed.job.origins)
        .collect();
    let made: Result<Vec<Made>, PublishError> = origins
        .into_par_iter()
        .map(|origin| bundle_of(origin, request.backend, folder.path()))
        .collect();
    let mut bundles = Bundles {
        _folder: Some(folder),
        ..Bundles::default()
    };
    for made in made? {
        match made {
            Made::Bundle(digest, file) => {
                bundles.files.insert(digest, file);
            }
            Made::Nothing(left_out) => bundles.left_out.push(left_out),
        }
    }
    bundles.left_out.sort_unstable();
    bundles.left_out.dedup();
    Ok(bundles)
}

/// What became of one origin.
enum Made {
    Bundle(Digest, BundleFile),
    /// One bad recording spoils its row, never the record: the record does without the job's bundle.
    Nothing(Unreadable),
}

fn bundle_of(origin: &Origin, backend: Backend, folder: &Path) -> Result<Made, PublishError> {
    match origin {
        Origin::Bundle {
            path, digest, size, ..
        } => Ok(Made::Bundle(
            *digest,
            BundleFile {
                path: path.clone(),
                size: *size,
            },
        )),
        Origin::Folder {
            folder: job,
            content,
            whole,
        } => match bundle::pack(job, folder, &PackOptions::default()) {
            Ok(packed) if *whole => checked(job, packed, backend, content),
            // It can be packed now: somebody mended it after it was folded.
            Ok(_) => Err(changed(job)),
            Err(error) if !whole || is_unpackable(&error) => Ok(Made::Nothing(Unreadable {
                path: job.path.clone(),
                reason: error.reason(),
                message: error.to_string(),
            })),
            Err(error) => Err(error.into()),
        },
    }
}

/// Whether a file of the folder is one that no bundle holds: a link, a folder, a FIFO, an odd name.
fn is_unpackable(error: &BundleError) -> bool {
    matches!(
        error,
        BundleError::NotRegular { .. } | BundleError::Unpackable { .. }
    )
}

/// What is stored must be what was folded: reads back what was packed.
fn checked(
    job: &JobFolder,
    packed: PackedBundle,
    backend: Backend,
    content: &Digest,
) -> Result<Made, PublishError> {
    let interners = Interners::default();
    let file = fs::File::open(&packed.path).map_err(FsError::on("open", &packed.path))?;
    let again = collect::read_bundle(&packed.path, file, &interners)?;
    if again.half(backend).and_then(Parsed::content) != Some(*content) {
        return Err(changed(job));
    }
    let file = BundleFile {
        path: packed.path,
        size: packed.size,
    };
    Ok(Made::Bundle(packed.digest, file))
}

fn changed(job: &JobFolder) -> PublishError {
    PublishError::RecordingsChanged {
        path: job.path.clone(),
    }
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

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.files.len()
    }

    /// Stores the bundle of this number and proves that it is there.
    pub(super) fn upload(
        &self,
        store: &dyn Store,
        number: usize,
        likely: Likely,
    ) -> Result<(), PublishError> {
        match self.files.iter().nth(number) {
            Some((digest, file)) => upload_one(store, digest, file, likely),
            None => Ok(()),
        }
    }
}

fn upload_one(
    store: &dyn Store,
    digest: &Digest,
    file: &BundleFile,
    likely: Likely,
) -> Result<(), PublishError> {
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
    Ok(objects::put_frame(
        store, &key, &frame, digest, file.size, likely,
    )?)
}
