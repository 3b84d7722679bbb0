//! The kernels of one code object: descriptors in its symbol table, cross-checked with its metadata.

use super::metadata::{self, Metadata};
use crate::input::{Fault, Reason, Span, kernel_name};
use object::Endianness;
use object::elf::{
    EM_AMDGPU, ET_DYN, FileHeader64, SHN_UNDEF, SHT_DYNSYM, SHT_NOTE, SHT_SYMTAB, STT_OBJECT,
};
use object::read::elf::{FileHeader, SectionHeader, SectionTable, Sym};
use std::collections::BTreeSet;

/// Suffix of a kernel descriptor's symbol.
const DESCRIPTOR: &str = ".kd";
/// The size of a kernel descriptor, fixed by the ABI.
const DESCRIPTOR_BYTES: u64 = 64;
/// Note type of `MessagePack` metadata (code object version 3 and later).
const NT_AMDGPU_METADATA: u32 = 32;
/// Raw bitcode, and bitcode in its wrapper.
const BITCODE: [[u8; 4]; 2] = [*b"BC\xC0\xDE", [0xDE, 0xC0, 0x17, 0x0B]];
/// The part of `amdhsa.target` before the target id.
const TRIPLE: &str = "amdgcn-amd-amdhsa--";

type Table<'a> = SectionTable<'a, FileHeader64<Endianness>>;

/// Adds the kernels of `code`, which its bundle lists for `target`, to `names`.
pub(crate) fn read(
    code: Span<'_>,
    target: &str,
    names: &mut BTreeSet<String>,
) -> Result<(), Fault> {
    let (endian, sections) = open(code)?;
    let metadata = metadata_of(code, endian, &sections)?;
    check_target(&metadata, target, code)?;
    let descriptors = descriptors(code, endian, &sections)?;
    if let Some(odd) = descriptors
        .symmetric_difference(&metadata.descriptors)
        .next()
    {
        let expected = format!("`{odd}` in both the symbol table and the metadata");
        return Err(Fault::new(
            Reason::DescriptorMismatch,
            code.offset(0),
            expected,
        ));
    }
    for descriptor in &descriptors {
        let name = descriptor.strip_suffix(DESCRIPTOR).unwrap_or(descriptor);
        let name = kernel_name(name.as_bytes(), code.offset(0))?;
        if !names.contains(name) {
            names.insert(name.to_owned());
        }
    }
    Ok(())
}

fn open(code: Span<'_>) -> Result<(Endianness, Table<'_>), Fault> {
    let data = code.bytes();
    let fault = |what: &str, error: object::Error| {
        Fault::malformed(code.offset(0), format!("{what} ({error})"))
    };
    if BITCODE.iter().any(|magic| data.starts_with(magic)) {
        let expected = "a linked code object, found LLVM bitcode";
        return Err(Fault::new(Reason::Bitcode, code.offset(0), expected));
    }
    let header = FileHeader64::<Endianness>::parse(data)
        .map_err(|error| fault("a code object's ELF header", error))?;
    let endian = header
        .endian()
        .map_err(|error| fault("a code object's byte order", error))?;
    if header.e_machine(endian) != EM_AMDGPU {
        let expected = format!(
            "an AMD GPU code object, found machine {}",
            header.e_machine(endian)
        );
        return Err(Fault::malformed(code.offset(18), expected));
    }
    if header.e_type(endian) != ET_DYN {
        let expected = "a linked code object, found a relocatable one";
        return Err(Fault::new(
            Reason::RelocatableDeviceCode,
            code.offset(16),
            expected,
        ));
    }
    let sections = header
        .sections(endian, data)
        .map_err(|error| fault("a code object's section table", error))?;
    Ok((endian, sections))
}

/// The one metadata note of a code object.
fn metadata_of(
    code: Span<'_>,
    endian: Endianness,
    sections: &Table<'_>,
) -> Result<Metadata, Fault> {
    let broken = |error: object::Error| {
        Fault::malformed(code.offset(0), format!("metadata notes ({error})"))
    };
    let mut found = None;
    for section in sections
        .iter()
        .filter(|section| section.sh_type(endian) == SHT_NOTE)
    {
        let Some(mut notes) = section.notes(endian, code.bytes()).map_err(broken)? else {
            continue;
        };
        while let Some(note) = notes.next().map_err(broken)? {
            if note.name() != b"AMDGPU" || note.n_type(endian).0 != NT_AMDGPU_METADATA {
                continue;
            }
            if found.is_some() {
                return Err(Fault::malformed(code.offset(0), "one metadata note"));
            }
            let (offset, _) = section.file_range(endian).unwrap_or_default();
            found = Some(metadata::read(Span::new(note.desc(), code.offset(offset)))?);
        }
    }
    found.ok_or_else(|| {
        Fault::new(
            Reason::NoReadableEntry,
            code.offset(0),
            "a code object with a metadata note",
        )
    })
}

/// A code object runs only where its own target says: a bundle that lists it elsewhere is damaged.
fn check_target(metadata: &Metadata, listed: &str, code: Span<'_>) -> Result<(), Fault> {
    let Some(own) = &metadata.target else {
        return Ok(());
    };
    let own_id = own.strip_prefix(TRIPLE).unwrap_or(own);
    if own_id == listed {
        return Ok(());
    }
    let expected = format!("a code object for `{listed}`, found one for `{own_id}`");
    Err(Fault::new(Reason::TargetMismatch, code.offset(0), expected))
}

/// The descriptors that the symbol tables define. Stripped objects keep the dynamic one.
fn descriptors(
    code: Span<'_>,
    endian: Endianness,
    sections: &Table<'_>,
) -> Result<BTreeSet<String>, Fault> {
    let broken =
        |error: object::Error| Fault::malformed(code.offset(0), format!("symbol tables ({error})"));
    let mut found = BTreeSet::new();
    for kind in [SHT_SYMTAB, SHT_DYNSYM] {
        let symbols = sections
            .symbols(endian, code.bytes(), kind)
            .map_err(broken)?;
        for symbol in symbols.iter() {
            let defined = symbol.st_shndx(endian) != SHN_UNDEF;
            if !defined
                || symbol.st_type() != STT_OBJECT
                || symbol.st_size(endian) != DESCRIPTOR_BYTES
            {
                continue;
            }
            let name = symbols.symbol_name(endian, symbol).map_err(broken)?;
            if name.ends_with(DESCRIPTOR.as_bytes()) {
                found.insert(kernel_name(name, code.offset(0))?.to_owned());
            }
        }
    }
    Ok(found)
}
