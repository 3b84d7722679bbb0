//! Reading the two files of a commit, and the manifest they never had.

use super::{Half, Place, file_name};
use crate::store::Store;
use crate::{Key, StoreError, artifact};
use kernrec_schemas::json::MAX_RECORD_BYTES;
use kernrec_schemas::manifest::{
    Counts, FileRef, MEDIA_JSON, ManifestParts, Producer, RecordManifest,
};
use kernrec_schemas::symbol_map::SymbolMap;
use kernrec_schemas::table::KernelTable;
use kernrec_schemas::{Backend, Commit, Digest, DocumentError, Pipeline};
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::panic::resume_unwind;
use std::thread;

/// A pair as it was read, both halves accepted by their loaders. That they belong together is still to be checked.
#[derive(Debug)]
pub struct Pair {
    /// Made from the two halves.
    pub manifest: RecordManifest,
    /// The table's bytes, uncompressed, as they were published.
    pub table: Vec<u8>,
    /// The map's bytes, likewise.
    pub symbol_map: Vec<u8>,
    /// Compressed bytes received.
    pub received: u64,
}

/// Reads both files of a commit at the same time.
///
/// `digests` are those the pointer names, by file name; a file that it names has to have its digest.
pub fn read_pair(
    store: &dyn Store,
    place: &Place,
    pipeline: &Pipeline,
    backend: Backend,
    commit: &Commit,
    digests: &BTreeMap<String, Digest>,
) -> Result<Pair, StoreError> {
    let read = |half| {
        let key = key(store, place, commit, half, backend)?;
        let (bytes, received) = read_file(store, &key)?;
        match digests.get(&file_name(half, backend)) {
            Some(expected) if Digest::of(&bytes) != *expected => {
                let found = Digest::of(&bytes).to_string();
                Err(StoreError::damaged(store.url(), &key, expected, found))
            }
            _ => Ok((key, bytes, received)),
        }
    };
    let (table, map) = thread::scope(|scope| {
        let other = scope.spawn(|| read(Half::SymbolMap));
        let own = read(Half::Table);
        let other = other.join().unwrap_or_else(|panic| resume_unwind(panic));
        (own, other)
    });
    let ((table_key, table, table_received), (map_key, symbol_map, map_received)) = (table?, map?);
    let refused = |key| {
        move |source: DocumentError| StoreError::Document {
            url: store.url().to_owned(),
            key,
            source,
        }
    };
    let parsed_table = KernelTable::parse(&table).map_err(refused(table_key))?;
    let parsed_map = SymbolMap::load(&symbol_map).map_err(refused(map_key))?;
    Ok(Pair {
        manifest: manifest(
            Names {
                pipeline,
                backend,
                commit,
            },
            (&parsed_table, &table),
            (&parsed_map, &symbol_map),
        ),
        table,
        symbol_map,
        received: table_received + map_received,
    })
}

/// Whose record a pair is.
#[derive(Debug, Clone, Copy)]
pub struct Names<'a> {
    /// The pipeline.
    pub pipeline: &'a Pipeline,
    /// The backend.
    pub backend: Backend,
    /// The commit.
    pub commit: &'a Commit,
}

/// The manifest of a pair, from nothing but its content: whoever reads these bytes makes the same one.
pub fn manifest(
    names: Names<'_>,
    (table, table_bytes): (&KernelTable, &[u8]),
    (map, map_bytes): (&SymbolMap, &[u8]),
) -> RecordManifest {
    let file = |half: Half, bytes: &[u8]| {
        let file = FileRef {
            digest: Digest::of(bytes),
            size: bytes.len() as u64,
            media_type: MEDIA_JSON.to_owned(),
        };
        (half.role().to_owned(), file)
    };
    RecordManifest::new(ManifestParts {
        pipeline: names.pipeline.clone(),
        backend: names.backend,
        commit: names.commit.clone(),
        build: table.source.build,
        recorded_at: table.source.recorded_at,
        files: BTreeMap::from([
            file(Half::Table, table_bytes),
            file(Half::SymbolMap, map_bytes),
        ]),
        counts: Counts::of(table, [map]),
        bundles: Vec::new(),
        // Not this program's name and version: the manifest must not change with either.
        producer: Producer {
            name: "upstream layout".to_owned(),
            version: "1".to_owned(),
        },
    })
}

/// The key of one file; a commit that can be in no key was never published.
pub(super) fn key(
    store: &dyn Store,
    place: &Place,
    commit: &Commit,
    half: Half,
    backend: Backend,
) -> Result<Key, StoreError> {
    place
        .file(commit, half, backend)
        .map_err(|error| StoreError::Unavailable {
            url: store.url().to_owned(),
            key: commit.to_string(),
            action: "read",
            source: Box::new(error),
        })
}

/// One gzip file, whole and nothing after it; its content, and how many bytes it took.
pub(super) fn read_file(store: &dyn Store, key: &Key) -> Result<(Vec<u8>, u64), StoreError> {
    decompress(store, key)?.map_err(|error| match error.kind() {
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof => {
            StoreError::Damaged {
                url: store.url().to_owned(),
                key: key.clone(),
                expected: "one gzip file".to_owned(),
                found: error.to_string(),
            }
        }
        _ => unread(store, key, error),
    })
}

/// As [`read_file`]; the inner error is the decoder's, see [`artifact::gunzip`].
pub(super) fn decompress(
    store: &dyn Store,
    key: &Key,
) -> Result<io::Result<(Vec<u8>, u64)>, StoreError> {
    let mut counted = Counted {
        reader: store.read(key)?,
        received: 0,
    };
    let content = artifact::gunzip(io::BufReader::new(&mut counted), MAX_RECORD_BYTES);
    Ok(content.map(|content| (content, counted.received)))
}

/// The store's side of a failed read.
pub(super) fn unread(store: &dyn Store, key: &Key, error: io::Error) -> StoreError {
    let (url, key, source) = (store.url().to_owned(), key.to_string(), Box::new(error));
    if source.kind() == io::ErrorKind::TimedOut {
        return StoreError::TimedOut {
            url,
            key,
            action: "read",
            source,
        };
    }
    StoreError::Unavailable {
        url,
        key,
        action: "read",
        source,
    }
}

struct Counted {
    reader: Box<dyn Read + Send>,
    received: u64,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.reader.read(buffer)?;
        self.received += n as u64;
        Ok(n)
    }
}
