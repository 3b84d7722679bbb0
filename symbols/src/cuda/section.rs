//! The kernels of one device section, and what its code is linked by.

use super::fatbin::{Entry, Kind, containers};
use super::links::Found;
use super::payload::Unpacker;
use super::{cubin, ptx};
use crate::input::{Budget, Fault, Reason, Region};
use object::read::ReadRef;
use std::collections::BTreeSet;

/// Adds the names in every container of `section` to `found`.
pub(crate) fn read_section<'data, R: ReadRef<'data>>(
    section: Region<R>,
    unpacker: &mut Unpacker,
    budget: &mut Budget,
    found: &mut Found<'_>,
) -> Result<(), Fault> {
    let containers = containers(section)?;
    if containers.is_empty() {
        let expected = "a fat binary container in a device section";
        return Err(Fault::new(
            Reason::NoReadableEntry,
            section.offset(0),
            expected,
        ));
    }
    for entries in &containers {
        check_readable(entries, section)?;
        for entry in entries {
            read_entry(entry, unpacker, budget, found)?;
        }
    }
    Ok(())
}

/// Link-time-optimisation code cannot be read; code of the same architecture must stand in for it.
fn check_readable<'data, R: ReadRef<'data>>(
    entries: &[Entry<R>],
    section: Region<R>,
) -> Result<(), Fault> {
    if entries.is_empty() {
        let expected = "an entry in each fat binary container";
        return Err(Fault::new(
            Reason::NoReadableEntry,
            section.offset(0),
            expected,
        ));
    }
    let readable: BTreeSet<u32> = entries
        .iter()
        .filter(|entry| entry.kind != Kind::Lto)
        .map(|entry| entry.arch)
        .collect();
    match entries.iter().find(|entry| !readable.contains(&entry.arch)) {
        None => Ok(()),
        Some(entry) => {
            let expected = format!("ELF or PTX code for sm_{} beside its LTO code", entry.arch);
            Err(Fault::new(Reason::LtoOnly, entry.offset, expected))
        }
    }
}

fn read_entry<'data, R: ReadRef<'data>>(
    entry: &Entry<R>,
    unpacker: &mut Unpacker,
    budget: &mut Budget,
    found: &mut Found<'_>,
) -> Result<(), Fault> {
    if entry.kind == Kind::Lto {
        return Ok(());
    }
    match unpacker.image(entry, budget)? {
        None => read_image(entry.kind, entry.payload, found),
        Some(image) => read_image(entry.kind, Region::of(image, 0), found)
            .map_err(|fault| fault.inside(entry.offset)),
    }
}

fn read_image<'data, R: ReadRef<'data>>(
    kind: Kind,
    image: Region<R>,
    found: &mut Found<'_>,
) -> Result<(), Fault> {
    match kind {
        Kind::Elf => cubin::names(image, found),
        Kind::Ptx => ptx::names(image.all("a PTX text")?, found),
        Kind::Lto => Ok(()),
    }
}
