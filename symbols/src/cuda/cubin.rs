//! The kernel entry symbols of a cubin.

use crate::input::{Fault, Reason, Span, kernel_name};
use object::Endianness;
use object::elf::{FileHeader32, FileHeader64, SHN_UNDEF, SHT_SYMTAB, STT_FUNC};
use object::read::elf::{FileHeader, Sym};

/// `EM_CUDA`.
const MACHINE: u16 = 190;
/// The bit of `st_other` that marks a `__global__` function.
const STO_CUDA_ENTRY: u8 = 0x10;
/// Where an ELF header says whether it is a 32-bit (1) or a 64-bit (2) one.
const EI_CLASS: usize = 4;

/// Calls `found` with each kernel that `image` defines.
pub(crate) fn kernels(image: Span<'_>, found: &mut dyn FnMut(&str)) -> Result<(), Fault> {
    match image.bytes().get(EI_CLASS) {
        Some(2) => read::<FileHeader64<Endianness>>(image, found),
        Some(1) => read::<FileHeader32<Endianness>>(image, found),
        _ => Err(Fault::malformed(image.offset(0), "a cubin's ELF header")),
    }
}

fn read<H: FileHeader<Endian = Endianness>>(
    image: Span<'_>,
    found: &mut dyn FnMut(&str),
) -> Result<(), Fault> {
    let data = image.bytes();
    let fault = |what: &str, error: object::Error| {
        Fault::malformed(image.offset(0), format!("{what} ({error})"))
    };
    let header = H::parse(data).map_err(|error| fault("a cubin's ELF header", error))?;
    let endian = header
        .endian()
        .map_err(|error| fault("a cubin's byte order", error))?;
    let machine = header.e_machine(endian).0;
    if machine != MACHINE {
        let expected = format!("an ELF image for machine {MACHINE} (CUDA), found {machine}");
        return Err(Fault::malformed(image.offset(18), expected));
    }
    let sections = header
        .sections(endian, data)
        .map_err(|error| fault("a cubin's section table", error))?;
    let symbols = sections
        .symbols(endian, data, SHT_SYMTAB)
        .map_err(|error| fault("a cubin's symbol table", error))?;
    if symbols.is_empty() {
        // Even a cubin without a function has section symbols: this one was stripped.
        return Err(Fault::new(
            Reason::NoReadableEntry,
            image.offset(0),
            "a cubin with symbols",
        ));
    }
    for symbol in symbols.iter() {
        if symbol.st_type() != STT_FUNC
            || symbol.st_other().0 & STO_CUDA_ENTRY == 0
            || symbol.st_shndx(endian) == SHN_UNDEF
        {
            continue;
        }
        let name = symbols
            .symbol_name(endian, symbol)
            .map_err(|error| fault("a kernel's name", error))?;
        found(kernel_name(name, image.offset(0))?);
    }
    Ok(())
}
