//! The kernel entry symbols of a cubin, and those it is linked by.

use super::links::Found;
use crate::input::{Fault, Reason, Region, kernel_name};
use object::Endianness;
use object::elf::{
    FileHeader32, FileHeader64, SHN_UNDEF, SHT_SYMTAB, STB_GLOBAL, STB_WEAK, STT_FUNC,
};
use object::read::elf::{FileHeader, SectionHeader, Sym};
use object::read::{ReadRef, SectionIndex, StringTable};

/// `EM_CUDA`.
const MACHINE: u16 = 190;
/// The bit of `st_other` that marks a `__global__` function.
const STO_CUDA_ENTRY: u8 = 0x10;
/// Where an ELF header says whether it is a 32-bit (1) or a 64-bit (2) one.
const EI_CLASS: u64 = 4;

/// Adds the names of `image`. Of a large image only the tables are read.
pub(crate) fn names<'data, R: ReadRef<'data>>(
    image: Region<R>,
    found: &mut Found<'_>,
) -> Result<(), Fault> {
    let class = image.load(EI_CLASS, 1, "a cubin's ELF header")?;
    match class.bytes() {
        [2] => read::<FileHeader64<Endianness>, R>(image, found),
        [1] => read::<FileHeader32<Endianness>, R>(image, found),
        _ => Err(Fault::malformed(image.offset(0), "a cubin's ELF header")),
    }
}

fn read<'data, H: FileHeader<Endian = Endianness>, R: ReadRef<'data>>(
    image: Region<R>,
    found: &mut Found<'_>,
) -> Result<(), Fault> {
    let fault = |what: &str, error: object::Error| {
        Fault::malformed(image.offset(0), format!("{what} ({error})"))
    };
    let header = H::parse(image).map_err(|error| fault("a cubin's ELF header", error))?;
    let endian = header
        .endian()
        .map_err(|error| fault("a cubin's byte order", error))?;
    let machine = header.e_machine(endian).0;
    if machine != MACHINE {
        let expected = format!("an ELF image for machine {MACHINE} (CUDA), found {machine}");
        return Err(Fault::malformed(image.offset(18), expected));
    }
    let sections = header
        .sections(endian, image)
        .map_err(|error| fault("a cubin's section table", error))?;
    let table = sections
        .iter()
        .find(|section| section.sh_type(endian) == SHT_SYMTAB);
    let Some(table) = table.filter(|table| table.sh_size(endian).into() > 0) else {
        // Even a cubin without a function has section symbols: this one was stripped.
        return Err(Fault::new(
            Reason::NoReadableEntry,
            image.offset(0),
            "a cubin with symbols",
        ));
    };
    let symbols: &[H::Sym] = table
        .data_as_array(endian, image)
        .map_err(|error| fault("a cubin's symbol table", error))?;
    let names = sections
        .section(SectionIndex(table.sh_link(endian) as usize))
        .and_then(|section| section.data(endian, image))
        .map_err(|error| fault("a cubin's names", error))?;
    let names = StringTable::new(names, 0, names.len() as u64);
    for symbol in symbols {
        let name = || {
            let name = symbol.name(endian, names);
            name.map_err(|error| fault("a symbol's name", error))
        };
        let defined = symbol.st_shndx(endian) != SHN_UNDEF;
        let function = symbol.st_type() == STT_FUNC;
        if defined && function && symbol.st_other().0 & STO_CUDA_ENTRY != 0 {
            found.kernel(kernel_name(name()?, image.offset(0))?);
        }
        if found.links.is_some() && matches!(symbol.st_bind(), STB_GLOBAL | STB_WEAK) {
            if defined {
                found.offered(name()?);
            } else {
                found.needed(name()?);
            }
        }
    }
    Ok(())
}
