//! One document in one file: compressed or not, told by its first bytes; written as its name says.

use crate::fsio::{self, FsError};
use crate::objects;
use flate2::{Compression, GzBuilder, bufread::GzDecoder};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

const GZIP: [u8; 2] = [0x1f, 0x8b];
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Why a document file could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArtifactError {
    /// The file system said no.
    #[error(transparent)]
    Fs(#[from] FsError),
    /// A named pipe: nobody may ever write to it.
    #[error("`{}` is a FIFO, expected a file", path.display())]
    Fifo {
        /// The path.
        path: PathBuf,
    },
    /// The compressed form is damaged or cut short.
    #[error("decompress `{}`: {source}", path.display())]
    Compression {
        /// The file.
        path: PathBuf,
        /// What the decoder said.
        source: io::Error,
    },
    /// More content than a document of this kind may have.
    #[error("`{}` holds more than {limit} bytes", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The bound in bytes.
        limit: u64,
    },
    /// Something follows the compressed content.
    #[error("`{}` has bytes after the end of its compressed content", path.display())]
    Trailing {
        /// The file.
        path: PathBuf,
    },
}

impl ArtifactError {
    /// The stable word for machines.
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::Fs(_) => "file-error",
            Self::Fifo { .. } => "not-a-regular-file",
            Self::Compression { .. } | Self::Trailing { .. } => "file-damaged",
            Self::TooLarge { .. } => "document-too-large",
        }
    }
}

/// Opens a document file. One at the other end of a pipe is as good (`<(...)` of a shell: a link to a pipe that has
/// its writer), but a FIFO of that name would be waited for, perhaps for ever.
pub fn open(path: &Path) -> Result<fs_err::File, ArtifactError> {
    if fs_err::symlink_metadata(path).is_ok_and(|meta| meta.file_type().is_fifo()) {
        return Err(ArtifactError::Fifo {
            path: path.to_path_buf(),
        });
    }
    Ok(fs_err::File::open(path).map_err(FsError::on("open", path))?)
}

/// Reads a document file: gzip, zstd or plain, whatever its name; at most `limit` bytes of content.
pub fn read(path: &Path, limit: u64) -> Result<Vec<u8>, ArtifactError> {
    let file = open(path)?;
    let mut source = BufReader::with_capacity(128 * 1024, file);
    let head = source.fill_buf().map_err(FsError::on("read", path))?;
    let broken = |source| ArtifactError::Compression {
        path: path.to_path_buf(),
        source: fsio::plain(source),
    };
    if head.starts_with(&GZIP) {
        let mut decoder = GzDecoder::new(source);
        let bytes = bounded(&mut decoder, path, limit)?.map_err(broken)?;
        return nothing_after(decoder.into_inner(), path).map(|()| bytes);
    }
    if head.starts_with(&ZSTD) {
        let mut decoder = zstd::Decoder::with_buffer(source)
            .map_err(broken)?
            .single_frame();
        let bytes = bounded(&mut decoder, path, limit)?.map_err(broken)?;
        return nothing_after(decoder.finish(), path).map(|()| bytes);
    }
    Ok(bounded(&mut source, path, limit)?.map_err(FsError::on("read", path))?)
}

/// Writes a document file atomically: compressed if its name ends in `.gz` or `.zst`, plain otherwise.
///
/// The same document gives the same bytes: no time and no name go into the compressed form.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), FsError> {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("gz") => fsio::write_atomic(path, &gzip(bytes)),
        Some("zst") => fsio::write_atomic(path, &objects::compress(bytes)),
        _ => fsio::write_atomic(path, bytes),
    }
}

/// The gzip form of a document, with no time and no name in it.
///
/// # Panics
/// Never: writing to memory does not fail.
#[expect(clippy::expect_used, reason = "writing to a Vec has no I/O to fail")]
pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzBuilder::new()
        .mtime(0)
        .write(Vec::new(), Compression::new(6));
    encoder.write_all(bytes).expect("memory takes every byte");
    encoder.finish().expect("memory takes every byte")
}

/// The content of one gzip file of at most `limit` bytes, with nothing after it.
///
/// What is wrong with the file has the kind `InvalidData`, `InvalidInput` or `UnexpectedEof`; any other error is the
/// reader's.
pub fn gunzip(source: impl BufRead, limit: u64) -> io::Result<Vec<u8>> {
    let mut decoder = GzDecoder::new(source);
    let mut bytes = Vec::new();
    decoder
        .by_ref()
        .take(limit.saturating_add(1))
        .read_to_end(&mut bytes)?;
    let damaged = |problem: String| io::Error::new(io::ErrorKind::InvalidData, problem);
    if bytes.len() as u64 > limit {
        return Err(damaged(format!("more than {limit} bytes")));
    }
    if decoder.into_inner().fill_buf()?.is_empty() {
        Ok(bytes)
    } else {
        Err(damaged("bytes after its end".to_owned()))
    }
}

/// At most `limit` bytes; the inner error is the reader's.
fn bounded(
    reader: &mut impl Read,
    path: &Path,
    limit: u64,
) -> Result<io::Result<Vec<u8>>, ArtifactError> {
    let mut bytes = Vec::new();
    let read = reader.take(limit.saturating_add(1)).read_to_end(&mut bytes);
    if bytes.len() as u64 > limit {
        return Err(ArtifactError::TooLarge {
            path: path.to_path_buf(),
            limit,
        });
    }
    Ok(read.map(|_| bytes))
}

fn nothing_after(mut rest: impl BufRead, path: &Path) -> Result<(), ArtifactError> {
    let rest = rest.fill_buf().map_err(FsError::on("read", path))?;
    if rest.is_empty() {
        Ok(())
    } else {
        Err(ArtifactError::Trailing {
            path: path.to_path_buf(),
        })
    }
}
