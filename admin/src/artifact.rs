//! Any content by its digest.

use kernrec_schemas::Digest;
use kernrec_schemas::json::MAX_RECORD_BYTES;
use kernrec_store::artifact::ArtifactError;
use kernrec_store::bundle::{self, BundleError};
use kernrec_store::fsio::{AtomicFile, FsError};
use kernrec_store::{Key, Store, StoreError, artifact, objects};
use std::io::{self, Read, Write};
use std::path::Path;

/// What was put or got.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Artifact {
    /// Its digest.
    pub digest: Digest,
    /// Its key in the store.
    pub key: Key,
    /// Its uncompressed size in bytes.
    pub size: u64,
}

/// Why content was not put or not got.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TransferError {
    /// The store failed, does not hold it, or holds it damaged.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The file could not be read as a document.
    #[error(transparent)]
    File(#[from] ArtifactError),
    /// The bundle is damaged or could not be read.
    #[error(transparent)]
    Bundle(#[from] BundleError),
    /// The file could not be written.
    #[error(transparent)]
    Fs(#[from] FsError),
    /// A bundle, which is never whole in memory.
    #[error("`{key}` is a bundle: it can only be written to a file")]
    NeedsFile {
        /// Its key.
        key: Key,
    },
}

impl TransferError {
    /// The stable word for machines.
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::Store(error) => error.reason(),
            Self::File(error) => error.reason(),
            Self::Bundle(error) => error.reason(),
            Self::Fs(_) => "file-error",
            Self::NeedsFile { .. } => "needs-a-file",
        }
    }
}

/// Stores the content of a document file, whatever its compression, and proves that it can be read back.
pub fn put_document(store: &dyn Store, path: &Path) -> Result<Artifact, TransferError> {
    let bytes = artifact::read(path, MAX_RECORD_BYTES)?;
    let digest = objects::put(store, &bytes)?;
    Ok(Artifact {
        digest,
        key: Key::object(&digest),
        size: bytes.len() as u64,
    })
}

/// Stores a bundle under the bundles' own prefix, checked by its own reader.
pub fn put_bundle(store: &dyn Store, path: &Path) -> Result<Artifact, TransferError> {
    // Read once: what is checked is what is stored.
    let mut frame = Vec::new();
    let file = artifact::open(path)?;
    let name = path.display().to_string();
    let mut copy = Copying {
        reader: file,
        to: &mut frame,
        failed: None,
    };
    let summary = bundle::read(&name, &mut copy, &mut |_, _| ())?;
    let key = Key::bundle(&summary.digest);
    objects::put_frame(
        store,
        &key,
        &frame,
        &summary.digest,
        summary.size,
        objects::Likely::New,
    )?;
    Ok(Artifact {
        digest: summary.digest,
        key,
        size: summary.size,
    })
}

/// Where content with this digest stands: an object, or else a bundle.
pub fn find(store: &dyn Store, digest: &Digest) -> Result<Key, StoreError> {
    let object = Key::object(digest);
    if store.stat(&object)?.is_some() {
        return Ok(object);
    }
    let bundle = Key::bundle(digest);
    if store.stat(&bundle)?.is_some() {
        return Ok(bundle);
    }
    Err(StoreError::NotFound {
        url: store.url().to_owned(),
        key: object,
    })
}

/// Reads a document, verified.
pub fn get_document(store: &dyn Store, digest: &Digest) -> Result<Vec<u8>, TransferError> {
    let key = find(store, digest)?;
    if key != Key::object(digest) {
        return Err(TransferError::NeedsFile { key });
    }
    Ok(objects::read_bounded(store, digest, MAX_RECORD_BYTES)?)
}

/// Writes content to a file, verified: a bundle as it is stored, a document as the file's name says. The file
/// appears whole or not at all.
pub fn get_to_file(
    store: &dyn Store,
    digest: &Digest,
    out: &Path,
) -> Result<Artifact, TransferError> {
    let key = find(store, digest)?;
    if key == Key::bundle(digest) {
        return get_bundle(store, digest, key, out);
    }
    let bytes = objects::read_bounded(store, digest, MAX_RECORD_BYTES)?;
    artifact::write(out, &bytes)?;
    Ok(Artifact {
        digest: *digest,
        key,
        size: bytes.len() as u64,
    })
}

fn get_bundle(
    store: &dyn Store,
    digest: &Digest,
    key: Key,
    out: &Path,
) -> Result<Artifact, TransferError> {
    let mut file = AtomicFile::create(out)?;
    let mut copy = Copying {
        reader: store.read(&key)?,
        to: &mut file,
        failed: None,
    };
    let result = bundle::read(key.as_str(), &mut copy, &mut |_, _| ());
    if let Some(error) = copy.failed.take() {
        return Err(file.write_error(error).into());
    }
    let summary = result?;
    if summary.digest != *digest {
        return Err(StoreError::Damaged {
            url: store.url().to_owned(),
            key,
            expected: digest.to_string(),
            found: format!("a bundle with the digest {}", summary.digest),
        }
        .into());
    }
    file.commit()?;
    Ok(Artifact {
        digest: *digest,
        key,
        size: summary.size,
    })
}

/// Copies what is read.
struct Copying<'a, R, W> {
    reader: R,
    to: &'a mut W,
    /// Why the copy ended, told apart from a reader that failed.
    failed: Option<io::Error>,
}

impl<R: Read, W: Write> Read for Copying<'_, R, W> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.reader.read(buffer)?;
        match self.to.write_all(&buffer[..n]) {
            Ok(()) => Ok(n),
            Err(error) => {
                self.failed = Some(error);
                Err(io::Error::other("the copy failed"))
            }
        }
    }
}
