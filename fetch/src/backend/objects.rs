//! One file of a record: from the store through decompression, hash and loader into the staging folder.

use super::download::Source;
use crate::error::{FetchError, RecordProblem};
use crate::local::stamp;
use crate::reporter::Object;
use kernrec_schemas::DocumentError;
use kernrec_schemas::function_table::FunctionTable;
use kernrec_schemas::installed::{InstalledFile, Stamp, file_name};
use kernrec_schemas::manifest::{FileRef, ROLE_FUNCTION_TABLE, ROLE_TABLE};
use kernrec_schemas::symbol_map::SymbolMap;
use kernrec_schemas::table::KernelTable;
use kernrec_store::fsio::StagedFile;
use kernrec_store::{Key, artifact, objects};
use std::fs::Metadata;
use std::io::{self, Write};
use std::panic::resume_unwind;
use std::thread;

/// A document that its loader accepted.
#[derive(Debug)]
pub(super) enum Document {
    Table(KernelTable),
    Map(SymbolMap),
    Functions(FunctionTable),
}

/// A file that stands in the staging folder, whole, durable and verified.
#[derive(Debug)]
pub(super) struct Arrived {
    pub(super) document: Document,
    pub(super) file: InstalledFile,
    /// Its gzip twin, when one was wanted.
    pub(super) twin: Option<(String, Stamp)>,
    /// Compressed bytes received.
    pub(super) received: u64,
}

/// Brings one file.
pub(super) fn bring(
    source: &Source<'_>,
    role: &str,
    file: &FileRef,
) -> Result<Arrived, FetchError> {
    let id = source.reporter.on_start(Object {
        backend: source.backend,
        role,
        size: file.size,
    });
    let arrived = transfer(source, role, file, id);
    source.reporter.on_complete(id, arrived.is_ok());
    arrived
}

fn transfer(
    source: &Source<'_>,
    role: &str,
    file: &FileRef,
    id: usize,
) -> Result<Arrived, FetchError> {
    let path = source.staging.file(&file_name(role).unwrap_or_default());
    let mut sink = Sink {
        file: StagedFile::create(&path)?,
        failed: None,
        received: 0,
        limit: compressed_bound(file.size),
        progress: &|received| source.reporter.on_progress(id, received),
    };
    let key = Key::object(&file.digest);
    let read = objects::read_teed(source.store, &key, &file.digest, file.size, &mut sink);
    if let Some(error) = sink.failed.take() {
        return Err(sink.file.write_error(error).into());
    }
    let content = read?;
    let (received, staged) = (sink.received, sink.file);
    // The disk is slow and the loader busy: both at once.
    let (synced, loaded) = thread::scope(|scope| {
        let syncing = scope.spawn(|| staged.finish());
        let loaded = load(source, role, &content);
        let synced = syncing.join().unwrap_or_else(|panic| resume_unwind(panic));
        (synced, loaded)
    });
    let (metadata, document) = (synced?, loaded?);
    let twin = match source.twin_name(role) {
        Some(name) => {
            let metadata = source.staging.write(&name, &artifact::gzip(&content))?;
            Some((name, stamp(&metadata)))
        }
        None => None,
    };
    Ok(Arrived {
        document,
        file: installed(file, &metadata),
        twin,
        received,
    })
}

fn load(source: &Source<'_>, role: &str, content: &[u8]) -> Result<Document, FetchError> {
    let refused = |error: DocumentError| {
        let problem = RecordProblem::document(role, error);
        FetchError::record(source.store, &source.manifest, problem)
    };
    let loaded = match role {
        ROLE_TABLE => KernelTable::parse(content).map(Document::Table),
        ROLE_FUNCTION_TABLE => FunctionTable::parse(content).map(Document::Functions),
        _ => SymbolMap::load(content).map(Document::Map),
    };
    loaded.map_err(refused)
}

fn installed(file: &FileRef, metadata: &Metadata) -> InstalledFile {
    InstalledFile {
        digest: file.digest,
        size: file.size,
        stored: stamp(metadata),
    }
}

/// More compressed bytes than zstd ever needs for so much content: such a frame never ends.
fn compressed_bound(size: u64) -> u64 {
    (size + (size >> 7)).saturating_add(1 << 16)
}

/// Writes what arrives, counts it, and keeps its own failures apart from the store's.
struct Sink<'a> {
    file: StagedFile,
    failed: Option<io::Error>,
    received: u64,
    limit: u64,
    progress: &'a dyn Fn(u64),
}

impl Write for Sink<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.received.saturating_add(bytes.len() as u64) > self.limit {
            let problem = "more compressed bytes than the content can need";
            return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
        }
        match self.file.write(bytes) {
            Ok(n) => {
                self.received += n as u64;
                (self.progress)(self.received);
                Ok(n)
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Err(error),
            Err(error) => {
                let told = io::Error::from(error.kind());
                self.failed = Some(error);
                Err(told)
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
