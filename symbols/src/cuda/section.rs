//! The kernels of one device section.

use super::fatbin::{Entry, Kind, containers};
use super::payload::Unpacker;
use super::{cubin, ptx};
use crate::input::{Budget, Fault, Reason, Region};
use object::read::ReadRef;
use std::collections::BTreeSet;

/// Adds the kernels of every container in `section` to `names`.
pub(crate) fn read_section<'data, R: ReadRef<'data>>(
    section: Region<R>,
    unpacker: &mut Unpacker,
    budget: &mut Budget,
    names: &mut BTreeSet<String>,
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
    let mut add = |name: &str| {
        // Each architecture repeats the names of the first.
        if !names.contains(name) {
            names.insert(name.to_owned());
        }
    };
    for entries in &containers {
        check_readable(entries, section)?;
        for entry in entries {
            kernels(entry, unpacker, budget, &mut add)?;
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

fn kernels<'data, R: ReadRef<'data>>(
    entry: &Entry<R>,
    unpacker: &mut Unpacker,
    budget: &mut Budget,
    add: &mut dyn FnMut(&str),
) -> Result<(), Fault> {
    if entry.kind == Kind::Lto {
        return Ok(());
    }
    match unpacker.image(entry, budget)? {
        None => image_kernels(entry.kind, entry.payload, add),
        Some(image) => image_kernels(entry.kind, Region::of(image, 0), add)
            .map_err(|fault| fault.inside(entry.offset)),
    }
}

fn image_kernels<'data, R: ReadRef<'data>>(
    kind: Kind,
    image: Region<R>,
    add: &mut dyn FnMut(&str),
) -> Result<(), Fault> {
    match kind {
        Kind::Elf => cubin::kernels(image, add),
        Kind::Ptx => ptx::kernels(image.all("a PTX text")?, add),
        Kind::Lto => Ok(()),
    }
}
