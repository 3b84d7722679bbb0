//! Packing a job folder.

use super::header::{self, BLOCK};
use super::limits::MAX_BUNDLE_BYTES;
use super::names::{self, PREFLIGHT_LOG, SETUP_LOG};
use super::{BundleError, JobFolder, Refusal, part, read};
use crate::fsio::{self, AtomicFile, FsError};
use kernrec_schemas::Digest;
use kernrec_schemas::id::Hasher;
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};
use tempfile::SpooledTempFile;

/// zstd's default. Bundles are many and small; a higher level costs a CI job more than it saves.
const LEVEL: i32 = 3;

/// An archive up to this size in bytes is put together in memory, a larger one in an unnamed file.
const IN_MEMORY: usize = 32 << 20;

/// What goes into a bundle beside sidecars, recordings and notes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PackOptions {
    /// Take `setup.log` and `preflight.log` along: they help to find out why a job recorded nothing, and can
    /// hold what a log can hold.
    pub include_logs: bool,
}

/// A bundle that was packed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackedBundle {
    /// Where it is: `<out_dir>/<64 hex>.tar.zst`.
    pub path: PathBuf,
    /// The digest of the archive.
    pub digest: Digest,
    /// The archive's size in bytes, uncompressed.
    pub size: u64,
}

/// Packs a job folder into a bundle in `out_dir`, which is created if need be.
///
/// The same folder gives the same bytes. The file appears whole and durable or not at all; a whole one that
/// stands there already is left alone, a damaged one replaced. A file that grows meanwhile is taken as it is
/// when it is read; a sidecar, recording or note that cannot be taken fails the whole, and nothing is left behind.
pub fn pack(
    job: &JobFolder,
    out_dir: &Path,
    options: &PackOptions,
) -> Result<PackedBundle, BundleError> {
    let logs: &[&str] = if options.include_logs {
        &[PREFLIGHT_LOG, SETUP_LOG]
    } else {
        &[]
    };
    let entries = job.entries_and(logs)?;
    let is_evidence = |name: &String| part::is_evidence(name.as_bytes());
    if !entries.iter().any(is_evidence) {
        return Err(unpackable(&job.path, Refusal::Empty));
    }
    fsio::create_dir_all(out_dir)?;
    let mut archive = Archive::new(out_dir);
    archive.append(&job.path, names::META, &job.meta.to_bytes())?;
    let mut content = Vec::new();
    for name in &entries {
        content.clear();
        job.read(name, &mut content)?;
        archive.append(&job.path, name, &content)?;
    }
    let (spool, digest, size) = archive.finish()?;
    let path = out_dir.join(read::file_name(&digest));
    if read::read_file(&path, &mut |_, _| ()).is_err() {
        compress(spool, size, &path)?;
    }
    Ok(PackedBundle { path, digest, size })
}

/// An archive being put together, uncompressed: the frame's header, which comes first, holds its size.
struct Archive<'a> {
    spool: SpooledTempFile,
    dir: &'a Path,
    hasher: Hasher,
    size: u64,
}

impl<'a> Archive<'a> {
    fn new(dir: &'a Path) -> Self {
        Self {
            spool: tempfile::spooled_tempfile_in(IN_MEMORY, dir),
            dir,
            hasher: Hasher::new(),
            size: 0,
        }
    }

    fn append(&mut self, job: &Path, name: &str, content: &[u8]) -> Result<(), BundleError> {
        let size = content.len() as u64;
        let after = self.size + BLOCK as u64 + header::padded(size);
        if after + 2 * BLOCK as u64 > MAX_BUNDLE_BYTES {
            return Err(unpackable(job, Refusal::BundleTooLarge { found: after }));
        }
        self.write(&header::encode(name, size))?;
        self.write(content)?;
        self.pad(header::padded(size) - size)
    }

    fn finish(mut self) -> Result<(SpooledTempFile, Digest, u64), BundleError> {
        self.pad(2 * BLOCK as u64)?;
        self.spool.rewind().map_err(spool_error(self.dir))?;
        Ok((self.spool, self.hasher.digest(), self.size))
    }

    fn pad(&mut self, count: u64) -> Result<(), BundleError> {
        let zeros = [0; 2 * BLOCK];
        self.write(&zeros[..usize::try_from(count).unwrap_or(zeros.len())])
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), BundleError> {
        self.hasher.update(bytes);
        self.size += bytes.len() as u64;
        let written = self.spool.write_all(bytes);
        written.map_err(spool_error(self.dir))
    }
}

fn compress(mut archive: SpooledTempFile, size: u64, path: &Path) -> Result<(), BundleError> {
    let on_error = FsError::on("write", path);
    let file = AtomicFile::create(path)?;
    let written = encoder(file, size).and_then(|mut encoder| {
        io::copy(&mut archive, &mut encoder)?;
        encoder.finish()
    });
    let file = written.map_err(on_error)?;
    file.commit()?;
    Ok(())
}

fn encoder(file: AtomicFile, size: u64) -> io::Result<zstd::Encoder<'static, AtomicFile>> {
    let mut encoder = zstd::Encoder::new(file, LEVEL)?;
    encoder.include_checksum(true)?;
    encoder.include_contentsize(true)?;
    encoder.set_pledged_src_size(Some(size))?;
    Ok(encoder)
}

fn unpackable(path: &Path, refusal: Refusal) -> BundleError {
    BundleError::Unpackable {
        path: path.to_path_buf(),
        refusal: Box::new(refusal),
    }
}

fn spool_error(dir: &Path) -> impl FnOnce(io::Error) -> BundleError + '_ {
    move |source| FsError::new("write a temporary file in", dir, source).into()
}
