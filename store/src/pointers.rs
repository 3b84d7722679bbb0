//! Reading and moving the native pointers.

use crate::settle::{Mark, settle};
use crate::signing::Seal;
use crate::store::{PointerRead, Swap, Version};
use crate::{Key, Store, StoreError};
use kernrec_schemas::pointer::Pointer;
use kernrec_schemas::{Backend, DocumentError, Nonce, Pipeline};

/// A pointer and the version it was read at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionedPointer {
    /// The document.
    pub pointer: Pointer,
    /// The store's mark of this version.
    pub version: Version,
    /// Its signature, for who asks for one.
    pub seal: Seal,
}

/// What [`read_if_changed`] found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadIfChanged {
    /// Nothing was ever published here.
    Absent,
    /// Still the version that is known.
    Unchanged,
    /// Another version.
    Changed(Box<VersionedPointer>),
}

/// Reads a pointer; `None` when nothing was ever published.
pub fn read(
    store: &dyn Store,
    pipeline: &Pipeline,
    backend: Backend,
) -> Result<Option<VersionedPointer>, StoreError> {
    match read_if_changed(store, pipeline, backend, None)? {
        ReadIfChanged::Changed(found) => Ok(Some(*found)),
        ReadIfChanged::Absent | ReadIfChanged::Unchanged => Ok(None),
    }
}

/// Reads a pointer unless it is still at the version that is known.
pub fn read_if_changed(
    store: &dyn Store,
    pipeline: &Pipeline,
    backend: Backend,
    known: Option<&Version>,
) -> Result<ReadIfChanged, StoreError> {
    let key = Key::pointer(pipeline, backend);
    let (bytes, version) = match store.read_pointer(&key, known)? {
        PointerRead::Absent => return Ok(ReadIfChanged::Absent),
        PointerRead::Unchanged => return Ok(ReadIfChanged::Unchanged),
        PointerRead::Found { bytes, version } => (bytes, version),
    };
    let refused = |source| StoreError::Document {
        url: store.url().to_owned(),
        key: key.clone(),
        source,
    };
    let pointer = Pointer::parse(&bytes).map_err(refused)?;
    check_place(&pointer, pipeline, backend).map_err(refused)?;
    Ok(ReadIfChanged::Changed(Box::new(VersionedPointer {
        seal: Seal::of(&pointer, &bytes),
        pointer,
        version,
    })))
}

/// Moves a pointer, and settles a lost answer by reading back and comparing nonces.
///
/// An error means that the pointer was seen where it was. [`Swap::Unknown`] is left when the read-back fails too,
/// or shows a later move that may stand on ours.
pub fn swap(
    store: &dyn Store,
    expected: Option<&Version>,
    next: &Pointer,
) -> Result<Swap, StoreError> {
    let key = Key::pointer(&next.pipeline, next.backend);
    let swapped = store.swap_pointer(&key, expected, &next.to_bytes());
    settle(swapped, expected, &mark(next), || {
        let found = read(store, &next.pipeline, next.backend)?;
        Ok(found.map(|found| (mark(&found.pointer), found.version)))
    })
}

fn mark(pointer: &Pointer) -> Mark {
    Mark {
        nonce: Some(pointer.nonce.clone()),
        generation: Some(pointer.generation),
    }
}

/// A fresh writer's mark, from the system's random source.
pub fn fresh_nonce() -> Result<Nonce, StoreError> {
    nonce::fresh()
}

fn check_place(
    pointer: &Pointer,
    pipeline: &Pipeline,
    backend: Backend,
) -> Result<(), DocumentError> {
    let problem = |place: &str, expected: &dyn std::fmt::Display, found: &dyn std::fmt::Display| {
        Err(DocumentError::Rule {
            document: "pointer",
            place: place.to_owned(),
            problem: format!("expected `{expected}`, found `{found}`"),
        })
    };
    if pointer.pipeline != *pipeline {
        return problem("pipeline", pipeline, &pointer.pipeline);
    }
    if pointer.backend != backend {
        return problem("backend", &backend, &pointer.backend);
    }
    Ok(())
}

mod nonce {
    use crate::StoreError;
    use crate::fsio::FsError;
    use kernrec_schemas::Nonce;
    use std::io::Read;
    use std::path::Path;

    pub(super) fn fresh() -> Result<Nonce, StoreError> {
        let source = Path::new("/dev/urandom");
        let mut bytes = [0_u8; 16];
        fs_err::File::open(source)
            .and_then(|mut file| file.read_exact(&mut bytes))
            .map_err(FsError::on("read", source))?;
        let hex = bytes
            .iter()
            .fold(String::with_capacity(32), |mut hex, byte| {
                use std::fmt::Write;
                let _ = write!(hex, "{byte:02x}");
                hex
            });
        Nonce::new(hex).map_err(|error| {
            let source_error = std::io::Error::other(error.to_string());
            FsError::new("make a nonce from", source, source_error).into()
        })
    }
}
