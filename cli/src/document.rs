//! Any document from any file, told by its content.

use crate::error::CommandError;
use kernrec_publish::Table;
use kernrec_schemas::DocumentError;
use kernrec_schemas::function_table::FunctionTable;
use kernrec_schemas::json::MAX_RECORD_BYTES;
use kernrec_schemas::table::KernelTable;
use kernrec_store::artifact;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

/// Where a tar header says that it is one.
const TAR_MAGIC_AT: usize = 257;
const TAR_MAGIC: &[u8] = b"ustar";

/// What a file's content says it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Recording,
    Sidecar,
    Table,
    FunctionTable,
    SymbolMap,
    Manifest,
    Pointer,
    UpstreamPointer,
    Installed,
    Jobs,
}

impl Kind {
    const fn name(self) -> &'static str {
        match self {
            Self::Recording => "recording",
            Self::Sidecar => "sidecar",
            Self::Table => "kernel table",
            Self::FunctionTable => "function table",
            Self::SymbolMap => "symbol map",
            Self::Manifest => "record manifest",
            Self::Pointer => "pointer",
            Self::UpstreamPointer => "pointer of the upstream layout",
            Self::Installed => "description of an installed record",
            Self::Jobs => "jobs list",
        }
    }
}

/// The content of a document file, decompressed and bounded.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, CommandError> {
    if path.is_dir() {
        let problem = format!("`{}` is a folder, expected a document file", path.display());
        return Err(CommandError::failed("not-a-document", problem));
    }
    Ok(artifact::read(path, MAX_RECORD_BYTES)?)
}

/// Whether a file starts as a bundle does. It may still be a damaged one: its reader says so.
pub(crate) fn is_bundle(path: &Path) -> Result<bool, CommandError> {
    let file = artifact::open(path)?;
    let Ok(mut decoder) = zstd::Decoder::new(file) else {
        return Ok(false);
    };
    let mut head = [0; TAR_MAGIC_AT + TAR_MAGIC.len()];
    match decoder.read_exact(&mut head) {
        Ok(()) => Ok(head.ends_with(TAR_MAGIC)),
        // No zstd frame, or one of something shorter than a tar header.
        Err(_) => Ok(false),
    }
}

/// Reads the kernel table or function table in a file.
pub(crate) fn table(path: &Path) -> Result<Table, CommandError> {
    let bytes = read(path)?;
    let table = match kind(path, &bytes)? {
        Kind::Table => KernelTable::parse(&bytes).map(Table::Kernels),
        Kind::FunctionTable => FunctionTable::parse(&bytes).map(Table::Functions),
        kind => {
            let (path, kind) = (path.display(), kind.name());
            let problem = format!("`{path}` is a {kind}, expected a table");
            return Err(CommandError::failed("not-a-table", problem));
        }
    };
    table.map_err(|error| CommandError::document(path, error))
}

/// Reads a file and parses it; errors name the file.
pub(crate) fn parse<T>(
    path: &Path,
    parse: impl FnOnce(&[u8]) -> Result<T, DocumentError>,
) -> Result<T, CommandError> {
    let bytes = read(path)?;
    parse(&bytes).map_err(|error| CommandError::document(path, error))
}

/// Tells the kind of document from its content.
pub(crate) fn kind(path: &Path, bytes: &[u8]) -> Result<Kind, CommandError> {
    let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
    let kind = match first {
        Some(b'[') => Some(Kind::Jobs),
        Some(b'{') => object_kind(path, bytes)?,
        _ => is_recording(bytes).then_some(Kind::Recording),
    };
    kind.ok_or_else(|| {
        let path = path.display();
        let problem = format!("`{path}` is no document known to this version");
        CommandError::failed("not-a-document", problem)
    })
}

/// Objects are told by the fields only their kind has. The loader then says what is wrong with the rest.
fn object_kind(path: &Path, bytes: &[u8]) -> Result<Option<Kind>, CommandError> {
    let fields: BTreeMap<String, &RawValue> = serde_json::from_slice(bytes).map_err(|error| {
        let problem = format!("read `{}`: it is not JSON: {error}", path.display());
        CommandError::failed("document-malformed", problem)
    })?;
    Ok(kind_of_fields(&fields))
}

fn kind_of_fields(fields: &BTreeMap<String, &RawValue>) -> Option<Kind> {
    let has = |field: &str| fields.contains_key(field);
    if has("schema") && has("generation") {
        return Some(Kind::Pointer);
    }
    if has("schema") && has("seal") {
        return Some(Kind::Installed);
    }
    if has("schema") && has("producer") {
        return Some(Kind::Manifest);
    }
    if has("schema") && has("rows") {
        return Some(Kind::FunctionTable);
    }
    if has("names") && has("rows") {
        return Some(Kind::Table);
    }
    if has("version") && (has("objects") || has("reason")) {
        return Some(Kind::SymbolMap);
    }
    if has("job_id") || has("step_key") {
        return Some(Kind::Sidecar);
    }
    (has("commit") && has("files")).then_some(Kind::UpstreamPointer)
}

/// Some line is one only recordings have; the first one may be missing in a damaged file.
fn is_recording(bytes: &[u8]) -> bool {
    bytes
        .split(|&byte| byte == b'\n')
        .any(|line| line.starts_with(b"# kernrec ") || line.starts_with(b"# end "))
}
