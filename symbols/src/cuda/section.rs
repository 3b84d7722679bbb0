//! The kernels of one device section.

use super::fatbin::{Entry, Kind, containers};
use super::payload::Unpacker;
use super::{cubin, ptx};
use crate::input::{Budget, Fault, Reason, Span};
use std::collections::BTreeSet;

/// Adds the kernels of every container in `section` to `names`.
pub(crate) fn read_section(
    section: Span<'_>,
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
fn check_readable(entries: &[Entry<'_>], section: Span<'_>) -> Result<(), Fault> {
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

fn kernels(
    entry: &Entry<'_>,
    unpacker: &mut Unpacker,
    budget: &mut Budget,
    add: &mut dyn FnMut(&str),
) -> Result<(), Fault> {
    if entry.kind == Kind::Lto {
        return Ok(());
    }
    let plain = matches!(entry.packing, super::fatbin::Packing::Plain);
    let base = if plain { entry.payload.offset(0) } else { 0 };
    let image = Span::new(unpacker.image(entry, budget)?, base);
    let read = match entry.kind {
        Kind::Elf => cubin::kernels(image, add),
        Kind::Ptx => ptx::kernels(image, add),
        Kind::Lto => Ok(()),
    };
    read.map_err(|fault| {
        if plain {
            fault
        } else {
            fault.inside(entry.offset)
        }
    })
}
