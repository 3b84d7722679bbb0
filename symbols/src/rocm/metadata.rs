//! The metadata note of a code object: its target, and the kernels it lists.

use super::msgpack::{Head, Reader};
use crate::input::{Fault, Span};
use std::collections::BTreeSet;

/// What the note says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Metadata {
    /// `amdhsa.target`: triple and target id. Absent before code object version 4.
    pub(crate) target: Option<String>,
    /// The kernel descriptors' symbols (`<kernel>.kd`).
    pub(crate) descriptors: BTreeSet<String>,
}

/// Reads the note's `MessagePack` content.
pub(crate) fn read(note: Span<'_>) -> Result<Metadata, Fault> {
    let mut reader = Reader::new(note);
    let Head::Map(pairs) = reader.head()? else {
        return Err(Fault::malformed(note.offset(0), "metadata that is a map"));
    };
    let mut metadata = Metadata::default();
    for _ in 0..pairs {
        match reader.head()? {
            Head::Text(b"amdhsa.kernels") => kernels(&mut reader, &mut metadata.descriptors)?,
            Head::Text(b"amdhsa.target") => metadata.target = Some(text(&mut reader)?),
            Head::Text(_) => reader.skip()?,
            Head::Map(_) | Head::Array(_) | Head::Other => {
                return Err(Fault::malformed(
                    reader.offset(),
                    "metadata keys that are texts",
                ));
            }
        }
    }
    Ok(metadata)
}

fn kernels(reader: &mut Reader<'_>, descriptors: &mut BTreeSet<String>) -> Result<(), Fault> {
    let start = reader.offset();
    let Head::Array(count) = reader.head()? else {
        return Err(Fault::malformed(start, "a kernel list that is an array"));
    };
    for _ in 0..count {
        let start = reader.offset();
        let symbol = kernel(reader)?;
        if !descriptors.insert(symbol) {
            return Err(Fault::malformed(start, "each kernel once in the metadata"));
        }
    }
    Ok(())
}

/// The descriptor symbol of one kernel's map.
fn kernel(reader: &mut Reader<'_>) -> Result<String, Fault> {
    let start = reader.offset();
    let Head::Map(pairs) = reader.head()? else {
        return Err(Fault::malformed(start, "a kernel's metadata that is a map"));
    };
    let mut symbol = None;
    for _ in 0..pairs {
        match reader.head()? {
            Head::Text(b".symbol") => symbol = Some(text(reader)?),
            Head::Text(_) => reader.skip()?,
            Head::Map(_) | Head::Array(_) | Head::Other => {
                return Err(Fault::malformed(
                    reader.offset(),
                    "kernel keys that are texts",
                ));
            }
        }
    }
    symbol.ok_or_else(|| Fault::malformed(start, "a kernel's `.symbol`"))
}

fn text(reader: &mut Reader<'_>) -> Result<String, Fault> {
    let start = reader.offset();
    match reader.head()? {
        Head::Text(text) => String::from_utf8(text.to_vec())
            .map_err(|_| Fault::malformed(start, "metadata texts in UTF-8")),
        Head::Map(_) | Head::Array(_) | Head::Other => {
            Err(Fault::malformed(start, "a text in the metadata"))
        }
    }
}
